"""Events -> the state of a run: pure, so that the same events always give the same state."""

from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount, left
from coreloop.runs.duplicates import Search
from coreloop.runs.events import FOREIGN, Event, spent
from coreloop.runs.kinds import Kind, kind_named
from coreloop.runs.limits import tighter
from coreloop.runs.state import RESUMABLE, Failure, IterationProgress, RunFinding, State, SubQuestion
from coreloop.runs.ulid import as_hexadecimal

MAX_ERRORS: Final = 100
"""Entries of a state's error log; the oldest are dropped from it, never from the events."""


def fold(events: Iterable[Event]) -> State:
    """Compute the state of a run.

    Parameters
    ----------
    events : iterable of Event
        All events of a run in order; the first is `Created`.

    Raises
    ------
    RunError
        The first event is not `Created`.
    """
    folding = Folding()
    for event in events:
        folding.add(event)
    if not folding.state.run_id:
        raise RunError("the run has no events")
    return folding.state


def follow(state: State, events: Iterable[Event]) -> None:
    """Add to a state what a list shows of events: status and reason, iterations, what was spent."""
    for event in events:
        if isinstance(event, _LISTED):
            _APPLY[type(event)](state, event)


class Folding:
    """A fold that goes on: one event after another is added to the state.

    Attributes
    ----------
    state : State
        Of all events so far; to be read only.
    """

    def __init__(self) -> None:
        self.state = State()
        self._kind: Kind[Any] = kind_named("")

    def add(self, event: Event) -> None:
        """Add the run's next event.

        Raises
        ------
        RunError
            The first event is not `Created`, or a later one is.
        """
        state, kind = self.state, type(event)
        if (kind is happened.Created) is bool(state.run_id):
            raise RunError("the run does not begin with its creation; restore the store from a backup")
        if kind is happened.Created:
            state.clock = event.at
        _count_time(state, event)
        if isinstance(event, happened.Created):
            self._kind = kind_named(event.kind)
            state.of_kind = self._kind.initial()
        for part in event.events if isinstance(event, happened.Recorded) else ():
            self._apply(part, is_claimed=True)
        self._apply(event)

    def _apply(self, event: Event, *, is_claimed: bool = False) -> None:
        if isinstance(event, happened.Noted):
            self._kind.fold(self.state.of_kind, event.name, event.data)
        elif isinstance(event, happened.FindingRecorded):
            _finding_recorded(self.state, event, is_claimed=is_claimed)
        elif isinstance(event, happened.Planned):
            _planned(self.state, event, is_reported=is_claimed)
        else:
            _APPLY[type(event)](self.state, event)
        if isinstance(event, happened.IterationCommitted):
            self._kind.committed(self.state)


def _count_time(state: State, event: Event) -> None:
    """Count the seconds of work; of a run that drives itself, all seconds but those of its pauses."""
    kind = type(event)
    if state.drives_itself:
        is_counted = state.status not in RESUMABLE
        is_new_clock = kind is happened.Resumed and not is_counted
    else:
        is_counted = kind not in FOREIGN
        is_new_clock = kind is happened.Opened
    if is_new_clock:
        state.clock = event.at
    elif is_counted and event.at > state.clock:
        state.elapsed_s += (event.at - state.clock).total_seconds()
        state.clock = event.at


def _created(state: State, event: happened.Created) -> None:
    state.run_id, state.kind, state.question = event.run_id, event.kind, event.question
    state.mode, state.limits, state.searches = event.mode, event.limits, event.searches
    state.drives_itself, state.parent, state.origin = event.drives_itself, event.parent, event.origin
    state.trace_id = event.trace_id or as_hexadecimal(event.run_id)


def _opened(state: State, event: happened.Opened) -> None:
    state.owner, state.namespace = event.owner, event.namespace


