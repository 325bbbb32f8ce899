"""What a run did, iteration by iteration, and what ended it, in words that a person reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from coreloop.answer.repair.actions import OTHER_MODEL, SAID, STRICT, signal_of
from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.answer.research.research_state import ATTEMPTED, DROPPED, READ, REPAIRED, Repaired
from coreloop.base.messages import number_of
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import Event
from coreloop.runs.reflexion import CAUSES
from coreloop.runs.stores.store import Store

_MAX_LINES: Final = 20
"""Of one thing in an iteration, for example its queries."""
_ENDS: Final = {"running": "at work", "stopped_by_user": "stopped by a person", "budget_exceeded": "stopped"}
_REASONS: Final = {
    "max_iterations": "its iterations were used up",
    "usd": "its money was used up",
    "usd_per_day": "the money of the day was used up",
    "tokens": "its tokens were used up",
    "deadline": "its time was up",
    "queries": "its queries were used up",
    "sources": "it read as many sources as it may",
    "failures": "too many steps in a row failed",
    "until": "what it ran until came true",
    "sufficient": "it had enough",
}
_OUTCOMES: Final = {"empty": "nothing", "blocked": "no access", "failed": "the search failed"}
_JOBS: Final = {"index.file": "read", "index.module": "read", "evidence.inject": "took a passage of"}
_ASKED: Final = {STRICT: "asked the model more strictly", OTHER_MODEL: "asked another model"}
_SPENDING: Final = (happened.Settled, happened.StepCommitted, happened.StepFailed, happened.ChildSpent)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An iteration.

    Attributes
    ----------
    number : int
        From 1; 0 for what followed the last one.
    began, ended : datetime
        Of its work, in UTC.
    spent : Amount
        What its calls did cost.
    lines : mapping of str to sequence of str
        What it ``searched``, ``found``, ``decided``, and so on.
    """

    number: int
    began: datetime
    ended: datetime
    spent: Amount
    lines: Mapping[str, Sequence[str]]


def outcome(status: str, reason: str | None) -> str:
    """Say in words how a run stands, or what ended it."""
    words = [_ENDS.get(status, status)]
    if reason:
        words.append(_REASONS.get(reason, reason.replace("_", " ")))
    return ": ".join(words)


def mended_lines(repaired: Repaired) -> list[str]:
    """Say in words what a round of repair did."""
    jobs = (line.partition(" ") for line in repaired.jobs)
    done = [
        f"{_JOBS.get(name, 'suggested a link for')} {about.removesuffix(': done')}" for name, _, about in jobs
    ]
    return done or [_ASKED[action] for action in repaired.actions if action in _ASKED]


def read_timeline(store: Store, run_id: str) -> list[TimelineEntry]:
    """Read what each iteration of a run did, in order.

    Raises
    ------
    RunNotFoundError
        There is no such run.
    """
    entries, events = list[TimelineEntry](), list[Event]()
    for _, event in store.read(run_id):
        if isinstance(event, happened.Created | happened.Opened):
            began = event.at
        events += [event, *(event.events if isinstance(event, happened.Recorded) else ())]
        if isinstance(event, happened.IterationCommitted):
            entries.append(_entry(event.iteration, began, events))
            began, events = event.at, []
    rest = [_entry(0, began, events)] if events else []
    return entries + [entry for entry in rest if any(entry.lines.values())]


def _entry(number: int, began: datetime, events: Sequence[Event]) -> TimelineEntry:
    spent = sum((happened.spent(event) for event in events if isinstance(event, _SPENDING)), NOTHING)
    lines: dict[str, list[str]] = {name: [] for name, _ in _TOLD.values()}
    for event in events:
        key, about = _key(event)
        if key in _TOLD:
            name, tell = _TOLD[key]
            lines[name].append(tell(about))
    shown = {name: [*dict.fromkeys(filter(None, texts))][:_MAX_LINES] for name, texts in lines.items()}
    return TimelineEntry(number, began, events[-1].at, spent, shown)


def _key(event: Event) -> tuple[type[Event] | str, Any]:
    if isinstance(event, happened.Noted):
        return event.name, event.data
    return (event.name, event.result) if isinstance(event, happened.StepCommitted) else (type(event), event)


def _searched(event: happened.Searched) -> str:
    return f"{event.query}: {_OUTCOMES.get(event.outcome) or number_of(event.results_count, 'result')}"


def _reflected(event: happened.Reflected) -> str:
    if event.sufficient:
        return "it has enough"
    return "to search for " + "; ".join(event.next_actions) if event.next_actions else ""


# By the type of an event, or the name of a step or a noted event: the line that it belongs to, and its text.
_TOLD: Final[Mapping[type[Event] | str, tuple[str, Callable[[Any], str]]]] = {
    happened.Searched: ("searched", _searched),
    "retrieve": (
        "searched",
        lambda found: f"{found['query']}: {number_of(len(found['sources']), 'passage')}",
    ),
    READ: ("read", lambda one: f"[{one['number']}] {one['source']['title']}, {one['source']['location']}"),
    happened.FindingRecorded: ("found", lambda one: f"{one.text} ({one.source})" if one.source else one.text),
    "iteration": ("changed", lambda done: number_of(done["files"], "file")),
    DROPPED: ("left out", lambda data: f"{data['sentence']}: {data['reason']}"),
    happened.QueryDropped: ("left out", lambda event: f"{event.query}: asked before as {event.similar}"),
    SIGNALLED: ("went wrong", lambda data: SAID[signal_of(data).reason]),
    happened.StepFailed: ("went wrong", lambda event: event.error),
    REPAIRED: ("mended", lambda data: "; ".join(mended_lines(msgspec.convert(data, Repaired)))),
    ATTEMPTED: ("decided", lambda data: "a source says so" if data["sentences"] else ""),
    happened.Reflected: ("decided", _reflected),
    happened.Turned: ("decided", lambda event: f"to go another way: {CAUSES[event.rule]}"),
}
