"""The verdict on a change: when the estimate is looked at, and what is said of it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log, sqrt
from typing import Final

from coreloop.learn.effect.estimate import Estimate

HORIZON_DAYS: Final = 90
"""Days after a change until which it is looked at."""
PLANNED_DAYS: Final = (28, 56)
"""Days of the planned looks, with the interval of a single look; only where there are controls."""
PLANNED_Z: Final = 1.96  # of a two-sided 95 % interval
_FINAL_Z: Final = 2.52
"""Of the last of 90 daily looks; with the exponent below, 2.99 at day 7 (56 days before)."""
_EXPONENT: Final = -0.1  # of Wang and Tsiatis' bounds: near Pocock's 0, so that harm is seen early
_NONE_Z: Final = 2.24
"""One-sided, for the smallest effect that is worth keeping a line."""
HELPS_DAYS: Final = 7  # a whole week, whose days differ
HURTS_DAYS: Final = 3  # chosen: harm is said sooner than help
NONE_DAYS: Final = 14  # chosen: two whole weeks, since a line is proposed to be retired for it
HELPS_FAILURES: Final = 10  # expected ones: the usual rule for the normal approximation of a share
HURTS_FAILURES: Final = 5  # seen ones: the usual rule's lower end, since harm is said sooner
_LEAST_POINT: Final = 0.01  # chosen: a line that removes less than a point is not worth its place
_MIXTURE_BEST_AT: Final = 0.5
"""Share of the information at which the mixture is narrowest: about day 28."""
_ALPHA: Final = 0.05  # two-sided: of null histories that a bound may err on


class EffectVerdict(StrEnum):
    """What is said of a change."""

    HELPS = "helps"
    NO_EFFECT = "no effect"
    HURTS = "hurts"
    TOO_EARLY = "too early"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True, slots=True)
class Look:
    """An estimate with the bounds of the interval at that day.

    Attributes
    ----------
    day : int
        Days since the change.
    """

    day: int
    estimate: Estimate
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, the look on which it rests, and the day since the change on which it came.

    ``day`` is None and ``look`` the newest if there is no verdict yet.
    """

    verdict: EffectVerdict
    look: Look | None
    day: int | None = None


def daily_z(estimate: Estimate) -> float:
    """Half-width of the interval of a daily look, in standard deviations.

    With controls a group-sequential bound, ``2.52 f^-0.1`` for the share ``f`` of the information of day 90;
    without, the mixture of Waudby-Smith et al. (arXiv 2103.06476, theorem 2.2), which holds at any time.
    """
    share = _information(estimate)
    if estimate.n_controls:
        return _FINAL_Z * float(share**_EXPONENT)
    best = -2 * log(_ALPHA)
    time = share / _MIXTURE_BEST_AT * (best + log(best + 1))
    return sqrt(2 * (time + 1) / time * log(sqrt(time + 1) / _ALPHA))


def _information(estimate: Estimate) -> float:
    t0, t1 = estimate.days_before, estimate.days_after
    return min(1.0, (1 / t0 + 1 / HORIZON_DAYS) / (1 / t0 + 1 / t1))


def look_at(estimate: Estimate, day: int, z: float) -> Look:
    """The interval of a look."""
    half = z * sqrt(estimate.variance)
    return Look(day, estimate, estimate.difference - half, estimate.difference + half)


def judge_look(look: Look) -> EffectVerdict | None:
    """The verdict of one look; None if it says nothing yet."""
    estimate = look.estimate
    if look.low > 0 and look.day >= HURTS_DAYS and estimate.failed_after >= HURTS_FAILURES:
        return EffectVerdict.HURTS
    has_enough = estimate.n_expected >= HELPS_FAILURES
    if look.high < 0 and look.day >= HELPS_DAYS and has_enough:
        return EffectVerdict.HELPS
    if look.day >= NONE_DAYS and has_enough:
        low = estimate.difference - _NONE_Z * _information(estimate) ** _EXPONENT * sqrt(estimate.variance)
        if low > -max(_LEAST_POINT, estimate.before / 2):
            return EffectVerdict.NO_EFFECT
    return None


def calls_needed(look: Look) -> int | None:
    """About how many more calls until a change that halves the failures would be told from one that does not.

    Returns
    -------
    int or None
        Two digits are significant; None if it takes longer than `HORIZON_DAYS` at the present traffic.
    """
    estimate = look.estimate
    fixed, least = estimate.variance - estimate.shrinking, max(_LEAST_POINT, estimate.before / 2)
    room = (least / _FINAL_Z) ** 2 - fixed
    if room <= 0:
        return None
    of_failures, of_days = HELPS_FAILURES / max(estimate.n_expected, 0.1), HELPS_DAYS / look.day
    factor = max(1.0, of_failures, of_days, estimate.shrinking / room)
    if factor > HORIZON_DAYS / look.day:
        return None
    more = max(1, ceil((factor - 1) * estimate.n_after))
    digits = int(10 ** max(0, len(str(more)) - 2))
    return ceil(more / digits) * digits


def decide(days: int, read: Callable[[int], Estimate | None]) -> Decision:
    """Look daily until there is a verdict; ``hurts`` may replace an earlier one.

    Parameters
    ----------
    days : int
        Whole days since the change.
    read : callable
        Estimate after that many days, called with 1, 2, …; None if there is nothing to estimate.
    """
    first: Decision | None = None
    newest: Look | None = None
    for day in range(1, min(days, HORIZON_DAYS) + 1):
        estimate = read(day)
        if estimate is None:
            continue
        newest = look_at(estimate, day, daily_z(estimate))
        is_planned = day in PLANNED_DAYS and estimate.n_controls > 0
        looks = [look_at(estimate, day, PLANNED_Z)] if is_planned else []
        for look in (newest, *looks):
            verdict = judge_look(look)
            if verdict is EffectVerdict.HURTS:
                return Decision(verdict, look, day)
            if verdict is not None and first is None:
                first = Decision(verdict, look, day)
    return first or Decision(EffectVerdict.TOO_EARLY, newest)