def _planned(state: State, event: happened.Planned, *, is_reported: bool = False) -> None:
    known = {part.text for part in state.sub_questions}
    for text in dict.fromkeys(event.sub_questions):
        if text not in known:
            part = SubQuestion(f"q{len(state.sub_questions) + 1}", text, is_reported=is_reported)
            part.is_note = text in event.notes
            state.sub_questions.append(part)


def _narrowed(state: State, event: happened.Narrowed) -> None:
    state.limits = tighter(state.limits, event.limits)


def _iteration_committed(state: State, event: happened.IterationCommitted) -> None:
    progress = state.progress
    is_informed = progress.has_new_information and (progress.has_searched or not state.searches)
    state.no_new_info_count = 0 if is_informed else state.no_new_info_count + 1
    state.last_orders, state.used_strategy = tuple(progress.orders), progress.strategy
    state.last_dropped = tuple(progress.dropped)
    state.iteration, state.progress = event.iteration, IterationProgress()


def _reserved(state: State, event: happened.Reserved) -> None:
    state.reservations[event.reservation] = spent(event)
    state.reserved += spent(event)


def _charged(state: State, event: happened.Charged) -> None:
    """Move what a call said that it has spent from its reservation to what is spent."""
    kept = state.reservations.get(event.reservation)
    if kept is not None:
        state.charged[event.reservation] = state.charged.get(event.reservation, NOTHING) + spent(event)
        state.reservations[event.reservation] = left(kept, spent(event))
        state.reserved += state.reservations[event.reservation] - kept
    state.spent += spent(event)


def _child_spent(state: State, event: happened.ChildSpent) -> None:
    state.spent += spent(event)


def _settled(state: State, event: happened.Settled | happened.StepCommitted | happened.StepFailed) -> None:
    state.reserved -= state.reservations.pop(event.reservation, NOTHING)
    state.charged.pop(event.reservation, None)
    state.spent += spent(event)
    state.progress.claimed = NOTHING


def _step_committed(state: State, event: happened.StepCommitted) -> None:
    _settled(state, event)
    state.calls += 1
    state.failures_in_row = 0
    state.progress.has_steps |= not event.is_answer


def _step_failed(state: State, event: happened.StepFailed) -> None:
    _settled(state, event)
    state.calls += 1
    state.failures_in_row += 1
    _log_error(state, event.attempt, event.error, event.at)


def _log_error(state: State, attempt: int, error: str, at: datetime) -> None:
    entry = {"attempt": attempt, "error": error, "at": at.isoformat()}
    state.error_log = [*state.error_log[1 - MAX_ERRORS :], entry]


