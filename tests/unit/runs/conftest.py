"""Stores of runs: a SQLite file, and a Postgres server of our own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.runs.stores.store import Store
from running import store_at


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store is, for `store_at`."""
    if request.param == "postgres":
        return str(request.getfixturevalue("database"))
    return str(tmp_path / "data" / "runs" / "runs.db")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with store_at(place) as store:
        yield store
