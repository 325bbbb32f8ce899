"""What a change did to a tool's failures: difference in differences on log-odds, with its variance.

The constants were chosen on simulated histories; benchmarks/effect.py repeats them and has the figures.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log, sqrt
from types import MappingProxyType
from typing import Final, NamedTuple

HORIZON_DAYS: Final = 60  # days after a change until which it is looked at
LAGS: Final = 14  # days over which failures are related: two weeks, so that a weekly rhythm cancels out
LEAST_FAILURES: Final = 10  # of a control: the usual rule for the normal approximation of a share
_LEAST_CONTROL_UNITS: Final = 20
_LEAST_CONTROL_PAST: Final = 3  # failures before, below which a rise from nothing is infinite
_LAPSE: Final = 7  # days without a unit after which a control says nothing of today
_FAR: Final = 4.5  # deviations from all others beyond which a control changed by itself; 3 is too few
_LEAST_PAST: Final = 10  # units that a stratum has before, below which it has no past to compare with
_LEAST_PAST_OF_CONTROL: Final = 5
_SHRINKAGE: Final = 10.0  # units by which a stratum's rate is drawn to the tool's
_PRIOR_LEVEL: Final = 0.15  # long-run variance of a tool's days against the others', in log-odds
_PRIOR_DAYS: Final = 40  # what it weighs
_LEAST_LEVEL: Final = 0.03  # below this no log is that steady; a pooled sum can even be negative
_LEVEL_DAYS: Final = 28  # fewer days say nothing at `LAGS` lags
_SAMPLING_SCALE: Final = 0.3  # of a window's sampling variance, at which its level weighs a quarter
_UNEVEN: Final = 0.5  # by its mean, how much a common change differs between tools, see `Comparison`
_INFLATION: Final = 1.1  # what the normal approximation and the estimated variance leave out
_FINAL_Z: Final = 2.47  # of the last of 60 daily looks, from 40,000 simulated walks; 3.11 on day 3
_EXPONENT: Final = -0.1  # of Wang and Tsiatis' bounds: near Pocock's 0, so that harm is seen early
_RARE: Final = 1e-4  # rates are kept this far from 0 and 1
Feature = tuple[int, str, str, int]  # a period, a tool, a stratum, and what is counted
Vector = Mapping[Feature, float]  # a sum over the counts of a session, of one period, by factor
BEFORE, AFTER = range(2)
N, NAMED, FAILED, LOST = range(4)
"""What is counted of a session's units: all; with the named failure; with any; of a lost request."""


class UnitCount(NamedTuple):
    """The units of a session and a day that are alike.

    A unit is a tool in a question of a session, first sent. ``named`` have the failure that the line names,
    ``failed`` any that the arguments cause, ``lost`` are of lost requests.
    """

    day: int
    case: int
    tool: str
    stratum: str
    n: int
    named: int
    failed: int
    lost: int


_UNITS: Final = {N: 1}
Units = Iterable[UnitCount]


class Outcome(NamedTuple):
    """A share of units: the factors of what is counted above and below the line."""

    failures: Mapping[int, int]
    units: Mapping[int, int] = _UNITS


_NAMED: Final = Outcome({NAMED: 1})
_FAILED: Final = Outcome({FAILED: 1})
_LOST: Final = Outcome({LOST: 1})
_OTHERS: Final = Outcome({FAILED: 1, NAMED: -1}, {N: 1, NAMED: -1})
"""Other failures among units without the named one, so that they do not rise where that falls."""


