"""Queues: in a SQLite file, and in Postgres servers of our own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coreloop.runs.jobs.queue import JobQueue
from postgres_servers import address_on, databases
from queueing import queue_at


@pytest.fixture(params=databases("sqlite"))
def place(request: pytest.FixtureRequest, tmp_path: Path, database_on: Callable[[str], str]) -> str:
    """Where a new queue is, for `queue_at`."""
    if request.param != "sqlite":
        return address_on(request.param, database_on)
    return str(tmp_path / "data" / "runs" / "coreloop.db")


@pytest.fixture
def queue(place: str) -> Iterator[JobQueue]:
    with queue_at(place) as queue:
        yield queue
