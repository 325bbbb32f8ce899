"""What a change did to the share of failing calls: difference in differences, with its variance.

The shape of the variance was chosen in simulations; benchmarks/effect.py repeats them and has the figures.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import exp, log
from typing import Final, NamedTuple

LAGS: Final = 14
"""Days over which failures are taken to be related: two weeks, so that a weekly rhythm cancels out."""
Stratum = tuple[str, str]
"""Model and category of a request."""
PRIOR_LEVEL: Final = 0.10
"""Long-run variance of a tool's days on the log-odds scale, where its own days do not say it."""
_PRIOR_SD: Final = 0.10  # as large as the level: the days of a few tools outweigh the prior
_LEAST_LEVEL: Final = 0.02
"""Below this no log is that steady; a pooled sum can even be negative."""
_INFLATION: Final = 1.1
"""What the normal approximation and the estimated variance leave out, from the simulations."""
_SHRINKAGE: Final = 10.0
"""Calls by which a stratum's rate is drawn to that of its category, and this to the tool's."""
_DEFF_CALLS: Final = 5.0
"""A prior of so many independent calls: fewer do not say how failures belong together."""
_LEAST_DAYS: Final = 28
"""Days of a period whose autocovariances say anything at `LAGS` lags."""
_MIN_CONTROL_FAILURES: Final = 5
"""Failures of both periods together below which a tool's log-odds say nothing."""


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
        near_n, near_failed = float(n), float(failed)
        for other, other_n, other_failed in self._recent:
            weight = 1 - (count.day - other) / (LAGS + 1)
            if weight > 0:
                near_n += 2 * weight * other_n
                near_failed += 2 * weight * other_failed
        self.day_n_squared += n * n
        self.near_nn += n * near_n
        self.near_nf += n * near_failed + failed * near_n
        self.near_ff += failed * near_failed
        self._recent.append((count.day, n, failed))

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


