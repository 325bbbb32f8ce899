"""Queues: in a SQLite file, and in Postgres servers of our own."""

from collections.abc import Iterator

import pytest

from coreloop.runs.jobs.queue import JobQueue
from queueing import queue_at


@pytest.fixture
def queue(place: str) -> Iterator[JobQueue]:
    with queue_at(place) as queue:
        yield queue
