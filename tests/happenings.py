"""Events of runs for tests: made by hand, or any that hypothesis can think of."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from coreloop.runs import events as happened
from coreloop.runs.events import Event
from coreloop.runs.fold import Folding
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.state import State

AT = datetime(2026, 4, 25, 9, 0, tzinfo=UTC)
RUN_ID = "01KQ0000000000000000000000"


def created(**fields: Any) -> happened.Created:
    """The first event of a run, with some fields changed."""
    return happened.Created(**{"at": AT, "run_id": RUN_ID, "kind": "test", "question": "왜?", **fields})


def fold(events: Iterable[Event]) -> State:
    """The state after some events."""
    folding = Folding()
    for event in events:
        folding.add(event)
    return folding.state


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


_AMOUNTS = st.fixed_dictionaries({"microusd": st.integers(0, 9), "tokens": st.integers(0, 9)})
_IDS = st.sampled_from(["a", "b", "c"])
_TEXTS = st.sampled_from(["이익", "profit", "", "\udc80\x00", "a\nb"])
_LABELS = st.lists(st.sampled_from(["web", "English", "recent", "odd"]), max_size=3, unique=True).map(tuple)
_FIELDS: dict[type, st.SearchStrategy[dict[str, Any]]] = {
    happened.Opened: st.fixed_dictionaries({"owner": _IDS}),
    happened.Planned: st.fixed_dictionaries({"sub_questions": st.lists(_TEXTS, max_size=3).map(tuple)}),
    happened.Narrowed: st.fixed_dictionaries(
        {"limits": st.builds(Limits, max_iterations=st.integers(1, 5), queries=st.none() | st.integers(1, 9))}
    ),
    happened.IterationCommitted: st.fixed_dictionaries({"iteration": st.integers(1, 5)}),
    happened.Reserved: st.builds(lambda key, amount: {"reservation": key, **amount}, _IDS, _AMOUNTS),
    happened.ChildSpent: st.builds(lambda key, amount: {"run_id": key, **amount}, _IDS, _AMOUNTS),
    happened.Settled: st.builds(lambda key, amount: {"reservation": key, **amount}, _IDS, _AMOUNTS),
    happened.StepCommitted: st.builds(
        lambda key, amount: {"name": "ask", "key": key, "reservation": key, **amount}, _IDS, _AMOUNTS
    ),
    happened.StepFailed: st.builds(
        lambda key, text: {"name": "ask", "key": key, "reservation": key, "attempt": 1, "error": text},
        _IDS,
        _TEXTS,
    ),
    happened.ActionTaken: st.fixed_dictionaries({"tool": _IDS, "strategy": _LABELS}),
    happened.Searched: st.fixed_dictionaries(
        {"query": _TEXTS, "outcome": st.sampled_from(["found", "empty", "blocked", "failed"])}
    ),
    happened.QueryDropped: st.fixed_dictionaries({"query": _TEXTS, "similar": _TEXTS}),
    happened.SourceRead: st.fixed_dictionaries({"source": _IDS}),
    happened.FindingRecorded: st.fixed_dictionaries(
        {"sub_question": st.sampled_from(["q1", "q2", "q9"]), "text": _TEXTS, "source": _IDS | st.just("")}
    ),
    happened.Progressed: st.just({}),
    happened.Reflected: st.fixed_dictionaries(
        {"sufficient": st.booleans(), "confidence": st.floats(0, 1), "next_actions": _LABELS}
    ),
    happened.Turned: st.fixed_dictionaries(
        {"rule": st.sampled_from(["duplicates", "same_action", "no_new_information"]), "after": _LABELS}
    ),
    happened.UntilMet: st.just({}),
    happened.Noted: st.fixed_dictionaries({"name": _TEXTS, "data": _TEXTS}),
    happened.WaiverProposed: st.fixed_dictionaries({"sub_question": _IDS, "reason": _TEXTS}),
    happened.Confirmed: st.fixed_dictionaries({"sub_question": st.sampled_from(["q1", "q2", "q9"])}),
    happened.Waived: st.fixed_dictionaries({"sub_question": st.sampled_from(["q1", "q2", "q9"])}),
    happened.Recorded: st.builds(
        lambda texts, at, amount: {
            "events": (happened.Planned(at=at, sub_questions=tuple(texts), notes=tuple(texts[1:])),),
            **amount,
        },
        st.lists(_TEXTS, max_size=2),
        st.just(AT),
        _AMOUNTS,
    ),
    happened.Paused: st.just({}),
    happened.Resumed: st.just({}),
    happened.StopRequested: st.just({}),
    happened.Completed: st.just({}),
    happened.Ended: st.fixed_dictionaries({"status": st.sampled_from(["stopped", "failed", "completed"])}),
}
LATER_EVENTS: frozenset[type] = frozenset(_FIELDS)
_TIMES = st.integers(-100_000, 100_000).map(after)  # the clock may jump in either direction
_OPTIONAL = st.none() | st.integers(0, 12)

limits = st.builds(
    Limits,
    max_iterations=st.integers(1, 6),
    usd=st.none() | st.integers(0, 20).map(lambda micro: micro / 1_000_000),
    usd_per_day=st.none() | st.integers(0, 20).map(lambda micro: micro / 1_000_000),
    tokens=_OPTIONAL,
    deadline_s=_OPTIONAL,
    queries=_OPTIONAL,
    sources=_OPTIONAL,
    max_failures=st.integers(1, 4),
    answer=st.builds(AnswerReserve, tokens=st.integers(0, 3), seconds=st.integers(0, 3)),
)


def _event(kind: type) -> st.SearchStrategy[Event]:
    return st.builds(lambda at, fields: kind(at=at, **fields), _TIMES, _FIELDS[kind])


later_events = st.lists(st.one_of([_event(kind) for kind in _FIELDS]), max_size=40)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Any events after a creation, in any order and at any times."""
    first = created(
        mode=draw(st.sampled_from(["bounded", "exhaust"])),
        limits=draw(limits),
        searches=draw(st.booleans()),
    )
    return [first, *draw(later_events)]
