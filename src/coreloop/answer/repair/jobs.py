"""Runs and repairs as jobs of workers; gates, which measure what is described; figures of answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import ACTIONS, ANSWER_AGAIN, Reason, signalled
from coreloop.answer.repair.rounds import job_handlers, put_jobs
from coreloop.answer.repair.store import Gate, Snapshot
from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.run import continue_research, keep_ended_late
from coreloop.answer.search.index.run import File, read_coverage
from coreloop.answer.search.index.search_index import public_functions
from coreloop.base.errors import RunBusyError, RunEndedError, RunNotFoundError, UsageError
from coreloop.runs.active_run import Run
from coreloop.runs.driver.driven_run import is_driven
from coreloop.runs.events import Ended
from coreloop.runs.jobs.queue import Job, JobQueue
from coreloop.runs.jobs.work import Handler
from coreloop.runs.load import load_run
from coreloop.runs.manage import begin_run, read_run, resume_run, stop_run
from coreloop.runs.state import State
from coreloop.runs.stores.accounts import utc_day
from coreloop.runs.stores.store import Store

# Of the jobs that work on runs, by the kind of the run.
JOB_NAMES: Final[Mapping[str, str]] = {RESEARCH: "run.research", ANSWER: "run.ask"}
KIND: Final = "gate"  # of the runs that have the gates' signals
_DROPS: Final[dict[Gate, Reason]] = {"coverage": "coverage_drop", "io": "io_gate_drop"}
_LEAST_POINTS: Final = 0.01  # chosen, as the next: one file of a small project is no drop
_LEAST_ITEMS: Final = 3  # chosen: one or two are an edit, no drop
_WORST: Final = 10  # chosen: what a person reads of a drop
_MOST_JOBS: Final = 50  # of a drop: the next reading finds what is left


def queue_run(queue: JobQueue, kind: str, run_id: str, *, is_new: bool = True) -> Job:
    """Put the work on a run into a queue.

    Parameters
    ----------
    queue : JobQueue
        Of the project.
    kind : str
        Of the run: ``research`` or ``ask``.
    run_id : str
        Of a run in the store.
    is_new : bool
        A second job of a new run is the first one; a run that was paused gets another.
    """
    return queue.put(JOB_NAMES[kind], {"run": run_id}, key=f"run {run_id}" if is_new else "")


def go_on(store: Store, queue: JobQueue, run_id: str) -> State:
    """Let a paused run go on; a worker takes it if workers know its kind.

    Raises
    ------
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    UsageError
        An agent or a driver drives it: a person who can be told from the agent lets it go on.
    """
    state = read_run(store, run_id)
    if is_driven(state) or state.drives_itself:
        who = "an agent" if state.drives_itself else "a command"
        raise UsageError(f"{who} drives this run; in a terminal: dartlab-coreloop runs resume {run_id}")
    state = resume_run(store, run_id)
    if state.kind in JOB_NAMES:
        queue_run(queue, state.kind, run_id, is_new=False)
    return state


def stop_queued(store: Store, queue: JobQueue, run_id: str) -> State:
    """End a run as `coreloop.runs.manage.stop_run`; the record of an idle one is a worker's job."""
    state = stop_run(store, run_id)
    if state.kind in JOB_NAMES:
        with suppress(RunBusyError):
            with store.hold(run_id):
                pass
            queue_run(queue, state.kind, run_id, is_new=False)
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """A gate now, and on the last day before.

    Attributes
    ----------
    before : Snapshot or None
        None if there is none.
    worst : tuple of (str, int)
        Files with the most that is not good, and how much that is.
    signal : str or None
        The reason of the signal that the fall raised; its jobs are in the queue.
    """

    now: Snapshot
    before: Snapshot | None
    worst: tuple[tuple[str, int], ...]
    signal: Reason | None = None


