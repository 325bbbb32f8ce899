"""Queues: a SQLite file, and procrastinate's tables in a Postgres server of our own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.jobs.queue import JobQueue
from queueing import queue_at


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new queue is, for `queue_at`."""
    if request.param == "postgres":
        return str(request.getfixturevalue("database"))
    return str(tmp_path / "data" / "runs" / "jobs.db")


@pytest.fixture
def queue(place: str) -> Iterator[JobQueue]:
    with queue_at(place) as queue:
        yield queue
