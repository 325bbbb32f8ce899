"""What the records of a window say: days, categories, failures, and tools with what surrounds them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

import msgspec
import polars as pl

from coreloop.admin.status.log_figures import WINDOW_DAYS, Sieved, sieve
from coreloop.base.date_range import Days
from coreloop.base.errors import GitError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import UNSPECIFIED
from coreloop.learn.facts.descriptions import last_sent
from coreloop.learn.line import Step
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.mine.run import Mined, MiningOptions, open_mining
from coreloop.learn.mine.statistics import wilson_interval
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, count_sources, merge
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.verdicts.proposal_state import kept_states, settled_keys
from coreloop.observe.reading.outcome import Unseen
from coreloop.web.pages.charts import Interval

BEGIN: Final = "the request begins"
END: Final = "the request ends"
QUESTION: Final = "question"
"""Where a value came from that the user gave."""
_MAX_CAUSES: Final = 8
_MAX_SENT: Final = 20
"""Sets of descriptions, the newest; agents of a project have a set each, or two in the days of a change."""


@dataclass(frozen=True, slots=True)
class Edge:
    """How many calls lead from one thing to another."""

    start: str
    end: str
    weight: int


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """Failed calls of a tool for one reason; ``wasted_s`` is how long they took, in seconds."""

    tool: str
    error_class: str
    n: int
    wasted_s: float


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """Failed calls of a tool whose errors differ in values only; ``text`` is the error without them."""

    tool: str
    error_class: str
    text: str
    n: int


@dataclass(frozen=True, slots=True)
class ToolMetrics:
    """The calls of a tool; ``wasted_s`` is how long the failed ones took, in seconds."""

    name: str
    n: int
    n_failed: int
    wasted_s: float

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
    n_neutral : int
        Requests that are neither success nor failure.
    categories : sequence of Interval
        Success by category, the largest first.
    failures : sequence of ToolFailure
        The most time first.
    causes : sequence of ErrorGroup
        The most calls first; at most eight of a tool.
    tools : sequence of ToolMetrics
        The most calls first.
    sieved : Sieved
        The patterns of these days that would be proposed, and the others by gate.
    follows : mapping
        How often a tool's successful call came right after another's in a request, both by name; a request
        begins with `BEGIN` and ends with `END`.
    sources : mapping
        How often the value of a tool's argument came from a tool's result or from the question: (tool,
        argument, source) -> calls.
    sent : mapping of str to str
        Each tool's description as models were last sent it, where records name it.
    """

    days: Days
    by_day: Mapping[date, int]
    n_neutral: int
    unseen: Unseen
    categories: Sequence[Interval]
    failures: Sequence[ToolFailure]
    causes: Sequence[ErrorGroup]
    tools: Sequence[ToolMetrics]
    sieved: Sieved
    follows: Mapping[tuple[str, str], int] = field(default_factory=dict)
    sources: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """Records of the window."""
        return sum(self.by_day.values())

    def tool(self, name: str) -> ToolMetrics | None:
        """Return the figures of a tool."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def before(self, name: str) -> list[Edge]:
        """Return what comes right before a tool, the most frequent first."""
        return heaviest(Edge(*pair, n) for pair, n in self.follows.items() if pair[1] == name)

    def after(self, name: str) -> list[Edge]:
        """Return what comes right after a tool, the most frequent first."""
        return heaviest(Edge(*pair, n) for pair, n in self.follows.items() if pair[0] == name)


def shared(activity: Activity, words: Vocabulary) -> Activity:
    """Return the activity without errors, and without categories and tools that only the log names."""
    declared = {rule.label for rule in words.settings.categories}
    known = {tool.name for tool in activity.tools if words.is_known(tool.name)}
    return replace(
        activity,
        categories=[rate for rate in activity.categories if rate.label in {*declared, UNSPECIFIED}],
        failures=[failure for failure in activity.failures if failure.tool in known],
        causes=(),
        tools=[tool for tool in activity.tools if tool.name in known],
        follows={pair: n for pair, n in activity.follows.items() if {*pair} <= {*known, BEGIN, END}},
        sources={
            (tool, argument, place): n
            for (tool, argument, place), n in activity.sources.items()
            if tool in known and argument in words.parameters(tool) and place in {*known, QUESTION}
        },
        sent={tool: text for tool, text in activity.sent.items() if tool in known},
    )


def read_activity(workspace: Workspace, *, now: datetime) -> Activity:
    """Read the figures of the newest 30 days that have records.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    """
    with open_mining(workspace, MiningOptions()) as mined:
        until = min(newest_day(mined.files) or now.date(), now.date())
        days = Days(until - timedelta(days=WINDOW_DAYS), until)
        window = merge(mined.files, days)
        return Activity(
            days=days,
            by_day=_by_day(window, days),
            n_neutral=window.n_neutral(),
            unseen=window.unseen(),
            categories=_categories(window),
            failures=_failures(window),
            causes=_causes(window),
            tools=_tools(window),
            sieved=_sieved(mined, until),
            follows=_follows(window),
            sources=_sources(window),
            sent=last_sent(workspace.audit_dir, _newest_sent(window)),
        )


def heaviest(edges: Iterable[Edge]) -> list[Edge]:
    """Sort edges by weight, the greatest first."""
    return sorted(edges, key=lambda edge: (-edge.weight, edge.start, edge.end))


def rate_of(label: str, hits: int, n: int) -> Interval:
    """Return a rate with its 95 % interval (Wilson); ``n`` is at least 1."""
    low, high = wilson_interval(hits, n)
    return Interval(label=label, low=low, value=hits / n, high=high, note=f"{hits:,} / {n:,}")


def _by_day(window: Window, days: Days) -> dict[date, int]:
    counted = window.records_by_day()
    all_days = (days.since + timedelta(days=n) for n in range((days.until - days.since).days + 1))
    return {day: counted[day] for day in all_days}


def _categories(window: Window) -> list[Interval]:
    n, n_ok = pl.col("n").sum(), pl.col("n").filter(IS_SUCCESS).sum()
    rows = window.groups.filter(IS_COUNTED).group_by("category").agg(n=n, ok=n_ok).sort("n", "category")
    return [rate_of(category, ok, n) for category, n, ok in reversed(rows.collect().rows())]


def _failures(window: Window) -> list[ToolFailure]:
    failed = window.calls.filter(pl.col("error_class") != "")
    rows = failed.group_by("tool", "error_class").agg(pl.col("n").sum(), pl.col("wasted_us").sum())
    ordered = rows.sort("wasted_us", "n", "tool", "error_class", descending=[True, True, False, False])
    return [ToolFailure(tool, reason, n, us / 1e6) for tool, reason, n, us in ordered.collect().iter_rows()]


def _causes(window: Window) -> list[ErrorGroup]:
    failed = window.calls.filter(pl.col("error_class") != "")
    keys = ("tool", "error_class", "template")
    ordered = failed.group_by(keys).agg(pl.col("n").sum()).sort("n", *keys, descending=[True, *[False] * 3])
    rows = ordered.group_by("tool", maintain_order=True).head(_MAX_CAUSES).collect()
    texts = window.texts_of("template", rows["template"])
    causes = (ErrorGroup(tool, name, texts.get(text, ""), n) for tool, name, text, n in rows.iter_rows())
    return sorted(causes, key=lambda cause: -cause.n)


def _tools(window: Window) -> list[ToolMetrics]:
    failed = pl.col("n").filter(pl.col("error_class") != "").sum()
    wasted_s = pl.col("wasted_us").sum() / 1e6
    rows = window.calls.group_by("tool").agg(n=pl.col("n").sum(), failed=failed, wasted=wasted_s)
    return [ToolMetrics(*row) for row in rows.sort("n", "tool", descending=[True, False]).collect().rows()]


def _sieved(mined: Mined, until: date) -> Sieved:
    try:
        known = settled_keys(kept_states(mined.workspace, mined.judgments))
    except GitError:  # a shallow clone: what is promoted counts as new
        known = mined.judgments.rejected()
    return sieve(mined.files, mined.workspace.settings.gates, known=known, today=until)


def _newest_sent(window: Window) -> list[str]:
    named = window.all_requests().filter(pl.col("descriptions").is_not_null())
    newest = named.group_by("descriptions").agg(pl.col("ts_us").max()).top_k(_MAX_SENT, by="ts_us")
    return newest.sort("ts_us", "descriptions", descending=True).collect()["descriptions"].to_list()


def _follows(window: Window) -> Counter[tuple[str, str]]:
    counts = dict(window.groups.group_by("shape").agg(pl.col("n").sum()).collect().iter_rows())
    pairs: Counter[tuple[str, str]] = Counter()
    for shape, text in window.texts_of("shape", counts).items():
        steps = msgspec.json.decode(text, type=tuple[Step, ...])
        names = [BEGIN, *(step.name for step in steps), END] if steps else []
        for pair in pairwise(names):
            pairs[pair] += counts[shape]
    return pairs


def _sources(window: Window) -> Counter[tuple[str, str, str]]:
    counts = count_sources(window)
    texts = window.texts_of("sources", counts["sources"].unique())
    tools = sorted(window.calls.select("tool").unique().collect()["tool"], key=len, reverse=True)
    counted: Counter[tuple[str, str, str]] = Counter()
    for tool, name, sources, n in counts.iter_rows():
        if paths := msgspec.json.decode(texts[sources], type=tuple[str, ...]):
            counted[tool, name, _tool_of(paths[0], tools)] += n
    return counted


def _tool_of(path: str, tools: Sequence[str]) -> str:
    """Return the tool whose result a path such as ``list_orders[].id`` is in, or ``question``.

    Names of tools may have dots, so the longest that fits is the tool; ``tools`` are sorted accordingly.
    """
    fitting = (tool for tool in tools if path.startswith(tool) and path[len(tool) :][:1] in {"", ".", "["})
    return next(fitting, re.split(r"[.\[]", path, maxsplit=1)[0])
