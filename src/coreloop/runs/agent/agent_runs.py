"""Runs of an agent that drives itself, and reports of an agent that a driver starts."""

from collections.abc import Sequence
from datetime import datetime

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import AgentReport, Believe, report_events
from coreloop.runs.agent.next_step import situation
from coreloop.runs.agent.session_file import FOLDER as AGENTS
from coreloop.runs.agent.session_file import waiting_file
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.decide import Stop, decide
from coreloop.runs.drift import check_drift
from coreloop.runs.events import Caller, Event, Recorded, Reported
from coreloop.runs.fold import Folding
from coreloop.runs.folder import FOLDER
from coreloop.runs.load import change_run, load_run, require_going, spent_today
from coreloop.runs.reflexion import learn_lessons
from coreloop.runs.run_files import Viewer
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store


def record_report(
    store: Store, run_id: str, report: AgentReport, *, believe: Believe, clock: Clock | None = None
) -> State:
    """Commit an agent's report of an iteration, all of it or none; returns the state afterwards.

    In a run that drives itself, the report is an iteration. In a run that a driver holds, it is added to the
    iteration that the driver commits when its command has ended.

    Parameters
    ----------
    run_id : str
        Of a run that is going; one that was paused meanwhile still takes the report of its iteration.
    report : AgentReport
        Of `coreloop.runs.agent.agent_report.read_report`.
    believe : callable
        Checks the findings, see `coreloop.runs.agent.agent_report.report_events`.
    clock : Clock or None
        None for the machine's.

    Raises
    ------
    UsageError
        A field of the report does not fit the run.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now = (clock or SystemClock()).now()
    is_recorded = False
    while not is_recorded:
        folding, newest = load_run(store, run_id)
        require_going(folding.state)
        events = _events(folding, report, now, believe)
        is_recorded = not store.append(run_id, events, after=newest)
    state = close_if_over(store, run_id, clock=clock)
    if state.drives_itself:
        learn_lessons(store, state, situation=situation(state))
    return state


def close_if_over(store: Store, run_id: str, *, clock: Clock | None = None) -> State:
    """End a run that drives itself if `decide` says so; a driver ends its own runs. Returns the state."""
    now = (clock or SystemClock()).now()

    def ended(state: State) -> list[Event]:
        stop = decide(state, now, today=spent_today(store, state, now))
        is_left = state.is_terminal or state.status == "paused" or not state.drives_itself
        if is_left or not isinstance(stop, Stop):
            return []
        return [happened.Ended(at=now, status=stop.status, reason=stop.reason)]

    return change_run(store, run_id, ended)


def attach(store: Store, run_id: str, session: str) -> None:
    """Bind a run that drives itself to an agent's session, which the Stop hook then holds."""
    opened = happened.Opened(at=SystemClock().now(), owner=session)

    def bound(state: State) -> list[Event]:
        is_free = state.drives_itself and not state.is_terminal and state.owner != session
        return [opened] if session and is_free else []

    change_run(store, run_id, bound)


def agree(
    store: Store, run_id: str, part_ids: Sequence[str], *, is_waived: bool = False, by: Caller = "unknown"
) -> State:
    """Agree as a person that notes of an agent count, or that sub-questions fall away, as it proposed.

    Raises
    ------
    UsageError
        One of them is no note, or no agent proposed to drop it.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now = SystemClock().now()

    def agreed(state: State) -> list[Event]:
        require_going(state)
        parts = (part for part in state.sub_questions if part.is_note or (part.is_open and part.waiver))
        offered = [part.id for part in parts if part.is_note is not is_waived]
        if others := [part_id for part_id in part_ids if part_id not in offered]:
            what = "was not proposed to fall away; proposed" if is_waived else "is no note; notes"
            raise UsageError(f"{others[0]} {what}: {', '.join(offered) or 'none'}")
        return [
            happened.Agreed(at=now, by=by, sub_question=part_id, is_waived=is_waived) for part_id in part_ids
        ]

    change_run(store, run_id, agreed)
    return close_if_over(store, run_id)


def take_up(workspace: Workspace, state: State) -> None:
    """Say that the run's session works on it in this turn, so that the Stop hook holds the turn again."""
    if state.drives_itself and state.owner:
        waiting_file(workspace.root / FOLDER / AGENTS, state.owner).unlink(missing_ok=True)


def show_views(workspace: Workspace, store: Store, state: State) -> None:
    """Write the views of a run that drives itself; a driver writes its own.

    Raises
    ------
    WorkspaceError
        See `coreloop.runs.run_files.Viewer`.
    """
    if state.drives_itself:
        Viewer(workspace.root, store)(state)


def _events(folding: Folding, report: AgentReport, now: datetime, believe: Believe) -> list[Event]:
    """A report's events. The folding is used up: it takes them as if they were the run's own."""
    state, number = folding.state, folding.state.iteration + 1
    reported: list[Reported] = []
    _turn(folding, reported)  # what runs next has demanded
    for event in report_events(state, report, now, believe):
        folding.add(event)
        reported.append(event)
    _turn(folding, reported)
    used = report.used
    recorded = Recorded(at=now, events=tuple(reported), microusd=used.microusd, tokens=used.tokens)
    if not state.drives_itself:
        return [recorded]
    key = f"agent-{number}"
    spent = happened.StepCommitted(at=now, name="agent", key=key, microusd=used.microusd, tokens=used.tokens)
    return [recorded, spent, happened.IterationCommitted(at=now, iteration=number)]


def _turn(folding: Folding, reported: list[Reported]) -> None:
    if turned := check_drift(folding.state):
        folding.add(turned)
        reported.append(turned)