class _Moments:
    """Sums over sessions, and sums of products, from which each variance follows."""

    def __init__(self) -> None:
        self.strata: set[str] = set()
        self._totals: Counter[Feature] = Counter()
        self._products: defaultdict[Feature, Counter[Feature]] = defaultdict(Counter)
        self._sessions: defaultdict[tuple[int, int], Counter[Feature]] = defaultdict(Counter)

    def add(self, period: int, units: Units) -> None:
        """Add units, also of sessions that have some."""
        for unit in units:
            self.strata.add(unit.stratum)
            session = self._sessions[period, unit.case]
            for counted, n in ((counted, n) for counted, n in enumerate(unit[4:]) if n):
                feature = period, unit.tool, unit.stratum, counted
                for other, m in session.items():
                    self._products[feature][other] += n * m
                    self._products[other][feature] += n * m
                self._products[feature][feature] += n * n
                session[feature] += n
                self._totals[feature] += n

    def product(self, left: Vector, right: Vector) -> float:
        """The sum over sessions of the product of two of their sums."""
        total = 0.0
        for feature, factor in left.items():
            if row := self._products.get(feature):
                total += factor * sum(other * row[place] for place, other in right.items() if place in row)
        return total

    def square(self, vector: Vector) -> float:
        """The sum over sessions of a squared sum."""
        return self.product(vector, vector)

    def count(self, period: int, tool: str, weights: Mapping[int, int], *strata: str) -> int:
        """Count a tool's units in some strata, by default in all."""
        cells = ((its, counted) for its in strata or self.strata for counted in weights)
        return sum(weights[counted] * self._totals[period, tool, its, counted] for its, counted in cells)

    def drawn(self, tool: str, outcome: Outcome) -> dict[str, float]:
        """The rate of each stratum before, drawn to the tool's."""
        failed, n = (self.count(BEFORE, tool, weights) for weights in outcome)
        pull, drawn = _SHRINKAGE * (failed + 0.5) / (n + 1), dict[str, float]()
        for its in self.strata:
            failed, n = (self.count(BEFORE, tool, weights, its) for weights in outcome)
            drawn[its] = (failed + pull) / (n + _SHRINKAGE)
        return drawn


def _sum(*parts: tuple[float, Vector]) -> Vector:
    total: defaultdict[Feature, float] = defaultdict(float)
    for factor, vector in parts:
        for place, value in vector.items():
            total[place] += factor * value
    return total


@dataclass(frozen=True, slots=True)
class Figure:
    """A share before and after a change.

    Attributes
    ----------
    before, expected, after : float
        The share before, in the mix of strata of afterwards; what it would have been without the change; what
        it is.
    low, high, sure_low : float
        The interval of ``after - expected`` that holds at all looks, and its lower end if what happened to
        all tools is known no better than itself.
    failed : int
        Failures after.
    """

    before: float
    expected: float
    after: float
    low: float
    high: float
    sure_low: float
    failed: int

    @property
    def difference(self) -> float:
        """The share of units that fail because of the change; negative if it helps."""
        return self.after - self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is known of a change after so many days.

    Attributes
    ----------
    day, days : int
        Days since the change, and those of them on which units count.
    named, failed, lost : Figure
        Of the failure that the line names, of all of the tool, and of lost requests.
    moved, moved_low : float
        All failures, above half of what the line removed, and the lower end of that.
    is_alike : bool
        Whether the tool's other failures moved as the named one did.
    n, n_controls : int
        Units after, and tools, that are compared; 0 tools: the tool's other failures, or its past, are.
    all_changed, own_changed : bool
        Whether these certainly changed, and the tool against its own past.
    left_out, shrinking : float
        Shares: of the units after, those whose stratum has no past; of the variance of ``named.difference``,
        what falls with the days.
    """

    day: int
    days: int
    n: int
    named: Figure
    failed: Figure
    lost: Figure
    moved: float
    moved_low: float
    is_alike: bool
    n_controls: int
    all_changed: bool
    own_changed: bool
    left_out: float
    shrinking: float

    @property
    def is_sure(self) -> bool:
        """Whether failures rose against other tools, if their change is known no better than itself."""
        figures = (self.named, self.failed, self.lost)
        return self.n_controls > 0 and any(its.sure_low > 0 for its in figures)


class _Rates(NamedTuple):
    """A tool's share before and after; ``past`` and ``present`` are what sessions add to each."""

    before: float
    after: float
    past: Vector
    present: Vector
    n: int
    failed: int

    def in_log_odds(self) -> tuple[float, Vector]:
        """The change, and what sessions add to it."""
        before, after = max(self.before, 1e-3), (self.failed + 0.5) / (self.n + 1)
        scores = _sum((1 / _g(after), self.present), (-1 / _g(before), self.past))
        return _logit(after) - _logit(before), scores


class _Shift(NamedTuple):
    """A change in log-odds of a tool, or the mean of several; ``scores`` are what sessions add to it."""

    value: float = 0.0
    variance: float = 0.0
    scores: Vector = MappingProxyType({})
    between: float = 0.0
    spread: float = 0.0

    def tau(self, uneven: float) -> float:
        """The variance of a tool's own change around it, for itself and for the mean."""
        return max(self.between, (uneven * self.value) ** 2) * (1 + self.spread)


