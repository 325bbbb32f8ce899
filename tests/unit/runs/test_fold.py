"""The state of a run, against counting its events again in the plainest way."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import FOREIGN, Event, spent
from coreloop.runs.fold import MAX_ERRORS
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import KindState, state_json
from happenings import AT, after, created, fold, histories
from rows import each_row

KEYS = [
    "run_id", "kind", "mode", "status", "stop_reason", "question", "iteration", "metrics", "limits",
    "loop_drift", "sufficient", "confidence", "sub_questions", "next_actions", "error_log", "token_budget",
]  # fmt: skip


def of(events: list[Event], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def spendings(events: list[Event]) -> tuple[Amount, Amount]:
    """Spent and reserved: every settlement counts, and every reservation that was not settled after it."""
    settled = of(events, happened.Settled | happened.StepCommitted | happened.StepFailed)
    booked = [*settled, *of(events, happened.ChildSpent)]
    still: dict[str, list[Amount]] = {}
    for event in events:
        if isinstance(event, happened.Reserved):
            still.setdefault(event.reservation, []).append(spent(event))
        elif event in settled:
            still.pop(event.reservation, None)
    return sum(map(spent, booked), NOTHING), sum((sum(each, NOTHING) for each in still.values()), NOTHING)


def elapsed_s(events: list[Event]) -> float:
    """Forward steps of the working process's clock; opening sets the clock."""
    total, clock = 0.0, events[0].at
    for event in events[1:]:
        if isinstance(event, happened.Opened):
            clock = event.at
        elif not isinstance(event, FOREIGN) and event.at > clock:
            total += (event.at - clock).total_seconds()
            clock = event.at
    return total


def without_news(events: list[Event], *, searches: bool) -> int:
    """Committed iterations in a row, at the end, that brought no source which no earlier finding had."""
    count, known = 0, set[str]()
    iteration: list[Event] = []
    for event in events:
        iteration.append(event)
        if isinstance(event, happened.Turned) and event.rule == "no_new_information":
            count = 0
        if isinstance(event, happened.IterationCommitted):
            sources = {found.source for found in of(iteration, happened.FindingRecorded)} - {""}
            executed = [
                search for search in of(iteration, happened.Searched) if search.outcome in {"found", "empty"}
            ]
            has_news = bool(sources - known) or (not searches and bool(of(iteration, happened.Progressed)))
            count = 0 if has_news and (executed or not searches) else count + 1
            known |= sources
            iteration = []
    return count


@given(histories())
def test_every_figure_is_what_counting_again_gives(events: list[Event]):
    state = fold(events)
    assert (state.spent, state.reserved) == spendings(events)
    assert state.elapsed_s == pytest.approx(elapsed_s(events))
    assert state.no_new_info_count == without_news(events, searches=state.searches)
    assert state.calls == len(of(events, happened.StepCommitted)) + len(of(events, happened.StepFailed))
    assert state.queries == len(of(events, happened.Searched))
    assert state.read_sources == {event.source for event in of(events, happened.SourceRead)}
    assert state.turns == len(of(events, happened.Turned))
    assert state.is_until_met is bool(of(events, happened.UntilMet))


@given(histories())
def test_a_terminal_status_stays_but_a_failed_run_may_go_on(events: list[Event]):
    statuses = [fold(events[:count]).status for count in range(1, len(events) + 1)]
    terminal = [status for status in statuses if status not in {"running", "paused", "failed"}]
    assert terminal == statuses[len(statuses) - len(terminal) :]
    assert len(set(terminal)) <= 1


@given(histories())
def test_state_json_has_exactly_the_promised_keys(events: list[Event]):
    assert list(state_json(fold(events))) == KEYS


def test_time_of_another_processs_request_does_not_count():
    assert fold([created(), happened.Paused(at=after(9_999))]).elapsed_s == 0


def test_a_finding_answers_its_sub_question_only_with_a_source():
    planned = happened.Planned(at=AT, sub_questions=("매출은?", "이익은?", "매출은?"))
    bare = happened.FindingRecorded(at=AT, sub_question="q1", text="올랐다")
    sourced = happened.FindingRecorded(at=AT, sub_question="q1", text="올랐다", source="dart:1")
    state = fold([created(), planned, bare])
    assert [(part.id, part.text, part.is_answered) for part in state.sub_questions] == [
        ("q1", "매출은?", False),
        ("q2", "이익은?", False),
    ]
    assert [part.is_answered for part in fold([created(), planned, sourced]).sub_questions] == [True, False]


def test_the_error_log_is_bounded_and_keeps_the_newest():
    failures = [
        happened.StepFailed(at=AT, name="ask", key="k", attempt=number, error="no answer")
        for number in range(1, MAX_ERRORS + 50)
    ]
    log = state_json(fold([created(), *failures]))["error_log"]
    assert len(log) == MAX_ERRORS
    assert log[-1] == {"attempt": MAX_ERRORS + 49, "error": "no answer", "at": AT.isoformat()}


def test_a_kind_adds_its_own_keys():
    @dataclass
    class Gaps(KindState):
        gaps: list[tuple[str, Any]] = field(default_factory=list)

    def add(part: Gaps, name: str, data: Any) -> None:
        part.gaps.append((name, data))

    register_kind(Kind(name="with-gaps", initial=Gaps, fold=add))
    events = [created(kind="with-gaps"), happened.Noted(at=AT, name="gap", data="2025")]
    assert state_json(fold(events))["gaps"] == [("gap", "2025")]
    assert state_json(fold(events[:1]))["gaps"] == []


@each_row(
    "events",
    [[happened.UntilMet(at=AT)], [created(), created()]],
    ids=["no creation", "created twice"],
)
def test_a_history_that_cannot_be_a_run_is_refused(events: list[Event]):
    with pytest.raises(RunError):
        fold(events)
