"""Events -> the state of a run: pure, so that the same events always give the same state."""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.clock import as_hexadecimal
from coreloop.runs.duplicates import Search
from coreloop.runs.events import FOREIGN, Event, spent
from coreloop.runs.kinds import Kind, kind_named
from coreloop.runs.limits import tighter
from coreloop.runs.state import RESUMABLE, IterationProgress, RunFinding, State, SubQuestion

MAX_ERRORS: Final = 100
"""Entries of a state's error log; the oldest are dropped from it, never from the events."""


class Folding:
    """A fold that goes on: one event after another is added to the state.

    Attributes
    ----------
    state : State
        Of all events so far; to be read only.
    failures : counter of str
        Of each step, by its key.
    """

    def __init__(self) -> None:
        self.state = State()
        self.failures: Counter[str] = Counter()
        self._kind: Kind[Any] = kind_named("")

    def add(self, event: Event) -> None:
        """Add the run's next event.

        Raises
        ------
        RunError
            The first event is not `Created`, or a later one is.
        """
        if isinstance(event, happened.Created) is bool(self.state.run_id):
            raise RunError("the run does not begin with its creation; restore the store from a backup")
        if isinstance(event, happened.Created):
            self._kind = kind_named(event.kind)
            self.state.clock, self.state.of_kind = event.at, self._kind.initial()
        elif isinstance(event, happened.StepFailed):
            self.failures[event.key] += 1
        _count_time(self.state, event)
        for part in event.events if isinstance(event, happened.Recorded) else ():
            self._apply(part, is_reported=True)
        self._apply(event)

    def _apply(self, event: Event, *, is_reported: bool = False) -> None:
        follow(self.state, event, is_reported=is_reported)
        if isinstance(event, happened.Noted):
            self._kind.fold(self.state.of_kind, event.name, event.data)
        elif isinstance(event, happened.IterationCommitted):
            self._kind.committed(self.state)


def follow(state: State, event: Event, *, is_reported: bool = False) -> None:
    """Add an event to a state, but for what the run's kind makes of it."""
    _begin(state, event)
    _tell(state, event)
    _spend(state, event)
    _report(state, event, is_reported=is_reported)
    _advance(state, event)


def _count_time(state: State, event: Event) -> None:
    """Count the seconds of work; of a run that drives itself, all seconds but those of its pauses."""
    if state.drives_itself:
        is_counted = state.status not in RESUMABLE
        is_new_clock = isinstance(event, happened.Resumed) and not is_counted
    else:
        is_counted = not isinstance(event, FOREIGN)
        is_new_clock = isinstance(event, happened.Opened)
    if is_new_clock:
        state.clock = event.at
    elif is_counted and event.at > state.clock:
        state.elapsed_s += (event.at - state.clock).total_seconds()
        state.clock = event.at


def _begin(state: State, event: Event) -> None:
    """Add what a run is, and who works on it."""
    match event:
        case happened.Created():
            for name in ("run_id", "kind", "question", "mode", "limits", "searches"):
                setattr(state, name, getattr(event, name))
            state.parent, state.origin = event.parent, event.origin
            state.trace_id = event.trace_id or as_hexadecimal(event.run_id)
        case happened.Opened():
            state.owner = event.owner
        case happened.Narrowed():
            state.limits = tighter(state.limits, event.limits)


def _tell(state: State, event: Event) -> None:
    """Add what people, and the controller, say to a run."""
    match event:
        case happened.Paused() if state.status == "running":
            state.status = "paused"
        case happened.Resumed() if state.status in RESUMABLE:
            state.status, state.stop_reason = "running", None
        case happened.Completed() if not state.is_terminal:
            state.status, state.ended_by = "completed", event.by
        case happened.StopRequested() if not state.is_terminal:
            state.status, state.ended_by = "stopped_by_user", event.by
        case happened.Ended() if not state.is_terminal:
            state.status, state.stop_reason = event.status, event.reason
            state.failure = event
        case happened.UntilMet():
            state.is_until_met = True
        case happened.Agreed():
            for part in _named(state, event.sub_question):
                part.is_waived |= event.is_waived and bool(part.waiver)
                part.is_note &= event.is_waived