class Comparison:
    """The looks at a change of a tool, one for each day.

    ``D = p1 - expit(logit(p0) + d)``: ``p0`` is the rate before in the mix of strata of afterwards, ``d`` the
    mean change in log-odds of the controls, its slope 1 and never fitted. The variance has what sessions add
    to both sides, which cancels where tools share them; the long-run variance of days; and ``τ²``, by which a
    common change moves tools differently: at least ``(d/2)²``, for a verdict that opens a draft ``d²``.

    Parameters
    ----------
    tool : str
        The changed one.
    before, after : iterable of UnitCount
        Of it and of the tools that did not change.
    first : int
        The day from which looks are counted.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73:13. DerSimonian and Laird (1986), Controlled Clinical Trials 7:177;
    Rambachan and Roth (2023), Review of Economic Studies 90:2555 (``τ²``).
    """

    def __init__(self, tool: str, before: Units, after: Units, *, first: int) -> None:
        past = list(before)
        self._tool, self._first, self._moments = tool, first, _Moments()
        self._moments.add(BEFORE, past)
        self._days = defaultdict[int, list[UnitCount]](list)
        for unit in after:
            self._days[unit.day].append(unit)
        self._controls = sorted({unit.tool for unit in past} - {tool})
        self.days_before = len({unit.day for unit in past if unit.tool == tool})
        self._level = _day_level(tool, past, self._moments)
        self._seen: set[tuple[int, str]] = set()
        self._kept: list[str] = []
        self._last, self._of_days, self._z, self.is_alone = Counter[str](), 0.0, 0.0, False

    def at(self, day: int) -> Look | None:
        """Look after ``day`` days, which are asked for in order; None on a day that says nothing new."""
        units = self._days.get(self._first + day - 1, [])
        own = {(unit.day, unit.stratum) for unit in units if unit.tool == self._tool}
        if own:
            self._moments.add(AFTER, units)
            self._last.update({unit.tool: day - self._last[unit.tool] for unit in units})
            self._seen |= own
        strata = sorted({stratum for _, stratum in self._seen})
        self._kept = [its for its in strata if self._past(self._tool, its) >= _LEAST_PAST]
        return self._look(day) if own and self._kept else None

    def _past(self, tool: str, stratum: str) -> int:
        return self._moments.count(BEFORE, tool, _UNITS, stratum)

    def _look(self, day: int) -> Look | None:
        days = len({seen for seen, stratum in self._seen if stratum in self._kept})
        self._of_days = self._level * (1 / self.days_before + 1 / days)
        self._z = _z(self.days_before, days)
        found = {name: self._change(name, _FAILED) for name in self._controls}
        changes = [one for name, own in found.items() for one in own if day - self._last[name] < _LAPSE]
        self.is_alone = any(found.values()) and not changes
        if self.is_alone:  # whatever happened since is unknown
            return None
        shift = _pooled(changes := _agreeing(changes))
        named, scores = self._judge(_NAMED, shift if changes else _pooled(self._change(self._tool, _OTHERS)))
        (failed, of_failed), (lost, _) = self._judge(_FAILED, shift), self._judge(_LOST, shift)
        own, of_own = self._judge(_NAMED, _Shift())
        halved, of_halved = (named, scores) if changes else (own, of_own)
        moved, g = failed.difference - halved.difference / 2, _g(failed.expected) - _g(halved.expected) / 2
        spread = self._moments.square(_sum((1, of_failed), (-0.5, of_halved)))
        spread += g * g * (self._of_days + shift.tau(_UNEVEN))
        (rates,) = self._rates(self._tool, _NAMED, self._kept)
        sampling = max(self._moments.square(rates.present), _g(rates.after) / rates.n)
        sampling += _g(named.expected) ** 2 * self._level / days
        return Look(
            day=day,
            days=days,
            n=rates.n,
            named=named,
            failed=failed,
            lost=lost,
            moved=moved,
            moved_low=moved - self._z * sqrt(_INFLATION * spread),
            is_alike=self._is_alike(rates),
            n_controls=len(changes),
            all_changed=abs(shift.value) > 2 * sqrt(shift.variance),
            own_changed=own.low > 0 or own.high < 0,
            left_out=1 - rates.n / self._moments.count(AFTER, self._tool, _UNITS),
            shrinking=min(1.0, _INFLATION * sampling * (2 * self._z / (named.high - named.low)) ** 2),
        )

    def _rates(self, tool: str, outcome: Outcome, strata: Sequence[str]) -> list[_Rates]:
        """A tool's share before and after in some strata; none without units after."""
        count = partial(self._moments.count, AFTER, tool)
        if not strata or not (total := count(outcome.units, *strata)):
            return []
        failed, before = count(outcome.failures, *strata), 0.0
        drawn, past, present = self._moments.drawn(tool, outcome), Counter[Feature](), Counter[Feature]()
        for its in strata:
            share = count(outcome.units, its) / total
            before += share * drawn[its]
            weight = share / (self._moments.count(BEFORE, tool, outcome.units, its) + _SHRINKAGE)
            sides = (BEFORE, past, weight, drawn[its]), (AFTER, present, 1 / total, failed / total)
            for period, scores, factor, rate in sides:
                for counts, sign in ((outcome.failures, factor), (outcome.units, -factor * rate)):
                    scores.update({(period, tool, its, counted): sign * n for counted, n in counts.items()})
        return [_Rates(before, failed / total, past, present, total, failed)]

    def _change(self, tool: str, outcome: Outcome) -> list[_Shift]:
        """The change in log-odds of a control; none if it says nothing."""
        least = 0 if tool == self._tool else _LEAST_PAST_OF_CONTROL
        past = self._moments.count(BEFORE, tool, outcome.failures)
        changes, strata = list[_Shift](), [its for its in self._kept if self._past(tool, its) >= least]
        for rates in self._rates(tool, outcome, strata) if past >= _LEAST_CONTROL_PAST else ():
            if rates.n >= _LEAST_CONTROL_UNITS and past + rates.failed >= LEAST_FAILURES:
                value, scores = rates.in_log_odds()
                g = _g((rates.failed + 0.5) / (rates.n + 1))
                unseen = max(0.0, g / rates.n - self._moments.square(rates.present)) / g**2
                changes.append(_Shift(value, self._moments.square(scores) + unseen + self._of_days, scores))
        return changes

    def _judge(self, outcome: Outcome, shift: _Shift) -> tuple[Figure, Vector]:
        """The share before, expected and after, and what sessions add to the difference."""
        (rates,), square = self._rates(self._tool, outcome, self._kept), self._moments.square
        p0, p1 = min(max(rates.before, _RARE), 1 - _RARE), rates.after
        expected = _expit(_logit(p0) + shift.value)
        of_expected = _sum((-1 / _g(p0), rates.past), (-1, shift.scores))
        variance = square(of_expected) + self._of_days
        covariance = _INFLATION * _g(expected) * self._moments.product(rates.present, shift.scores)
        n_before = self._moments.count(BEFORE, self._tool, _UNITS)
        least = max(_g(p1), _RARE)
        clustered = square(rates.past) * n_before / _g(p0), square(rates.present) * rates.n / least
        bounds = partial(_bounds, p1, rates.n / max(1.0, *clustered), expected, covariance, self._z)
        (low, high), (sure, _) = (bounds(_INFLATION * (variance + shift.tau(its))) for its in (_UNEVEN, 1))
        scores = _sum((1, rates.present), (_g(expected), of_expected))
        return Figure(p0, expected, p1, low, high, sure, rates.failed), scores

    def _is_alike(self, named: _Rates) -> bool:
        """Whether the tool's other failures moved in the same way: a change of this tool alone moves both."""
        if self._moments.count(BEFORE, self._tool, _OTHERS.failures) < LEAST_FAILURES:
            return False
        value, scores = named.in_log_odds()
        changes = [rates.in_log_odds() for rates in self._rates(self._tool, _OTHERS, self._kept)]
        apart = [self._moments.square(_sum((1, scores), (-1, its))) for _, its in changes]
        return any(
            value * other > 0 and abs(value - other) < self._z * sqrt(_INFLATION * square)
            for (other, _), square in zip(changes, apart, strict=True)
        )


