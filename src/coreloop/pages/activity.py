"""What the records of a window say: days, categories, failures, and tools with what surrounds them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

import msgspec
import polars as pl

from coreloop.days import Days
from coreloop.mine.folder import newest_day
from coreloop.mine.rollup import EPOCH_DAY
from coreloop.mine.sample import read_sample
from coreloop.mine.session import Mined, MiningOptions, open_mining
from coreloop.mine.statistics import wilson_interval
from coreloop.mine.window import IS_COUNTED, IS_SUCCESS, Window, merge
from coreloop.pages.charts import Edge, Interval
from coreloop.project.workspace import Workspace
from coreloop.proposals.step import Step
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.records import UNSPECIFIED
from coreloop.status.log import WINDOW_DAYS, Sieved, sieve

QUESTION: Final = "question"
"""Where a value came from that the user gave."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed calls of a tool for one reason; ``wasted_s`` is how long they took, in seconds."""

    tool: str
    error_class: str
    n: int
    wasted_s: float


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """The calls of a tool."""

    name: str
    n: int
    n_failed: int

    @property
    def success(self) -> Interval:
        """The rate of calls that succeeded."""
        return rate_of(self.name, self.n - self.n_failed, self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What the records of a window say.

    Attributes
    ----------
    days : Days
        The 30 days before the newest record.
    by_day : dict of date to int
        Records of each day of the window.
    categories : sequence of Interval
        Success by category, the largest first.
    failures : sequence of Failure
        The most time first.
    tools : sequence of ToolFigures
        The most calls first.
    sieved : Sieved
        The patterns of the last 30 days that would be proposed, and the others by gate.
    follows : mapping
        How often a tool was called right after another one in a request, both by name.
    sources : mapping
        How often the value of a tool's argument came from a tool's result or from the question: (tool,
        argument, source) -> calls, of a sample of requests.
    """

    days: Days
    by_day: dict[date, int]
    categories: Sequence[Interval]
    failures: Sequence[Failure]
    tools: Sequence[ToolFigures]
    sieved: Sieved
    follows: Mapping[tuple[str, str], int] = field(default_factory=dict)
    sources: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    def tool(self, name: str) -> ToolFigures | None:
        """Return the figures of a tool."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def around(self, name: str) -> list[Edge]:
        """Return what was called right before and right after a tool."""
        pairs = ((pair, n) for pair, n in self.follows.items() if name in pair)
        return [Edge(*pair, n) for pair, n in pairs]


def shared(activity: Activity, words: Vocabulary) -> Activity:
    """Return the activity without categories and tools that only the log names."""
    declared = {rule.label for rule in words.settings.categories}
    is_known = words.is_known
    return replace(
        activity,
        categories=[rate for rate in activity.categories if rate.label in {*declared, UNSPECIFIED}],
        failures=[one for one in activity.failures if is_known(one.tool)],
        tools=[tool for tool in activity.tools if is_known(tool.name)],
        follows={pair: n for pair, n in activity.follows.items() if all(map(is_known, pair))},
        sources={
            place: n
            for place, n in activity.sources.items()
            if is_known(place[0])
            and (place[2] == QUESTION or is_known(place[2]))
            and place[1] in words.parameters(place[0])
        },
    )


def read_activity(workspace: Workspace, *, now: datetime) -> Activity:
    """Read the figures of the newest 30 days that have records.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    GitError
        The clone is shallow, so its promotions cannot be read.
    """
    with open_mining(workspace, MiningOptions()) as mined:
        until = min(newest_day(mined.rollups) or now.date(), now.date())
        days = Days(until - timedelta(days=WINDOW_DAYS), until)
        window = merge(mined.rollups, days)
        return Activity(
            days=days,
            by_day=_by_day(window, days),
            categories=_categories(window),
            failures=_failures(window),
            tools=_tools(window),
            sieved=_sieved(mined, until),
            follows=_follows(window),
            sources=_sources(window),
        )


def rate_of(label: str, hits: int, n: int) -> Interval:
    """Return a rate with its 95 % interval (Wilson); ``n`` is at least 1."""
    low, high = wilson_interval(hits, n)
    return Interval(label=label, low=low, value=hits / n, high=high, note=f"{hits:,} / {n:,}")


def _by_day(window: Window, days: Days) -> dict[date, int]:
    counted = dict(window.groups.group_by("day").agg(pl.col("n").sum()).collect().iter_rows())
    first = (days.since - EPOCH_DAY).days
    last = (days.until - EPOCH_DAY).days
    return {EPOCH_DAY + timedelta(days=day): counted.get(day, 0) for day in range(first, last + 1)}


def _categories(window: Window) -> list[Interval]:
    n, n_ok = pl.col("n").sum(), pl.col("n").filter(IS_SUCCESS).sum()
    rows = window.groups.filter(IS_COUNTED).group_by("category").agg(n=n, ok=n_ok).sort("n", "category")
    return [rate_of(category, ok, n) for category, n, ok in reversed(rows.collect().rows())]


def _failures(window: Window) -> list[Failure]:
    failed = window.calls.filter(pl.col("error_class") != "")
    rows = failed.group_by("tool", "error_class").agg(pl.col("n").sum(), pl.col("wasted_us").sum())
    ordered = rows.sort("wasted_us", "n", "tool", "error_class", descending=[True, True, False, False])
    return [Failure(tool, reason, n, us / 1e6) for tool, reason, n, us in ordered.collect().iter_rows()]


def _tools(window: Window) -> list[ToolFigures]:
    failed = pl.col("n").filter(pl.col("error_class") != "").sum()
    rows = window.calls.group_by("tool").agg(n=pl.col("n").sum(), failed=failed)
    return [ToolFigures(*row) for row in rows.sort("n", "tool", descending=[True, False]).collect().rows()]


def _sieved(mined: Mined, until: date) -> Sieved:
    known = mined.known_keys()
    return sieve(mined.rollups, mined.workspace.settings.gates, known=known, today=until)


def _follows(window: Window) -> Counter[tuple[str, str]]:
    counts = dict(window.groups.group_by("shape").agg(pl.col("n").sum()).collect().iter_rows())
    pairs: Counter[tuple[str, str]] = Counter()
    for shape, text in window.texts_of("shape", counts).items():
        steps = msgspec.json.decode(text, type=tuple[Step, ...])
        for first, second in pairwise(steps):
            pairs[first.name, second.name] += counts[shape]
    return pairs


def _sources(window: Window) -> Counter[tuple[str, str, str]]:
    sample = read_sample(window)
    tools = sorted({call.tool for _, _, call in sample.calls()}, key=len, reverse=True)
    counted: Counter[tuple[str, str, str]] = Counter()
    for _, _, call in sample.calls():
        for name, argument in call.arguments.items():
            if argument.sources:
                counted[call.tool, name, _tool_of(argument.sources[0], tools)] += 1
    return counted


def _tool_of(path: str, tools: Sequence[str]) -> str:
    """Return the tool whose result a path such as ``list_orders[].id`` is in, or `QUESTION`."""
    return next((tool for tool in tools if path.startswith(tool)), path)