def action_hash(tool: str, strategy: Iterable[str]) -> str:
    """Hash an action: the same tool and the same strategy give the same 16 hexadecimal digits."""
    return sha256("\n".join((tool, *strategy)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _action_taken(state: State, event: happened.ActionTaken) -> None:
    action = action_hash(event.tool, event.strategy)
    is_same = action == state.last_action_hash
    state.consecutive_same_action = state.consecutive_same_action + 1 if is_same else 1
    state.last_action_hash, state.last_strategy = action, event.strategy
    state.progress.strategy = event.strategy
    state.order = None


def _searched(state: State, event: happened.Searched) -> None:
    is_executed = event.outcome in {"found", "empty"}
    search = Search(event.query, state.iteration + 1, event.results_count, event.outcome == "found")
    state.search_history.append(search)
    state.progress.queries += 1
    state.progress.has_searched |= is_executed
    for attempt, error in enumerate(event.failures):
        _log_error(state, attempt, error, event.at)


def _query_dropped(state: State, event: happened.QueryDropped) -> None:
    state.progress.queries_dropped += 1
    state.progress.dropped.append((event.query, event.similar))


def _source_read(state: State, event: happened.SourceRead) -> None:
    state.read_sources.add(event.source)


def _finding_recorded(state: State, event: happened.FindingRecorded, *, is_claimed: bool = False) -> None:
    if event.source and event.source not in state.found_sources:
        state.found_sources.add(event.source)
        state.progress.has_new_information = True
    for part in state.sub_questions:
        if part.id == event.sub_question:
            claimed = is_claimed and not event.is_checked
            part.findings.append(RunFinding(event.text, event.source, state.iteration + 1, claimed))


def _progressed(state: State, _event: happened.Progressed) -> None:
    state.progress.has_new_information |= not state.searches


def _reflected(state: State, event: happened.Reflected) -> None:
    state.sufficient, state.confidence = event.sufficient, event.confidence
    state.next_actions = event.next_actions


def _turned(state: State, event: happened.Turned) -> None:
    state.turns += 1
    state.order = state.last_order = event
    state.progress.orders.append(event)
    state.last_strategy = event.after
    state.progress.queries_dropped = 0
    if event.rule == "same_action":
        state.consecutive_same_action = 0
    elif event.rule == "no_new_information":
        state.no_new_info_count = 0


def _until_met(state: State, _event: happened.UntilMet) -> None:
    state.is_until_met = True


def _recorded(state: State, event: happened.Recorded) -> None:
    state.progress.reports += 1
    state.progress.claimed += Amount(event.microusd, event.tokens)


def _waiver_proposed(state: State, event: happened.WaiverProposed) -> None:
    for part in state.sub_questions:
        if part.id == event.sub_question:
            part.waiver = event.reason


def _waived(state: State, event: happened.Waived) -> None:
    for part in state.sub_questions:
        if part.id == event.sub_question and part.waiver:
            part.is_waived = True


def _confirmed(state: State, event: happened.Confirmed) -> None:
    for part in state.sub_questions:
        if part.id == event.sub_question:
            part.is_note = False


def _paused(state: State, _event: happened.Paused) -> None:
    if state.status == "running":
        state.status = "paused"


def _resumed(state: State, _event: happened.Resumed) -> None:
    if state.status in RESUMABLE:
        state.status, state.stop_reason = "running", None


def _completed(state: State, event: happened.Completed) -> None:
    if not state.is_terminal:
        state.status, state.ended_by = "completed", event.by


def _stop_requested(state: State, event: happened.StopRequested) -> None:
    if not state.is_terminal:
        state.status, state.ended_by = "stopped_by_user", event.by


def _ended(state: State, event: happened.Ended) -> None:
    if not state.is_terminal:
        state.status, state.stop_reason = event.status, event.reason
        state.failure = Failure(event.kind, event.error, event.is_retryable)


_APPLY: Final[dict[type, Callable[[State, Any], None]]] = {
    happened.Created: _created,
    happened.Opened: _opened,
    happened.Planned: _planned,
    happened.Narrowed: _narrowed,
    happened.IterationCommitted: _iteration_committed,
    happened.Reserved: _reserved,
    happened.Charged: _charged,
    happened.ChildSpent: _child_spent,
    happened.Settled: _settled,
    happened.StepCommitted: _step_committed,
    happened.StepFailed: _step_failed,
    happened.ActionTaken: _action_taken,
    happened.Searched: _searched,
    happened.QueryDropped: _query_dropped,
    happened.SourceRead: _source_read,
    happened.FindingRecorded: _finding_recorded,
    happened.Progressed: _progressed,
    happened.Reflected: _reflected,
    happened.Turned: _turned,
    happened.UntilMet: _until_met,
    happened.WaiverProposed: _waiver_proposed,
    happened.Recorded: _recorded,
    happened.Waived: _waived,
    happened.Confirmed: _confirmed,
    happened.Paused: _paused,
    happened.Resumed: _resumed,
    happened.StopRequested: _stop_requested,
    happened.Completed: _completed,
    happened.Ended: _ended,
}
_LISTED: Final = (
    *(happened.Paused, happened.Resumed, happened.StopRequested, happened.Completed, happened.Ended),
    *(happened.Charged, happened.ChildSpent, happened.Settled, happened.StepCommitted, happened.StepFailed),
    happened.IterationCommitted,
)
