"""Counts of a tool's calls over some days, which grow day by day, as the estimate needs them."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

LAGS: Final = 14
"""Days over which failures are taken to be related: two weeks, so that a weekly rhythm cancels out."""
Stratum = tuple[str, str]
"""Model and category of a request."""


@dataclass(frozen=True, slots=True)
class DayCount:
    """A tool's calls on a day.

    Attributes
    ----------
    day : int
        Days since 1970.
    strata : mapping of (str, str) to (int, int)
        Calls and failures by model and category.
    n_squared, n_failed, failed_squared : int
        Sums over the cases that began on this day: of the squared number of calls, of the number of calls
        times the number of failures, and of the squared number of failures.
    """

    day: int
    strata: Mapping[Stratum, tuple[int, int]]
    n_squared: int
    n_failed: int
    failed_squared: int


@dataclass(slots=True)
class Tally:
    """Sums over days; `add` takes them in the order of time.

    Attributes
    ----------
    n, failed, n_days : int
        Calls, failures, and days with calls.
    strata : dict
        Calls and failures by model and category.
    n_squared, n_failed, failed_squared : int
        As in `DayCount`.
    day_n_squared : float
        Sum of the squared number of calls of a day.
    near_nn, near_nf, near_ff : float
        Bartlett sums over pairs of days up to `LAGS` apart: of calls times calls, of calls times failures
        (both ways), and of failures times failures.
    """

    n: int = 0
    failed: int = 0
    n_days: int = 0
    strata: dict[Stratum, tuple[int, int]] = field(default_factory=dict)
    n_squared: int = 0
    n_failed: int = 0
    failed_squared: int = 0
    day_n_squared: float = 0.0
    near_nn: float = 0.0
    near_nf: float = 0.0
    near_ff: float = 0.0
    _recent: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=LAGS))

    def add(self, count: DayCount) -> None:
        """Add a later day."""
        n = failed = 0
        for stratum, (calls, failures) in count.strata.items():
            earlier = self.strata.get(stratum, (0, 0))
            self.strata[stratum] = (earlier[0] + calls, earlier[1] + failures)
            n, failed = n + calls, failed + failures
        self.n += n
        self.failed += failed
        self.n_days += n > 0
        self.n_squared += count.n_squared
        self.n_failed += count.n_failed
        self.failed_squared += count.failed_squared
        self._add_near(count.day, n, failed)

    def _add_near(self, day: int, n: int, failed: int) -> None:
        near_n, near_failed = float(n), float(failed)
        for other, other_n, other_failed in self._recent:
            weight = 1 - (day - other) / (LAGS + 1)
            if weight > 0:
                near_n += 2 * weight * other_n
                near_failed += 2 * weight * other_failed
        self.day_n_squared += n * n
        self.near_nn += n * near_n
        self.near_nf += n * near_failed + failed * near_n
        self.near_ff += failed * near_failed
        self._recent.append((day, n, failed))

    def spread_by_cases(self, rate: float) -> float:
        """The squared deviations of cases from a rate, summed: the sampling variance of the failures."""
        return self.failed_squared - 2 * rate * self.n_failed + rate * rate * self.n_squared

    def spread_by_days(self, rate: float) -> float:
        """The deviations of days from a rate, squared and summed with those of near days (Bartlett)."""
        return self.near_ff - rate * self.near_nf + rate * rate * self.near_nn


def tally(counts: Iterable[DayCount]) -> Tally:
    """Sum days, in the order of time."""
    total = Tally()
    for count in counts:
        total.add(count)
    return total
