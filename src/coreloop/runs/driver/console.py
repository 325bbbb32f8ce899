"""How the driver meets people: lines, Ctrl-C, and how long it waits."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import Event, Thread, current_thread, main_thread
from typing import Final

from coreloop.runs.person_or_agent import may_be_started_here

_TICK_S: Final = 0.1
_SI_USER: Final = 0
"""Sent by kill(2); the kernel, not the sender, fills in by whom."""
_SI_KERNEL: Final = 128
"""Sent by the kernel, as for a terminal's Ctrl-C."""

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
    """Counts Ctrl-C: the first ends the run after its iteration, the second now.

    On Linux a signal that the command may have sent counts as ``refused``: an agent does not end its run.
    """

    def __init__(self) -> None:
        self.count = 0
        self.refused = 0
        self.is_announced = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count instead of raising `KeyboardInterrupt`; only the main thread can."""
        if current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._add)
        try:
            with self._senders_known() if sys.platform == "linux" else nullcontext():
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def _senders_known(self) -> Iterator[None]:
        """Wait for the signal in a thread, which learns its sender; a handler does not."""
        over = Event()
        waiting = Thread(target=self._wait, args=(over,), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        waiting.start()
        try:
            yield
        finally:
            over.set()
            waiting.join()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _wait(self, over: Event) -> None:
        while not over.is_set():
            sent = signal.sigtimedwait({signal.SIGINT}, _TICK_S)
            if sent is None:
                continue
            if sent.si_code == _SI_KERNEL or (
                sent.si_code == _SI_USER and not may_be_started_here(sent.si_pid)
            ):
                self._add()
            else:
                self.refused += 1

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
