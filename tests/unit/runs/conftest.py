"""Stores of runs: in a SQLite file, and in Postgres servers of our own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coreloop.runs.stores.store import Store
from postgres_servers import address_on, databases
from running import store_at


@pytest.fixture(params=databases("sqlite"))
def place(request: pytest.FixtureRequest, tmp_path: Path, database_on: Callable[[str], str]) -> str:
    """Where a new store is, for `store_at`."""
    if request.param != "sqlite":
        return address_on(request.param, database_on)
    return str(tmp_path / "data" / "runs" / "coreloop.db")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with store_at(place) as store:
        yield store
