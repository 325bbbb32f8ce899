"""Counts by reason, to which threads, signal handlers and code that has used up its stack may add."""

import threading
from collections import deque
from typing import Final

NO_STACK: Final = "bug_RecursionError"


class Tally:
    """Counts by reason.

    Waiting for a lock would deadlock where a signal handler counts while its own thread is counting. So a
    reason is queued first, which is atomic; the holder of the lock counts what is queued, and nobody waits.

    Attributes
    ----------
    no_stack : int
        Cases of ``bug_RecursionError``. Code that has no frame left can call nothing, but it can do
        ``tally.no_stack += 1``, which is not interrupted either: it calls nothing.
    """

    __slots__ = ("_counts", "_lock", "_queued", "no_stack")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._queued: deque[str] = deque()
        self.no_stack = 0

    def add(self, reason: str) -> None:
        """Count one case; if there is no stack left to do so, raise RecursionError and count nothing."""
        self._queued.append(reason)
        try:
            self._count()
        except RecursionError:
            return  # queued; the next one with more stack counts it

    def counts(self) -> dict[str, int]:
        """A copy; what another thread is counting at this moment may be missing."""
        self._count()
        return dict(self._counts)

    def renew_lock(self) -> None:
        """After a fork: a thread of the parent may have held it, and in the child nobody would release it."""
        self._lock = threading.Lock()

    def _count(self) -> None:
        # A thread that finds the lock taken leaves; the holder looks again after the release.
        while (self._queued or self.no_stack) and self._lock.acquire(blocking=False):
            try:
                missed, self.no_stack = self.no_stack, 0
                if missed:
                    self._counts[NO_STACK] = self._counts.get(NO_STACK, 0) + missed
                while self._queued:
                    reason = self._queued.popleft()
                    self._counts[reason] = self._counts.get(reason, 0) + 1
            finally:
                self._lock.release()
