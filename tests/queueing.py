"""Queues for tests: in a file or in Postgres, with a short lease."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from coreloop.runs.jobs import queue as queues
from coreloop.runs.jobs.queue import LEASE_S, JobQueue

Found = TypeVar("Found")
SHORT_S = 0.4
"""A lease that a test can wait for."""


@contextmanager
def queue_at(place: str, *, lease_s: float = LEASE_S) -> Iterator[JobQueue]:
    """Open the queue at a path or an address of Postgres."""
    with queues.queue_at(place if place.startswith("postgresql:") else Path(place), lease_s=lease_s) as queue:
        yield queue


def eventually(look: Callable[[], Found | None], *, within_s: float = 20.0) -> Found:
    """Return what a call returns once it is true."""
    give_up_at = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < give_up_at, "did not happen"
        time.sleep(0.02)
    return found
