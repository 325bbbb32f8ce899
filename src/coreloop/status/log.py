"""What the log says: how much there is of it, how old it is, and what mining makes of the last days."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from coreloop.days import Days
from coreloop.mine.folder import newest_day
from coreloop.mine.oddities import Absent, find_oddities
from coreloop.mine.rollup import EPOCH_DAY, Rollup
from coreloop.mine.window import count_patterns, merge
from coreloop.pattern.find import find_candidates
from coreloop.project.settings import Gates

WINDOW_DAYS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What was recorded.

    Attributes
    ----------
    n_records, n_days : int
        Records of all days, and days that have some.
    first, newest : date or None
        UTC days, those in the future aside.
    n_future, last : int and date or None
        Records of days that are still to come, and the last of these days.
    days : Days
        The window that ``pattern`` mines; what follows is of these days.
    n_in_window, n_patterns : int
        Records, and the patterns that they make.
    skipped : mapping of str to int
        Lines that cannot be read, by reason, in files that have a record of the window or none at all.
    skipped_first : mapping of str to str
        By reason: where the first is.
    read_as_absent : mapping of str to Absent
        Records of these files with a field that holds something unusable, by field.
    """

    n_records: int = 0
    n_days: int = 0
    first: date | None = None
    newest: date | None = None
    n_future: int = 0
    last: date | None = None
    days: Days
    n_in_window: int = 0
    n_patterns: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_first: Mapping[str, str] = field(default_factory=dict)
    read_as_absent: Mapping[str, Absent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sieved:
    """How many of the window's patterns would be proposed, and how many fell at which gate."""

    n_candidates: int
    fell: Mapping[str, int]


def window(today: date) -> Days:
    """The days that ``pattern`` mines without options."""
    return Days(today - timedelta(days=WINDOW_DAYS), today)


def read_log(rollups: Sequence[Rollup], *, today: date) -> Log:
    """Count the log.

    Parameters
    ----------
    rollups : sequence of Rollup
        Of all files.
    today : date
        UTC.
    """
    days = window(today)
    counts = _count_days(rollups)
    past, future = [day for day in counts if day <= today], [day for day in counts if day > today]
    of_window = [rollup for rollup in rollups if _may_be_in(rollup, days)]
    odd = find_oddities((rollup.path, rollup.oddities) for rollup in of_window)
    return Log(
        n_records=sum(counts.values()),
        n_days=len(counts),
        first=min(past, default=None),
        newest=max(past, default=None),
        n_future=sum(counts[day] for day in future),
        last=max(future, default=None),
        days=days,
        n_in_window=sum(counts[day] for day in past if day >= days.since),
        n_patterns=count_patterns(merge(of_window, days)).height,
        skipped={reason: n for reason, n in odd.skipped.items() if reason != "replay"},
        skipped_first={reason: place for reason, place in odd.skipped_first.items() if reason != "replay"},
        read_as_absent=odd.read_as_absent,
    )


def sieve(rollups: Sequence[Rollup], gate: Gates, *, known: frozenset[str], today: date) -> Sieved:
    """Weigh the window's patterns as ``pattern`` does without options.

    Parameters
    ----------
    rollups : sequence of Rollup
        Of all files; of patterns that pass, the questions are read.
    gate : Gates
        What a candidate needs.
    known : frozenset of str
        Keys that are not proposed again.
    today : date
        UTC.
    """
    found = find_candidates(merge(rollups, window(today)), gate, known=known)
    return Sieved(len(found.candidates), found.dropped)


def _may_be_in(rollup: Rollup, days: Days) -> bool:
    """Whether a file has records since the first of the days, or none at all that can be read."""
    newest = newest_day([rollup])
    return newest is None or newest >= days.since


def _count_days(rollups: Sequence[Rollup]) -> Counter[date]:
    counts: Counter[date] = Counter()
    for rollup in rollups:
        counts.update({EPOCH_DAY + timedelta(days=day): n for day, n in rollup.days.items()})
    return counts
