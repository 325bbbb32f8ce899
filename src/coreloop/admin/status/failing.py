"""Tools that fail more on the newest day than they ever did before."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from coreloop.learn.mine.cases import MIN_DIFFERENCE
from coreloop.learn.mine.rollup import EPOCH_DAY
from coreloop.learn.mine.rows import DAY_US
from coreloop.learn.mine.sample import Sample
from coreloop.learn.mine.statistics import fisher_exact

MIN_CALLS: Final = 20
"""Calls that the day and its past need: 20 points of 20 calls are four failures."""
MIN_PAST_DAYS: Final = 3
"""Earlier days that are a past; with fewer, no day is unusual."""
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


def find_failing(sample: Sample) -> tuple[Failing, ...]:
    """Compare the newest day of each tool with its own past, the worst first.

    Parameters
    ----------
    sample : Sample
        Of the window.

    Returns
    -------
    tuple of Failing
        Tools whose failing share on the newest day of the log is 20 points above that of the days before,
        above each of them that has enough calls, and surely so (Fisher).
    """
    counts: defaultdict[str, defaultdict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    newest = max((request.ts_us // DAY_US for request in sample.requests), default=0)
    for request, _, call in sample.calls():
        counts[call.tool][request.ts_us // DAY_US].append(not call.ok)
    limit = _SURE / max(1, len(counts))
    failing = (_compare(tool, days, newest, limit) for tool, days in counts.items() if newest in days)
    return tuple(sorted(filter(None, failing), key=lambda tool: (-tool.n_failed, tool.tool)))


def _compare(tool: str, days: Mapping[int, list[bool]], newest: int, limit: float) -> Failing | None:
    today, earlier = days[newest], [calls for day, calls in days.items() if day < newest]
    past = [failed for calls in earlier for failed in calls]
    if min(len(today), len(past)) < MIN_CALLS or len(earlier) < MIN_PAST_DAYS:
        return None
    share = sum(today) / len(today)
    is_higher = share - sum(past) / len(past) >= MIN_DIFFERENCE and share > max(_shares(earlier), default=0.0)
    if not is_higher or fisher_exact(sum(today), len(today), sum(past), len(past)) > limit:
        return None
    day = EPOCH_DAY + timedelta(days=newest)
    return Failing(tool, day, sum(today), len(today), sum(past), len(past))


def _shares(days: list[list[bool]]) -> Iterator[float]:
    return (sum(calls) / len(calls) for calls in days if len(calls) >= MIN_CALLS)