def _agreeing(controls: list[_Shift]) -> list[_Shift]:
    """The controls without the one that is far from all others: it changed by itself."""
    for one in controls if len(controls) > 2 else ():
        rest = [other for other in controls if other is not one]
        mean = _pooled(rest)
        if abs(one.value - mean.value) > _FAR * sqrt(one.variance + mean.variance + mean.tau(_UNEVEN)):
            return rest
    return controls


def _pooled(controls: Sequence[_Shift]) -> _Shift:
    """The mean change of some controls, with the variance between them."""
    if not controls:
        return _Shift()
    values, weights = [one.value for one in controls], [1 / one.variance for one in controls]
    mean = _dot(weights, values) / sum(weights)
    spread = _dot(weights, [(value - mean) ** 2 for value in values])
    scale = sum(weights) - _dot(weights, weights) / sum(weights)
    between = max(0.0, (spread - len(controls) + 1) / scale) if len(controls) > 1 else 0.0
    inverse = [1 / (one.variance + between) for one in controls]
    weights = [w / sum(inverse) for w in inverse]
    scores = _sum(*zip(weights, (one.scores for one in controls), strict=True))
    return _Shift(_dot(weights, values), 1 / sum(inverse), scores, between, _dot(weights, weights))


def _day_level(tool: str, units: Sequence[UnitCount], moments: _Moments) -> float:
    """Long-run variance of a tool's days against the others', in log-odds, without what sessions explain.

    References
    ----------
    Bertrand, Duflo and Mullainathan (2004), QJE 119:249, for days as what varies.
    """
    days = sorted({unit.day for unit in units})
    if len(days) < _LEVEL_DAYS:
        return _PRIOR_LEVEL
    weights, rates = dict[str, float](), dict[str, dict[str, float]]()
    for name in sorted({unit.tool for unit in units}):
        outcome = _NAMED if name == tool else _FAILED
        n, failed = (moments.count(BEFORE, name, its) for its in (_UNITS, outcome.failures))
        if LEAST_FAILURES <= failed < n:
            weights[name], rates[name] = n * _g(failed / n), moments.drawn(name, outcome)
    scores = defaultdict[tuple[int, int], Counter[str]](Counter)
    for unit in (unit for unit in units if unit.tool in weights):
        rest = (unit.named if unit.tool == tool else unit.failed) - rates[unit.tool][unit.stratum] * unit.n
        scores[unit.day, unit.case].update({unit.tool: rest * len(days) / weights[unit.tool]})
    total, weight = _PRIOR_LEVEL, 1.0
    for name in weights:
        whole = sum(weights.values()) - weights[name] or 1.0
        pull = {other: -its / whole for other, its in weights.items()} | {name: 1.0}
        by_day, sampling = dict.fromkeys(days, 0.0), 0.0
        for (day, _), of_tools in scores.items():
            rest = sum(pull[other] * score for other, score in of_tools.items())
            by_day[day], sampling = by_day[day] + rest, sampling + rest * rest / len(days)
        own = len(days) / _PRIOR_DAYS / (1 + sampling / _SAMPLING_SCALE) ** 2
        total += own * (_long_run_variance(list(by_day.values())) - sampling)
        weight += own
    return max(_LEAST_LEVEL, total / weight)