def _spend(state: State, event: Event) -> None:
    """Add what is set aside and spent."""
    match event:
        case happened.Reserved():
            state.reservations[event.reservation] = spent(event)
            state.reserved += spent(event)
        case happened.ChildSpent():
            state.spent += spent(event)
        case happened.Settled() | happened.StepCommitted() | happened.StepFailed():
            state.reserved -= state.reservations.pop(event.reservation, NOTHING)
            state.spent += spent(event)
            state.progress.claimed = NOTHING


def _report(state: State, event: Event, *, is_reported: bool) -> None:
    """Add what is known of the question; what an agent reports settles nothing unless it was checked."""
    match event:
        case happened.Planned():
            known = {part.text for part in state.sub_questions}
            for text in dict.fromkeys(event.sub_questions):
                if text not in known:
                    part = SubQuestion(f"q{len(state.sub_questions) + 1}", text, is_reported=is_reported)
                    part.is_note = text in event.notes
                    state.sub_questions.append(part)
        case happened.FindingRecorded():
            if event.source and event.source not in state.found_sources:
                state.found_sources.add(event.source)
                state.progress.has_new_information = True
            claimed = is_reported and not event.is_checked
            for part in _named(state, event.sub_question):
                part.findings.append(RunFinding(event.text, event.source, state.iteration + 1, claimed))
        case happened.WaiverProposed():
            for part in _named(state, event.sub_question):
                part.waiver = event.reason
        case happened.Reflected():
            state.sufficient, state.confidence = event.sufficient, event.confidence
            state.next_actions, state.is_exhausted = event.next_actions, event.is_exhausted
        case happened.Recorded():
            state.progress.reports += 1
            state.progress.claimed += Amount(event.microusd, event.tokens)


def _advance(state: State, event: Event) -> None:
    """Add what an iteration does: steps, actions, searches, and its end."""
    progress = state.progress
    match event:
        case happened.StepCommitted():
            state.calls, state.failures_in_row = state.calls + 1, 0
            progress.has_steps |= not event.is_answer
        case happened.StepFailed():
            state.calls, state.failures_in_row = state.calls + 1, state.failures_in_row + 1
            _log_errors(state, event, event.attempt, event.error)
        case happened.ActionTaken():
            action = action_hash(event.tool, event.strategy)
            is_same = action == state.last_action_hash
            state.consecutive_same_action = state.consecutive_same_action + 1 if is_same else 1
            state.last_action_hash, state.last_strategy = action, event.strategy
            progress.strategy, state.order = event.strategy, None
        case happened.Searched():
            is_found = event.outcome == "found"
            number = state.iteration + 1
            state.search_history.append(Search(event.query, number, event.results_count, is_found))
            progress.queries += 1
            progress.has_searched |= event.outcome in {"found", "empty"}
            _log_errors(state, event, 0, *event.failures)
        case happened.QueryDropped():
            progress.queries_dropped += 1
            progress.dropped.append((event.query, event.similar))
        case happened.SourceRead():
            state.read_sources.add(event.source)
        case happened.Progressed():
            progress.has_new_information |= not state.searches
        case happened.Turned():
            _turn(state, event)
        case happened.IterationCommitted():
            _commit(state, event)


def _turn(state: State, event: happened.Turned) -> None:
    state.turns += 1
    state.order = state.last_order = event
    state.progress.orders.append(event)
    state.last_strategy = event.after
    state.progress.queries_dropped = 0
    if event.rule == "same_action":
        state.consecutive_same_action = 0
    elif event.rule == "no_new_information":
        state.no_new_info_count = 0


def _commit(state: State, event: happened.IterationCommitted) -> None:
    progress = state.progress
    is_informed = progress.has_new_information and (progress.has_searched or not state.searches)
    state.no_new_info_count = 0 if is_informed else state.no_new_info_count + 1
    state.iteration = event.iteration
    state.last_progress, state.progress = progress, IterationProgress()


def _named(state: State, part_id: str) -> list[SubQuestion]:
    return [part for part in state.sub_questions if part.id == part_id]


def _log_errors(state: State, event: Event, attempt: int, *errors: str) -> None:
    for number, error in enumerate(errors, start=attempt):
        entry = {"attempt": number, "error": error, "at": event.at.isoformat()}
        state.error_log = [*state.error_log[1 - MAX_ERRORS :], entry]


def action_hash(tool: str, strategy: Iterable[str]) -> str:
    """Hash an action: the same tool and the same strategy give the same 16 hexadecimal digits."""
    return sha256("\n".join((tool, *strategy)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
