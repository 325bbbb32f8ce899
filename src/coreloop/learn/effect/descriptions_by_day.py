"""Which days of a tool had which of its descriptions: by what models were sent, else by the merge's time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from coreloop.learn.effect.description_changes import Change, Ledger
from coreloop.learn.effect.tool_days import ToolLog
from coreloop.learn.facts.read_lines import EPOCH_DAY

BEFORE_DAYS: Final = 56
"""Days before a change that are compared: two months have eight of each weekday."""
LEAST_BEFORE: Final = 14
"""Days that are a past: with fewer, a weekly rhythm looks like an effect."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Windows:
    """The days before and after a change.

    Attributes
    ----------
    before, after : frozenset of int
        Days since 1970, of records with the description before, and with that after.
    first : int
        The first day of after.
    n_mixed : int
        Days left out, since they have both.
    n_by_time : int
        Days that are known by the time of the merge only.
    ended_by : Change or None
        The tool's next change, if it has come into force.
    """

    before: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    first: int = 0
    n_mixed: int = 0
    n_by_time: int = 0
    ended_by: Change | None = None


def find_windows(
    changes: Sequence[Change],
    at: int,
    tool: ToolLog,
    ledger: Ledger,
    *,
    deploy_lag: timedelta,
    horizon: int,
) -> Windows:
    """Find the days before and after one of a tool's changes.

    Parameters
    ----------
    changes : sequence of Change
        All changes of the tool, by time.
    at : int
        Index of the change.
    tool : ToolLog
        Has what models were sent on each day.
    ledger : Ledger
        Knows which changes a version has.
    deploy_lag : timedelta
        From a merge until all models get the description, where records have no version.
    horizon : int
        Days after the change that are looked at.
    """
    states = {day: _state(day, tool, changes, ledger, deploy_lag) for day in sorted(tool.versions)}
    after = [day for day, (n_changes, _) in states.items() if n_changes == at + 1]
    first = min(after, default=_day(changes[at].merged_at) + 1)
    kept = frozenset(day for day in after if day < first + horizon)
    earlier = [
        day
        for day, (n_changes, _) in states.items()
        if n_changes == at and first - BEFORE_DAYS * 2 <= day < first
    ]
    before = frozenset(earlier[-BEFORE_DAYS:])
    last_before = max(before, default=first)
    is_ended = any(n_changes is not None and n_changes > at + 1 for n_changes, _ in states.values())
    return Windows(
        before=before,
        after=kept,
        first=first,
        n_mixed=sum(states[day][0] is None for day in states if last_before < day < first),
        n_by_time=sum(states[day][1] for day in before | kept),
        ended_by=changes[at + 1] if is_ended and at + 1 < len(changes) else None,
    )


def _state(
    day: int, tool: ToolLog, changes: Sequence[Change], ledger: Ledger, lag: timedelta
) -> tuple[int | None, bool]:
    """How many of the changes a day has, None if it has several descriptions; and if only time says so."""
    found: set[int | None] = set()
    by_time = False
    for version in tool.versions[day]:
        place = ledger.place_of(version) if version else None
        first_us = tool.first_us.get(version)
        if first_us is not None:  # a description has the changes that were merged before it was first sent
            first = _EPOCH + timedelta(microseconds=first_us)
            found.add(sum(change.merged_at <= first for change in changes))
        elif place is not None:
            found.add(sum(change.place <= place for change in changes))
        else:
            by_time = True
            found.add(_by_time(day, changes, lag))
    return next(iter(found)) if len(found) == 1 else None, by_time


def _by_time(day: int, changes: Sequence[Change], lag: timedelta) -> int | None:
    """How many changes were in force all day; None if one came on it."""
    start = datetime.combine(EPOCH_DAY + timedelta(days=day), time(), UTC)
    end = start + timedelta(days=1)
    if any(change.merged_at < end and change.merged_at + lag > start for change in changes):
        return None
    return sum(change.merged_at + lag <= start for change in changes)


def _day(moment: datetime) -> int:
    return (moment.astimezone(UTC).date() - EPOCH_DAY).days