def read_gates(deps: Deps, *, now: datetime) -> list[GateReading]:
    """Measure both gates, keep the day's snapshots, and let a fall become a signal and jobs.

    Parameters
    ----------
    deps : Deps
        Index, store, queue and tables.
    now : datetime
        In UTC.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    coverage = read_coverage(deps.workspace)
    stale = [file.location for file in coverage.pending]
    functions = public_functions(deps.workspace.index_file)
    # functions of files that are stale count as not good: what the index says of them may be wrong
    poor = [place for place, is_documented in functions if not is_documented or place in stale]
    day = now.date()
    covered = Snapshot(day, "coverage", coverage.fresh, coverage.fresh + len(stale))
    described = Snapshot(day, "io", len(functions) - len(poor), len(functions))
    readings = [_compare(deps, covered, stale), _compare(deps, described, poor)]
    for reading in readings:
        if reading.signal:
            _raise(deps, reading.signal, reading.worst[0][0], coverage.pending[:_MOST_JOBS], now)
    return readings


def has_fallen(now: Snapshot, before: Snapshot) -> bool:
    """Return whether a gate fell by at least one point and three items."""
    lost = (now.total - now.good) - (before.total - before.good)
    return before.share - now.share >= _LEAST_POINTS and lost >= _LEAST_ITEMS


def _compare(deps: Deps, snapshot: Snapshot, lacking: Sequence[str]) -> GateReading:
    kept = deps.tables.snapshots(snapshot.gate)
    before = next((other for other in kept if other.day < snapshot.day), None)
    deps.tables.put_snapshot(snapshot)
    reason = _DROPS[snapshot.gate] if before and has_fallen(snapshot, before) else None
    worst = tuple(Counter(lacking).most_common(_WORST))
    return GateReading(now=snapshot, before=before, worst=worst, signal=reason)


def _raise(deps: Deps, reason: Reason, worst: str, files: Sequence[File], now: datetime) -> None:
    """Store a signal in the event store, and put its jobs into the queue."""
    run_id = begin_run(deps.workspace, deps.store, f"{reason} {now.date()}", kind=KIND, now=now)
    folding, newest = load_run(deps.store, run_id)
    noted = signalled("gate", reason, trace_id=folding.state.trace_id, now=now, file=worst)
    deps.store.append(run_id, [noted, Ended(at=now, status="completed")], after=newest)
    put_jobs(deps, folding.state, ACTIONS[reason][0], files)


def all_handlers(
    deps: Deps, *, shutdown: Event | None = None, show: Callable[[Run], None] = lambda _: None
) -> Mapping[str, Handler]:
    """Return what does each job: runs, repairs, and answering rejected questions again.

    Parameters
    ----------
    deps : Deps
        Shared by all threads.
    shutdown : threading.Event or None
        When it is set, runs are left at their next step.
    show : callable
        Called after each committed iteration and at the end of a run that was queued.
    """
    return {
        **job_handlers(deps),
        **dict.fromkeys((*JOB_NAMES.values(), ANSWER_AGAIN), partial(_work_on, deps, shutdown, show)),
    }


def _work_on(deps: Deps, shutdown: Event | None, show: Callable[[Run], None], job: Job) -> None:
    """Work on a run to its end; one that was forgotten since it was queued has none."""
    run_id = str(job.payload["run"])
    with suppress(RunNotFoundError):
        try:
            continue_research(run_id, deps, show=show, shutdown=shutdown)
        except RunEndedError:  # in a process that may have died then
            keep_ended_late(run_id, deps)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayMetrics:
    """What happened on a day.

    Attributes
    ----------
    day : str
        ISO date (UTC); of the last 24 hours the one that they end on.
    evidence : dict of str to int
        Sources that the last attempts were given, by where they come from.
    feedback : dict of str to int
        ``up`` and ``down``.
    """

    day: str
    evidence: dict[str, int] = field(default_factory=dict)
    feedback: dict[str, int] = field(default_factory=dict)


def read_days(
    deps: Deps, *, now: datetime, days: int = 30, day_of: Callable[[datetime], str] = utc_day
) -> list[DayMetrics]:
    """Count by day what happened in so many days, the newest first; days without anything are left out."""
    since, counted = now - timedelta(days=days), dict[str, DayMetrics]()

    def of(moment: datetime) -> DayMetrics:
        return counted.setdefault(day_of(moment), DayMetrics(day=day_of(moment)))

    for row in deps.tables.answers(since=since):
        evidence = of(row.ended_at).evidence
        evidence.update(Counter(evidence) + Counter(row.found))
    for rating in deps.tables.feedback_since(since):
        feedback = of(rating.created_at).feedback
        feedback[rating.kind] = feedback.get(rating.kind, 0) + 1
    return sorted(counted.values(), key=lambda one: one.day, reverse=True)


def read_last_day(deps: Deps, *, now: datetime) -> DayMetrics:
    """Count the answers and feedback of the last 24 hours."""
    today = DayMetrics(day=utc_day(now))
    return next(iter(read_days(deps, now=now, days=1, day_of=lambda _: today.day)), today)
