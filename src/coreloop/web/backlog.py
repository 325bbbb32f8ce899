"""How many jobs wait, counted at most once a second."""

from collections.abc import Callable
from threading import Lock
from typing import Final

from coreloop.runs.jobs.queue import JobQueue

_FRESH_S: Final = 1.0


class Backlog:
    """The number of jobs that wait in a queue. Several threads may use it.

    Parameters
    ----------
    queue : JobQueue
        Of the project.
    monotonic : callable
        Returns seconds.
    """

    def __init__(self, queue: JobQueue, monotonic: Callable[[], float]) -> None:
        self._queue = queue
        self._monotonic = monotonic
        self._lock = Lock()
        self._number = 0
        self._counted_at = -_FRESH_S

    def number(self) -> int:
        """Return it; it may be a second old."""
        with self._lock:
            if self._monotonic() - self._counted_at >= _FRESH_S:
                self._number = self._queue.metrics().by_status.get("queued", 0)
                self._counted_at = self._monotonic()
            return self._number
