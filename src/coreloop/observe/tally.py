"""Counts by reason that threads, signal handlers and code without stack space can increment."""

import threading
from collections import deque
from typing import Final

NO_STACK: Final = "bug_RecursionError"


class ReasonCounts:
    """Counts by reason.

    Waiting for a lock would deadlock if a signal handler counts while its own thread is counting. So each
    reason is queued first, which is atomic; the lock's holder counts the queue, and no thread waits.

    Attributes
    ----------
    no_stack : int
        Cases of ``bug_RecursionError``. Code without a stack frame left cannot call anything, but it can
        execute ``tally.no_stack += 1``, which cannot be interrupted either.
    """

    __slots__ = ("_counts", "_lock", "_queued", "no_stack")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._queued: deque[str] = deque()
        self.no_stack = 0

    def add(self, reason: str) -> None:
        """Count a case; if no stack is left, raise RecursionError and count nothing."""
        self._queued.append(reason)
        try:
            self._count()
        except RecursionError:
            return  # queued; a later call with more stack counts it

    def counts(self) -> dict[str, int]:
        """Return a copy; a case that another thread is counting may be missing."""
        self._count()
        return dict(self._counts)

    def renew_lock(self) -> None:
        """Replace the lock after a fork: a parent's thread may hold it, and the child cannot release it."""
        self._lock = threading.Lock()

    def _count(self) -> None:
        # A thread that finds the lock taken returns; the holder checks again after the release.
        while (self._queued or self.no_stack) and self._lock.acquire(blocking=False):
            try:
                uncounted, self.no_stack = self.no_stack, 0
                if uncounted:
                    self._counts[NO_STACK] = self._counts.get(NO_STACK, 0) + uncounted
                while self._queued:
                    reason = self._queued.popleft()
                    self._counts[reason] = self._counts.get(reason, 0) + 1
            finally:
                self._lock.release()
