"""Queues for tests: in a file or in Postgres, with a short lease."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from coreloop.base.postgres import database_at
from coreloop.runs.jobs.queue import JOBS, LEASE_S, JobQueue

Found = TypeVar("Found")
SHORT_S = 0.4
"""A lease that a test can wait for."""


@contextmanager
def queue_at(place: str | Path, *, lease_s: float = LEASE_S) -> Iterator[JobQueue]:
    """Open the queue at a path or an address of Postgres."""
    with database_at(place if str(place).startswith("postgresql:") else Path(place), JOBS) as database:
        yield JobQueue(database, lease_s=lease_s)


def eventually(look: Callable[[], Found | None], *, within_s: float = 20.0) -> Found:
    """Return what a call returns once it is true."""
    give_up_at = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < give_up_at, "did not happen"
        time.sleep(0.02)
    return found
