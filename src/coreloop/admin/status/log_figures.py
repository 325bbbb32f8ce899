"""The size and age of the log, and the result of mining its last days."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from math import exp, fsum, lgamma
from typing import Final

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import EPOCH_DAY, FileFacts
from coreloop.learn.facts.schema import Absent, find_oddities
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.mine.window import NO_SEQUENCE, Window, merge
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

MIN_CALLS: Final = 20
"""Calls that the day and its past need: 20 points of 20 calls are four failures."""
MIN_PAST_DAYS: Final = 3
"""Earlier days that are a past; with fewer, no day is unusual."""
_MIN_DIFFERENCE: Final = 0.2  # chosen: 20 points, which are four failures of `MIN_CALLS`
_SURE: Final = 0.001
"""Divided by the number of tools: about one false alarm in three years of daily looks."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A tool's failed calls on a day, and on the earlier days of the window."""

    tool: str
    day: date
    n_failed: int
    n: int
    past_failed: int
    past_n: int


def find_failing(window: Window) -> tuple[Failing, ...]:
    """Compare the newest day of each tool with its own past, the worst first.

    Returns
    -------
    tuple of Failing
        Tools whose failing share on the newest day of the log is 20 points above that of the days before,
        above each of them that has enough calls, and surely so (Fisher).
    """
    counts: defaultdict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    for group in window.requests:
        for call in group.calls:
            if call.is_known:
                n_failed, n = counts[call.tool].get(group.alike.day, (0, 0))
                n_failed += group.n * (call.error_class != "")
                counts[call.tool][group.alike.day] = n_failed, n + group.n
    newest = max((day for days in counts.values() for day in days), default=0)
    limit = _SURE / max(1, len(counts))
    failing = (_compare(tool, days, newest, limit) for tool, days in counts.items() if newest in days)
    return tuple(sorted(filter(None, failing), key=lambda tool: (-tool.n_failed, tool.tool)))


def _compare(tool: str, days: Mapping[int, tuple[int, int]], newest: int, limit: float) -> Failing | None:
    (n_failed, n), earlier = days[newest], [counts for day, counts in days.items() if day < newest]
    past_failed, past_n = (sum(counts) for counts in zip(*earlier, strict=True)) if earlier else (0, 0)
    if min(n, past_n) < MIN_CALLS or len(earlier) < MIN_PAST_DAYS:
        return None
    share = n_failed / n
    is_higher = share - past_failed / past_n >= _MIN_DIFFERENCE
    is_highest = all(share > failed / total for failed, total in earlier if total >= MIN_CALLS)
    if not (is_higher and is_highest) or _chance(n_failed, n, past_failed, past_n) > limit:
        return None
    return Failing(tool, EPOCH_DAY + timedelta(days=newest), n_failed, n, past_failed, past_n)


def _chance(n_failed: int, n: int, past_failed: int, past_n: int) -> float:
    """How probable that many failures are, or more, if both sides fail alike (Fisher's exact test)."""
    failed = n_failed + past_failed
    total = _log_choose(n + past_n, failed)
    counts = range(n_failed, min(n, failed) + 1)
    return fsum(exp(_log_choose(n, k) + _log_choose(past_n, failed - k) - total) for k in counts)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


WINDOW_DAYS: Final = 30  # the default of --since, so that status counts what pattern and refine read
ENOUGH_DAYS: Final = 7
"""Days with records that show how long a log is usually silent: a week has its weekend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Figures of the audit log.

    Attributes
    ----------
    n_records, n_days : int
        Records of all days, and days with records.
    first, newest : date or None
        UTC days, not counting days in the future.
    n_future, last : int and date or None
        Records dated in the future, and the last of their days.
    days : Days
        The window that ``pattern`` mines; the attributes below cover these days.
    n_in_window, n_patterns : int
        Records, and the patterns in them.
    skipped : mapping of str to int
        Reason -> unreadable lines in files that have a record of the window or no readable record.
    skipped_first : mapping of str to str
        Reason -> place of the first such line.
    read_as_absent : mapping of str to Absent
        Field -> records of these files whose value for it is unusable.
    unseen : Unseen
        What the records of the window do not say.
    longest_gap : int or None
        Days from one day with records of the window to the next, at most; None with few days.
    failing : tuple of Failing
        Tools that fail more on the newest day than before.
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
    unseen: Unseen = field(default_factory=Unseen)
    longest_gap: int | None = None
    failing: tuple[Failing, ...] = ()


@dataclass(frozen=True, slots=True)
class Sieved:
    """The number of the window's patterns that would be proposed, and the number each gate refused."""

    n_candidates: int
    fell: Mapping[str, int]


def window(today: date) -> Days:
    """Return the days that ``pattern`` mines by default."""
    return Days(today - timedelta(days=WINDOW_DAYS), today)


def read_log(files: Sequence[FileFacts], *, today: date) -> Log:
    """Compute the figures of the log.

    Parameters
    ----------
    files : sequence of FileFacts
        The facts of all files.
    today : date
        The day in UTC.
    """
    days = window(today)
    counts = _count_days(files)
    past, future = [day for day in counts if day <= today], [day for day in counts if day > today]
    recent = [file for file in files if _may_be_in(file, days)]
    merged = merge(recent, days)
    oddities = find_oddities((file.path, part) for file in recent for part in file.parts)
    return Log(
        n_records=sum(counts.values()),
        n_days=len(counts),
        first=min(past, default=None),
        newest=max(past, default=None),
        n_future=sum(counts[day] for day in future),
        last=max(future, default=None),
        days=days,
        n_in_window=sum(counts[day] for day in past if day >= days.since),
        n_patterns=_count_patterns(merged),
        skipped={reason: n for reason, n in oddities.skipped.items() if reason != "replay"},
        skipped_first={
            reason: place for reason, place in oddities.skipped_first.items() if reason != "replay"
        },
        read_as_absent=oddities.read_as_absent,
        unseen=merged.unseen(),
        longest_gap=_longest_gap(sorted(day for day in past if day >= days.since)),
        failing=find_failing(merged),
    )


def sieve(files: Sequence[FileFacts], *, known: frozenset[str], today: date) -> Sieved:
    """Apply the gates to the window's patterns, as ``pattern`` does by default.

    Parameters
    ----------
    files : sequence of FileFacts
        The facts of all files; the questions of patterns that pass are read.
    known : frozenset of str
        Keys that are not proposed again.
    today : date
        The day in UTC.
    """
    from coreloop.learn.sequences import find_candidates  # imports polars

    search = find_candidates(merge(files, window(today)), known=known)
    return Sieved(len(search.entries), search.dropped)


def _count_patterns(window: Window) -> int:
    """Categories and sequences with a request that counts."""
    patterns = {
        (group.alike.category, window.steps(group).sequence)
        for group in window.requests
        if max(group.column("outcome"), default=RequestOutcome.UNKNOWN) >= RequestOutcome.FAILURE
    }
    return sum(sequence != NO_SEQUENCE for _, sequence in patterns)


def _longest_gap(days: Sequence[date]) -> int | None:
    if len(days) < ENOUGH_DAYS:
        return None
    return max((later - day).days for day, later in pairwise(days))


def _may_be_in(file: FileFacts, days: Days) -> bool:
    """Whether a file has records since the first of the days, or no readable record."""
    newest = newest_day([file])
    return newest is None or newest >= days.since


def _count_days(files: Sequence[FileFacts]) -> Counter[date]:
    counts: Counter[date] = Counter()
    for file in files:
        counts.update({EPOCH_DAY + timedelta(days=day): n for day, n in file.days.items()})
    return counts