def _long_run_variance(days: Sequence[float]) -> float:
    """The sum of autocovariances with Bartlett's weights (Newey and West 1987, Econometrica 55:703)."""
    n, mean = len(days), sum(days) / len(days)
    x, lags = [value - mean for value in days], min(LAGS, n // 3)
    near = [_dot(x[lag:], x) * (1 - lag / (lags + 1)) for lag in range(lags + 1)]
    return (2 * sum(near) - near[0]) / n / (1 - (lags + 1) / n)


def _z(before: int, after: int) -> float:
    """Half-width of the interval of a daily look, in standard deviations.

    References
    ----------
    Wang and Tsiatis (1987), Biometrics 43:193; Jennison and Turnbull (1989), JRSS B 51:305.
    """
    share = min(1.0, (1 / before + 1 / HORIZON_DAYS) / (1 / before + 1 / after))
    return float(_FINAL_Z * share**_EXPONENT)


def _bounds(
    after: float, n: float, expected: float, covariance: float, z: float, variance: float
) -> tuple[float, float]:
    """The interval of a difference from those of its parts, within what is possible (MOVER).

    Wilson's for the share after, of ``n`` independent units, and log-odds for what was expected.

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27:1693.
    """
    spread = z * sqrt(after * (1 - after) / n + z * z / 4 / n / n) / (1 + z * z / n)
    centre = (after + z * z / 2 / n) / (1 + z * z / n)
    low, high = max(0.0, centre - spread), min(1.0, centre + spread)
    half, common = z * sqrt(variance), 2 * z * z * covariance
    below, above = expected - _expit(_logit(expected) - half), _expit(_logit(expected) + half) - expected
    down = max((after - low) ** 2 + above**2 - common, above**2 / 2)
    up = max((high - after) ** 2 + below**2 - common, below**2 / 2)
    return after - expected - sqrt(down), after - expected + sqrt(up)


def _g(rate: float) -> float:
    return rate * (1 - rate)


def _dot(left: Iterable[float], right: Iterable[float]) -> float:
    return sum((a * b for a, b in zip(left, right, strict=False)), 0.0)


def _logit(rate: float) -> float:
    return log(rate / (1 - rate))


def _expit(value: float) -> float:
    return 1 / (1 + exp(-value))
