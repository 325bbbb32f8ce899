"""The section on health: what the records say, where things fall, what failures cost; and the errors."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

import polars as pl

from coreloop.admin.status.log_figures import WINDOW_DAYS, Sieved, sieve
from coreloop.admin.status.read_status import read_status
from coreloop.admin.status.status import Status
from coreloop.base.date_range import Days
from coreloop.base.errors import CoreloopError, GitError, WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import UNSPECIFIED
from coreloop.learn.mine.folder import Mined, mine, newest_day
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.proposal_files import CounterexamplesFile, read_night
from coreloop.learn.verdicts.proposal_state import IN_FORCE, kept_states, settled_keys
from coreloop.observe.descriptions_in_force import last_sent
from coreloop.observe.reading.outcome import RequestOutcome, Unseen
from coreloop.web.pages.changes import read_decided
from coreloop.web.pages.charts import Bar, Interval, count, rate_of, seconds
from coreloop.web.pages.page_data import PageSection, PageSnapshot, PageSource, View
from coreloop.web.pages.waiting_proposals import read_kept_proposals, vocabulary
from coreloop.web.pages.work import WORK_BUTTONS, read_work


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


def read_activity(workspace: Workspace, *, now: datetime) -> Activity:
    """Read the figures of the newest 30 days that have records.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    """
    mined = mine(workspace)
    until = min(newest_day(mined.files) or now.date(), now.date())
    days = Days(until - timedelta(days=WINDOW_DAYS), until)
    window = merge(mined.files, days)
    failed, sent = window.frames.failed_calls, last_sent(workspace.audit_dir, window.newest_sent())
    return Activity(
        days=days,
        n_records=window.n_records(),
        n_neutral=window.n_of(RequestOutcome.NEUTRAL),
        unseen=window.unseen(),
        categories=_categories(window),
        failures=_failures(failed),
        tools=_tools(window, failed),
        sieved=_sieved(mined, until),
        sent={tool: texts[0] for tool, texts in sent.items()},
    )


def _categories(window: Window) -> list[Interval]:
    counts = defaultdict[str, Counter[bool]](Counter)
    for group in window.requests:
        for outcome in (RequestOutcome.SUCCESS, RequestOutcome.FAILURE):
            counts[group.alike.category][outcome == RequestOutcome.SUCCESS] += group.n_of(outcome)
    totals = ((n.total(), category, n[True]) for category, n in counts.items() if n.total())
    rows = sorted(totals, reverse=True)
    return [rate_of(category, ok, n) for n, category, ok in rows]


def _failures(failed: pl.DataFrame) -> list[ToolFailure]:
    sums = failed.group_by("tool", "error_class").agg(n=pl.len(), wasted_s=pl.col("duration_us").sum() / 1e6)
    ordered = sums.sort("wasted_s", "n", "tool", "error_class", descending=[True, True, False, False])
    return [ToolFailure(*row) for row in ordered.rows()]


def _tools(window: Window, failed: pl.DataFrame) -> list[ToolMetrics]:
    sums = failed.group_by("tool").agg(n=pl.len(), wasted_s=pl.col("duration_us").sum() / 1e6)
    of_tools, totals = {tool: (n, wasted_s) for tool, n, wasted_s in sums.rows()}, Counter[str]()
    for call, n in window.calls.items():
        totals[call.tool] += n * call.is_known
    rows = sorted((+totals).items(), key=lambda row: (-row[1], row[0]))
    return [ToolMetrics(tool, n, *of_tools.get(tool, (0, 0.0))) for tool, n in rows]


def _sieved(mined: Mined, until: date) -> Sieved:
    try:
        known = settled_keys(kept_states(mined.workspace, mined.judgments))
    except GitError:  # a shallow clone: what is promoted counts as new
        known = mined.judgments.rejected()
    return sieve(mined.files, known=known, today=until)


_MAX_SHOWN: Final = 12
_GATES: Final = {
    "min_repeat": ("too few requests", "record more, or run pattern with a lower --min-repeat"),
    "min_success_rate": ("too many failures", "look at the failing tools"),
    "min_unique_questions": ("too few different questions", "record more"),
    "steps_not_recorded": ("calls were omitted from the records", ""),
    "known": ("promoted, on a branch or rejected already", ""),
}
"""Gate -> why a pattern does not pass it, and what to do."""
_REFUSALS: Final = {"weak": "the evidence is weak", "redundant": "another line or the docstring says it"}


@dataclass(frozen=True, slots=True)
class Fall:
    """What does not go on to the next stage: how many, why, and what to do, if anything."""

    stage: str
    reason: str
    n: int
    todo: str = ""


def read_health(source: PageSource) -> View:
    """Read the state of the loop, and the activity of the newest days with records."""
    status, problem = _status(source)
    kept = read_kept_activity(source)
    activity = kept.value if kept is not None and kept.value.n_records else None
    view: dict[str, Any] = {
        "status": status.value if status else None,
        "read": [snapshot for snapshot in (status, kept) if snapshot],
        "problem": problem,
        **(read_decided(source) if status else {"decided": [], "changes": [], "counts": {}}),
        **read_work(source),
        "asked": source.tables.asked(),
        "activity": activity,
    }
    if activity is None:
        return view
    return view | {
        "funnel": _funnel(source, view["status"], activity),
        "falls": _falls(source, activity),
        "categories": activity.categories[:_MAX_SHOWN],
        "wasted": [
            Bar(f"{one.tool}: {one.error_class}", one.wasted_s, f"{seconds(one.wasted_s)}, {count(one.n)} ×")
            for one in activity.failures[:_MAX_SHOWN]
        ],
    }


def read_kept_activity(source: PageSource) -> PageSnapshot[Activity] | None:
    """Return what the records say; None if nothing was recorded."""
    workspace = source.workspace
    if not workspace.records_dir.is_dir():
        return None
    places = [workspace.records_dir, workspace.judgments_dir, workspace.replays_file]
    kept = source.snapshots.get("activity", places, lambda: read_activity(workspace, now=source.now))
    if not source.is_shared:
        return kept
    return source.snapshots.get("shared activity", places, lambda: _shared(source, kept.value))


def _shared(source: PageSource, activity: Activity) -> Activity:
    """The activity without categories and tools that only the log names."""
    words = vocabulary(source.workspace, [tool.name for tool in activity.tools])
    declared = {UNSPECIFIED, *(rule.label for rule in words.settings.categories)}
    known = {tool.name for tool in activity.tools if words.is_known(tool.name)}
    return replace(
        activity,
        categories=[rate for rate in activity.categories if rate.label in declared],
        failures=[failure for failure in activity.failures if failure.tool in known],
        tools=[tool for tool in activity.tools if tool.name in known],
        sent={tool: text for tool, text in activity.sent.items() if tool in known},
    )


def _status(source: PageSource) -> tuple[PageSnapshot[Status] | None, str]:
    """The state of the loop, or why it cannot be read, such as for a shallow clone."""
    workspace = source.workspace
    places = [
        *(workspace.records_dir, workspace.judgments_dir, workspace.candidates_dir),
        *(workspace.counterexamples_dir, workspace.dropped_file, workspace.reach_file),
        *source.git_places,
    ]
    read = partial(read_status, source.workspace, now=source.now, environ=source.environ)
    try:
        return source.snapshots.get("status", places, read), ""
    except CoreloopError as error:
        return None, str(error)


def _funnel(source: PageSource, status: Status | None, activity: Activity) -> list[Bar]:
    """From the records of the window to what was merged."""
    proposals = read_kept_proposals(source)
    # A file of today may have replaced the one in which a promoted proposal stood.
    promoted = status.promoted_keys if status is not None else frozenset[str]()
    with_text = {key for key, proposal in proposals.items() if proposal.entry.refused is None}
    steps = {
        "Records": activity.n_records,
        "Sequences": sum(activity.sieved.fell.values()) + activity.sieved.n_candidates,
        "Proposals": len(proposals.keys() | promoted),
        "Proposals with a text": len(with_text | promoted),
    }
    if status is not None and status.promotions is not None:
        steps["Pull requests"] = len(promoted)
        steps["Merged"] = sum(one.state in IN_FORCE for one in status.states)
    return [Bar(label, n, count(n)) for label, n in steps.items()]


def _falls(source: PageSource, activity: Activity) -> list[Fall]:
    """What goes no further, stage by stage."""
    falls = [Fall("Records", "neither success nor failure", activity.n_neutral)]
    for of_what, reasons in (("Records", activity.unseen.requests), ("Calls", activity.unseen.calls)):
        falls += [Fall(of_what, f"unknown whether they worked: {why}", n) for why, n in reasons.items()]
    falls.append(Fall("Calls", "failed, but only read like failures", activity.unseen.guessed))
    for gate, n in activity.sieved.fell.items():
        reason, todo = _GATES.get(gate, (gate, ""))
        falls.append(Fall("Sequences", reason, n, todo))
    refused = (proposal.entry.refused for proposal in read_kept_proposals(source).values())
    kinds = Counter(reason.partition(":")[0] for reason in refused if reason is not None)
    for reason, n in kinds.most_common(_MAX_SHOWN):
        falls.append(Fall("Proposals", _REFUSALS.get(reason, reason), n))
    return [fall for fall in falls if fall.n]


HEALTH: Final = PageSection(name="health", title="Health", read=read_health, actions=WORK_BUTTONS)


def read_errors(workspace: Workspace) -> CounterexamplesFile | None:
    """Read the newest readable file of ``refine``, which has the table of errors; None if it never ran."""
    for path in sorted(workspace.counterexamples_dir.glob("????-??-??-counterexamples.json"), reverse=True):
        with suppress(WorkspaceError):  # status names damaged files
            return read_night(path, CounterexamplesFile)
    return None


def read_table(source: PageSource) -> View:
    """Return the table; a shared page has none, since an error's text may name what only users know."""
    folders, read = [source.workspace.counterexamples_dir], partial(read_errors, source.workspace)
    table = None if source.is_shared else source.snapshots.get("errors", folders, read).value
    return {"table": table, "is_shared": source.is_shared}
