"""The verdict on a change: what is said of each day's look."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Final

from coreloop.learn.effect.estimate import HORIZON_DAYS, LEAST_FAILURES, Figure, Look

HELPS_DAYS: Final = 7  # a whole week, whose days differ
HURTS_DAYS: Final = 3  # chosen: harm is said sooner than help
NONE_DAYS: Final = 14  # chosen: two whole weeks, since a line is proposed to be retired for it
HURTS_FAILURES: Final = 5  # the usual rule's lower end, since harm is said sooner
_NARROWING: Final = -0.15  # of the squared half-width of a look, by the factor of days, with 56 before
_LEAST_POINT: Final = 0.01  # chosen: a line that removes less than a point is not worth its place


class EffectVerdict(StrEnum):
    """What is said of a change; the first are alarms."""

    HURTS = "hurts"
    MOVED = "moved"
    WORSE = "worse, all kinds"
    HELPS = "helps"
    NO_EFFECT = "no effect"
    TOO_EARLY = "too early"
    UNKNOWN = "cannot be told"


_STAYS: Final = set(EffectVerdict) - {EffectVerdict.WORSE, EffectVerdict.TOO_EARLY, EffectVerdict.UNKNOWN}
"""Verdicts that only another one replaces."""
NO_PAST: Final = "most of its calls are of cases or days that had few before"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict with its reason, the newest look that says it, and the day on which it first came."""

    verdict: EffectVerdict = EffectVerdict.TOO_EARLY
    look: Look | None = None
    day: int | None = None
    reason: str = ""


def decide(days: int, read: Callable[[int], Look | None]) -> Decision:
    """Look daily; ``hurts`` is final, another verdict may be replaced.

    Parameters
    ----------
    days : int
        Whole days since the change.
    read : callable
        The look after that many days, called with 1, 2, …; None if there is nothing new.
    """
    decision = Decision()
    for day in range(1, min(days, HORIZON_DAYS) + 1):
        look = read(day)
        said = judge_look(look, decision.verdict) if look is not None else None
        if said is not None:
            since = decision.day if said[0] is decision.verdict else day
            decision = Decision(said[0], look, since, said[1])
    return decision


def judge_look(look: Look, earlier: EffectVerdict) -> tuple[EffectVerdict, str] | None:
    """The verdict of a look with its reason; None if the earlier one stays without it."""
    named, failed = look.named, look.failed
    has_enough = named.expected * look.n >= LEAST_FAILURES and earlier is not EffectVerdict.HURTS
    harms = (_rose(failed), _rose(look.lost), _rose(named) and failed.difference > 0)
    if look.days >= HURTS_DAYS and any(harms):
        is_alike = look.is_alike and earlier is not EffectVerdict.HURTS
        return (EffectVerdict.WORSE if is_alike else EffectVerdict.HURTS), ""
    if look.days >= HELPS_DAYS and has_enough and named.high < 0 and named.after < named.before:
        return _of_fall(look, earlier)
    is_small = look.days >= NONE_DAYS and has_enough and named.low > -_least(named)
    if is_small and not look.all_changed and earlier not in {EffectVerdict.HELPS, EffectVerdict.MOVED}:
        return EffectVerdict.NO_EFFECT, ""
    if earlier in _STAYS:
        return None
    if look.all_changed and look.own_changed:
        return EffectVerdict.UNKNOWN, "all tools changed"
    return (EffectVerdict.UNKNOWN, NO_PAST) if look.left_out > 0.5 else (EffectVerdict.TOO_EARLY, "")


def _of_fall(look: Look, earlier: EffectVerdict) -> tuple[EffectVerdict, str]:
    """The verdict where the named failure certainly fell."""
    if look.is_alike and earlier is not EffectVerdict.HELPS:
        return EffectVerdict.UNKNOWN, "its other failures fell as much"
    if look.failed.high < 0:
        return EffectVerdict.HELPS, ""
    if look.moved_low > 0:
        return EffectVerdict.MOVED, ""
    if look.moved <= 0 or earlier is EffectVerdict.HELPS:
        return EffectVerdict.HELPS, ""
    is_moved = earlier is EffectVerdict.MOVED
    return (earlier, "") if is_moved else (EffectVerdict.TOO_EARLY, "the failures may only have moved")


def _rose(figure: Figure) -> bool:
    """Whether failures certainly rose, and against their own past, too."""
    return figure.low > 0 and figure.after > figure.before and figure.failed >= HURTS_FAILURES


def _least(named: Figure) -> float:
    """The smallest effect that is worth keeping a line."""
    return max(_LEAST_POINT, named.expected / 2)


def calls_needed(look: Look) -> int | None:
    """About how many more calls until a verdict, if the tool goes on failing like this.

    Returns
    -------
    int or None
        Two digits are significant; None if `HORIZON_DAYS` do not seem to suffice.
    """
    named, fell = look.named, -look.named.difference
    room, width, first = fell, named.high + fell, HELPS_DAYS
    if fell < _least(named) / 2:
        room, width, first = _least(named) - fell, -fell - named.low, NONE_DAYS
    for day in range(look.day + 1, HORIZON_DAYS + 1):
        factor = day / look.day
        narrowed = width * sqrt((1 - look.shrinking + look.shrinking / factor) * factor**_NARROWING)
        has_enough = named.expected * look.n * factor >= LEAST_FAILURES and look.days * factor >= first
        if has_enough and narrowed < room:
            return int(float(f"{(factor - 1) * look.n:.2g}"))
    return None