class Periods(NamedTuple):
    """A tool's calls before and after."""

    before: Tally
    after: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The effect of a change.

    Attributes
    ----------
    before, expected, after : float
        Failing share before, in the mix of requests of afterwards; what it would have been without the
        change; and what it is.
    variance : float
        Of ``after - expected``.
    n_controls : int
        Tools that the change is compared with.
    days_before, days_after : int
        Days with calls.
    n_before, n_after, failed_after : int
        Calls, and failures of afterwards.
    shrinking : float
        The part of the variance that falls with the number of calls and days afterwards.
    """

    before: float
    expected: float
    after: float
    variance: float
    n_controls: int
    days_before: int
    days_after: int
    n_before: int
    n_after: int
    failed_after: int
    shrinking: float

    @property
    def difference(self) -> float:
        """The share of calls that fail because of the change; negative if it helps."""
        return self.after - self.expected

    @property
    def n_expected(self) -> float:
        """Failures that would have been expected without the change."""
        return self.expected * self.n_after


class DailyEstimates:
    """The estimates after so many days; days are added as they are asked for, in order.

    Parameters
    ----------
    first : int
        The first day of after.
    tools : sequence of (Tally, sequence of DayCount)
        What was before and the days of after: of the changed tool, then of tools that did not change.
    """

    def __init__(self, first: int, tools: Sequence[tuple[Tally, Sequence[DayCount]]]) -> None:
        self._first = first
        self._periods = [Periods(before, Tally()) for before, _ in tools]
        self._days = [{count.day: count for count in after} for _, after in tools]

    def at(self, day: int) -> Estimate | None:
        """Estimate after ``day`` days; None on a day without calls of the tool, which says nothing new."""
        place = self._first + day - 1
        for periods, days in zip(self._periods, self._days, strict=True):
            if place in days:
                periods.after.add(days[place])
        target, *controls = self._periods
        return estimate(target, controls) if place in self._days[0] else None


def estimate(target: Periods, controls: Sequence[Periods]) -> Estimate:
    """Estimate the effect of a change.

    ``D = p1 - expit(logit(p0) + d)``: ``p0`` is the rate before in the mix of models and categories of
    afterwards, ``d`` the change in log-odds of tools that did not change. Its slope is 1 and never fitted.
    ``V = 1.1 (sampling + noise of the controls + g² level)`` with ``g = p(1 - p)`` of what was expected and
    ``level = ω² (1/T0 + 1/T1) + dispersion of the controls``; ``ω²`` is `day_level` of all these tools.

    Parameters
    ----------
    target : Periods
        The changed tool; both periods have calls.
    controls : sequence of Periods
        Tools that did not change and share no questions with it; those with few failures are left out.

    References
    ----------
    DerSimonian and Laird (1986), Controlled Clinical Trials 7:177, for the dispersion of the controls.
    """
    usable = [control for control in controls if _is_usable(control)]
    omega = day_level([target, *usable])
    shift, shift_variance = _pooled_shift(usable, omega)
    before, after = target
    reference = _refer(target)
    p0 = reference.rate
    expected = sum(
        share * _expit(_logit(reference.rates[stratum]) + shift)
        for stratum, share in reference.shares.items()
    )
    p1 = after.failed / after.n
    deff = _design_effect(target)
    g0, g = p0 * (1 - p0), expected * (1 - expected)
    shrunk = (after.failed + _DEFF_CALLS * expected) / (after.n + _DEFF_CALLS)
    of_after = deff * shrunk * (1 - shrunk) / after.n + g * g * omega / after.n_days
    of_before = (g / g0) ** 2 * deff * g0 / reference.n_effective + g * g * omega / before.n_days
    of_controls = g * g * shift_variance
    return Estimate(
        before=p0,
        expected=expected,
        after=p1,
        variance=_INFLATION * (of_after + of_before + of_controls),
        n_controls=len(usable),
        days_before=before.n_days,
        days_after=after.n_days,
        n_before=before.n,
        n_after=after.n,
        failed_after=after.failed,
        shrinking=_INFLATION * of_after,
    )


def _is_usable(control: Periods) -> bool:
    """Whether a tool's log-odds say something about a change of everything."""
    has_room = all(part.n > part.failed and part.n_days for part in control)
    return has_room and sum(part.failed for part in control) >= _MIN_CONTROL_FAILURES


def day_level(tools: Sequence[Periods]) -> float:
    """Long-run variance of the days of some tools on the log-odds scale, ``ω²``.

    Of each period the autocovariances of its days up to `LAGS` are summed with Bartlett's weights, without
    what the sampling of cases explains, and corrected for the period's estimated mean. Periods are pooled by
    their precision with a prior of `PRIOR_LEVEL`.

    References
    ----------
    Newey and West (1987), Econometrica 55:703.
    """
    total, weights = PRIOR_LEVEL / _PRIOR_SD**2, 1 / _PRIOR_SD**2
    for part in chain.from_iterable(tools):
        if part.n_days < _LEAST_DAYS or not part.failed:
            continue
        rate = (part.failed + 0.5) / (part.n + 1)
        g, bias = rate * (1 - rate), (LAGS + 1) / part.n_days
        by_cases = part.spread_by_cases(rate)
        unit = g * g * part.day_n_squared
        level = (part.spread_by_days(rate) - by_cases * (1 - bias)) / unit / (1 - bias)
        noise = PRIOR_LEVEL + by_cases / unit
        weight = part.n_days / (4 / 3 * (LAGS + 1)) / noise**2
        total, weights = total + weight * level, weights + weight
    return max(_LEAST_LEVEL, total / weights)


def _pooled_shift(controls: Sequence[Periods], omega: float) -> tuple[float, float]:
    """The mean change in log-odds of some tools, and its variance with that between the tools."""
    if not controls:
        return 0.0, 0.0
    values, variances = zip(*(_shift(control, omega) for control in controls), strict=True)
    inverse = [1 / variance for variance in variances]
    mean = _mean(values, inverse)
    heterogeneity = sum(w * (value - mean) ** 2 for w, value in zip(inverse, values, strict=True))
    scale = sum(inverse) - sum(w * w for w in inverse) / sum(inverse)
    between = max(0.0, (heterogeneity - (len(values) - 1)) / scale) if scale > 0 else 0.0
    inverse = [1 / (variance + between) for variance in variances]
    return _mean(values, inverse), 1 / sum(inverse) + between


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(w * value for w, value in zip(weights, values, strict=True)) / sum(weights)


