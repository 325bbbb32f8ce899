"""The clock of a run: wall time that a change of the machine's clock cannot move."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where the times of events come from."""

    def now(self) -> datetime:
        """Return the wall time in UTC; it may jump in both directions."""

    def monotonic(self) -> float:
        """Return seconds since some moment; they never go back. A machine that sleeps may not count them."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SteadyClock:
    """The wall time when it was made, and from then on the seconds of the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun_at = clock.now()
        self._begun_s = clock.monotonic()

    def now(self) -> datetime:
        """Return the time of an event."""
        return self._begun_at + timedelta(seconds=self._clock.monotonic() - self._begun_s)
