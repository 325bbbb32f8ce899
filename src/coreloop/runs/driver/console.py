"""How the driver meets people: lines, Ctrl-C, and how long it waits."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread

Say = Callable[[str], None]
"""Shows a line."""


@dataclass(frozen=True, slots=True)
class DriverPace:
    """How long the driver waits.

    Attributes
    ----------
    failure_s, most_failure_s : float
        After the first failure in a row, doubled with each, at most.
    rate_limit_s, most_rate_limit_s : float
        After the first rate limit in a row that does not say how long, doubled with each, at most.
    least_s : float
        After any rate limit.
    """

    failure_s: float = 1.0
    most_failure_s: float = 60.0
    rate_limit_s: float = 60.0
    most_rate_limit_s: float = 3600.0
    least_s: float = 1.0

    def after_failures(self, number: int) -> float:
        return min(self.most_failure_s, self.failure_s * 2.0 ** min(number - 1, 20))

    def after_rate_limits(self, number: int, asked_s: float | None) -> float:
        own_s = (self.rate_limit_s if asked_s is None else self.least_s) * 2.0 ** min(number - 1, 20)
        return max(asked_s or 0.0, min(self.most_rate_limit_s, own_s))


class CtrlC:
    """Counts Ctrl-C: the first ends the run after its iteration, the second now."""

    def __init__(self) -> None:
        self.count = 0
        self.is_announced = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count instead of raising `KeyboardInterrupt`; only the main thread can."""
        if current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._add)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _add(self, *_: object) -> None:
        self.count += 1


@dataclass(frozen=True, slots=True)
class Console:
    """How the driver meets people.

    Attributes
    ----------
    say : callable
        Shows a line.
    ctrl_c : CtrlC
        How often a person pressed Ctrl-C.
    environ : mapping of str to str
        The environment, which commands inherit.
    pace : DriverPace
        How long it waits.
    """

    say: Say
    ctrl_c: CtrlC
    environ: Mapping[str, str]
    pace: DriverPace = DriverPace()
