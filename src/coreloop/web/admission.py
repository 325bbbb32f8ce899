"""How much one caller may do: requests and runs a minute, and requests under way at once."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Final

from coreloop.web.problems import Problem

# Chosen: far above what a program of one caller needs, and below what would keep others out.
REQUESTS_PER_MINUTE: Final = 6_000
RUNS_PER_MINUTE: Final = 600
OPEN_REQUESTS: Final = 1_000
_BURST_S: Final = 6.0
"""How much of a rate a caller that was quiet has saved."""
# Chosen: a person who mistypes is not stopped, and a search of 32 random bytes is hopeless.
_BAD_KEYS_PER_MINUTE: Final = 60
_MAX_CALLERS: Final = 10_000


class Admission:
    """Counts what callers do; only the event loop's thread uses it.

    Parameters
    ----------
    monotonic : callable
        Returns seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._left: dict[tuple[str, str], tuple[float, float]] = {}  # of a rate, at a time
        self._open: Counter[str] = Counter()

    @contextmanager
    def request(self, caller: str) -> Iterator[None]:
        """Count a request from its beginning to the end of its response.

        Raises
        ------
        Problem
            Too many, 429.
        """
        self._take("request", caller, REQUESTS_PER_MINUTE)
        if self._open[caller] >= OPEN_REQUESTS:
            raise _too_many("open requests", 1)
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    def run(self, caller: str) -> None:
        """Count a new run. As `request` otherwise."""
        self._take("run", caller, RUNS_PER_MINUTE)

    def bad_key(self, address: str) -> None:
        """Count a wrong key of an address. As `request` otherwise."""
        self._take("bad key", address, _BAD_KEYS_PER_MINUTE)

    def _take(self, what: str, caller: str, per_minute: int) -> None:
        now, max_tokens = self._monotonic(), max(1.0, per_minute * _BURST_S / 60)
        if len(self._left) > _MAX_CALLERS:
            self._left.clear()  # an attack from many addresses must not fill the memory
        left, at = self._left.get((what, caller), (max_tokens, now))
        left = min(max_tokens, left + (now - at) * per_minute / 60)
        if left < 1:
            raise _too_many(f"{what}s a minute", ceil((1 - left) * 60 / per_minute))
        self._left[what, caller] = left - 1, now


def _too_many(what: str, wait_s: int) -> Problem:
    return Problem(429, "too_many", f"too many {what}; wait {wait_s} s", retryable=True, retry_after_s=wait_s)