def _shift(control: Periods, omega: float) -> tuple[float, float]:
    """A control's change in log-odds in its own mix of requests, and the variance of that."""
    before, after = control
    reference = _refer(control)
    p0, p1 = reference.rate, (after.failed + 0.5) / (after.n + 1)
    deff = _design_effect(control)
    sampling = deff * (1 / (reference.n_effective * p0 * (1 - p0)) + 1 / (after.n * p1 * (1 - p1)))
    return _logit(p1) - _logit(p0), sampling + omega * (1 / before.n_days + 1 / after.n_days)


class _Reference(NamedTuple):
    """The rate before in the mix of requests of afterwards.

    Attributes
    ----------
    shares : dict
        Share of each stratum of afterwards.
    rates : dict
        Its rate before, drawn to its category's, and that to the tool's: a new model has those of the others.
    rate : float
        Their weighted mean.
    n_effective : float
        Calls of before that bear the weighted rate: all of them, unless the mix has shifted.
    """

    shares: dict[Stratum, float]
    rates: dict[Stratum, float]
    rate: float
    n_effective: float


def _refer(periods: Periods) -> _Reference:
    before, after = periods
    shares = {stratum: n / after.n for stratum, (n, _) in after.strata.items() if n}
    overall = (before.failed + 0.5) / (before.n + 1)
    by_category: dict[str, tuple[int, int]] = {}
    for (_, category), (n, failed) in before.strata.items():
        earlier = by_category.get(category, (0, 0))
        by_category[category] = (earlier[0] + n, earlier[1] + failed)
    rates = {}
    for stratum in shares:
        parent = _drawn(by_category.get(stratum[1], (0, 0)), overall)
        rates[stratum] = _drawn(before.strata.get(stratum, (0, 0)), parent)
    rate = sum(share * rates[stratum] for stratum, share in shares.items())
    return _Reference(shares, rates, rate, _effective_calls(before, shares, by_category))


def _drawn(counts: tuple[int, int], to: float) -> float:
    n, failed = counts
    return (failed + _SHRINKAGE * to) / (n + _SHRINKAGE)


def _own(n: int) -> float:
    """Part of a drawn rate that is of its own calls."""
    return n / (n + _SHRINKAGE)


def _effective_calls(
    before: Tally, shares: dict[Stratum, float], by_category: dict[str, tuple[int, int]]
) -> float:
    """Calls of before that would have the variance of the weighted rate, a sum over the strata of before."""
    of_category: dict[str, float] = {}
    for stratum, share in shares.items():
        own = _own(before.strata.get(stratum, (0, 0))[0])
        of_category[stratum[1]] = of_category.get(stratum[1], 0.0) + share * (1 - own)
    of_tool = sum(
        share * (1 - _own(by_category.get(category, (0, 0))[0])) for category, share in of_category.items()
    )
    spread = 0.0
    for stratum, (n, _) in before.strata.items():
        n_category = by_category[stratum[1]][0]
        weight = shares.get(stratum, 0.0) * _own(n) + of_tool * n / before.n
        weight += of_category.get(stratum[1], 0.0) * _own(n_category) * n / n_category
        spread += weight * weight / n
    return 1 / spread


def _design_effect(periods: Periods) -> float:
    """By how much the failures of a case belong together: 1 for independent calls."""
    observed = expected = _DEFF_CALLS
    for part in periods:
        rate = (part.failed + 0.5) / (part.n + 1)
        observed += part.spread_by_cases(rate)
        expected += part.n * rate * (1 - rate)
    return max(1.0, observed / expected)


def _logit(rate: float) -> float:
    return log(rate / (1 - rate))


def _expit(value: float) -> float:
    return 1 / (1 + exp(-value))
