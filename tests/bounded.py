"""Work that hostile input must not make endless, and waits that must end, without measuring either."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT_S = 20
"""Ten and more times what any of this work takes."""


@contextmanager
def bounded(seconds: float = LIMIT_S) -> Iterator[None]:
    """Fail work that uses this much processor time, whatever else the machine does."""
    with _timer(signal.ITIMER_PROF, signal.SIGPROF, f"no end after {seconds} s of processor time", seconds):
        yield


@contextmanager
def given_up(seconds: float = 3 * LIMIT_S) -> Iterator[None]:
    """Fail a wait that nobody ends; the limit is far above the timeout that is to end it."""
    with _timer(signal.ITIMER_REAL, signal.SIGALRM, f"still waiting after {seconds} s", seconds):
        yield


@contextmanager
def _timer(timer: int, number: int, message: str, seconds: float) -> Iterator[None]:
    def fail(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(message)

    before = signal.signal(number, fail)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
