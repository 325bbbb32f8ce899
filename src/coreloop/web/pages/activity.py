"""What the records of a window say: how requests and calls end, by category, tool and cause."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Final

import polars as pl

from coreloop.admin.status.log_figures import WINDOW_DAYS, Sieved, sieve
from coreloop.base.date_range import Days
from coreloop.base.errors import GitError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import UNSPECIFIED
from coreloop.learn.facts.descriptions import last_sent
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.mine.run import Mined, MiningOptions, open_mining
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, merge
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.verdicts.proposal_state import kept_states, settled_keys
from coreloop.observe.reading.outcome import Unseen
from coreloop.web.pages.charts import Interval, rate_of

_MAX_SENT: Final = 20
"""Sets of descriptions, the newest; agents of a project have a set each, or two in the days of a change."""


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """Failed calls of a tool for one reason; ``wasted_s`` is how long they took, in seconds."""

    tool: str
    error_class: str
    n: int
    wasted_s: float


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
    n_records, n_neutral : int
        Requests, and those of them that are neither success nor failure.
    categories : sequence of Interval
        Success by category, the largest first.
    failures : sequence of ToolFailure
        The most time first.
    tools : sequence of ToolMetrics
        The most calls first.
    sieved : Sieved
        The patterns of these days that would be proposed, and the others by gate.
    sent : mapping of str to str
        Each tool's description as models were last sent it, where records name it.
    """

    days: Days
    n_records: int
    n_neutral: int
    unseen: Unseen
    categories: Sequence[Interval]
    failures: Sequence[ToolFailure]
    tools: Sequence[ToolMetrics]
    sieved: Sieved
    sent: dict[str, str] = field(default_factory=dict)


def shared(activity: Activity, words: Vocabulary) -> Activity:
    """Return the activity without categories and tools that only the log names."""
    declared = {UNSPECIFIED, *(rule.label for rule in words.settings.categories)}
    known = {tool.name for tool in activity.tools if words.is_known(tool.name)}
    return replace(
        activity,
        categories=[rate for rate in activity.categories if rate.label in declared],
        failures=[failure for failure in activity.failures if failure.tool in known],
        tools=[tool for tool in activity.tools if tool.name in known],
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
            n_records=window.records_by_day().total(),
            n_neutral=window.n_neutral(),
            unseen=window.unseen(),
            categories=_categories(window),
            failures=_failures(window),
            tools=_tools(window),
            sieved=_sieved(mined, until),
            sent=dict(last_sent(workspace.audit_dir, _newest_sent(window))),
        )


def _categories(window: Window) -> list[Interval]:
    n, n_ok = pl.col("n").sum(), pl.col("n").filter(IS_SUCCESS).sum()
    rows = window.groups.filter(IS_COUNTED).group_by("category").agg(n=n, ok=n_ok).sort("n", "category")
    return [rate_of(category, ok, n) for category, n, ok in reversed(rows.collect().rows())]


def _failures(window: Window) -> list[ToolFailure]:
    failed = window.calls.filter(pl.col("error_class") != "")
    rows = failed.group_by("tool", "error_class").agg(pl.col("n").sum(), pl.col("wasted_us").sum() / 1e6)
    ordered = rows.sort("wasted_us", "n", "tool", "error_class", descending=[True, True, False, False])
    return [ToolFailure(*row) for row in ordered.collect().rows()]


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
