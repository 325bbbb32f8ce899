"""What can happen to a run: typed events, and their JSON.

Events are appended and never changed. A new field needs a default; a new meaning needs a new type.
"""

import json
from collections.abc import Callable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Final, Literal, TypeVar, cast

import msgspec

from coreloop.base.errors import RunError
from coreloop.runs.amounts import Amount
from coreloop.runs.limits import Limits, Mode

Status = Literal["running", "completed", "paused", "stopped_by_user", "budget_exceeded", "stopped", "failed"]
Caller = Literal["person", "unknown"]
"""Who pauses, resumes, completes or stops a run; an agent's own attempt is refused, not stored."""
Outcome = Literal["found", "empty", "blocked", "failed"]
"""Of a search. No result, no access and an error are three different answers."""
Rule = Literal["duplicates", "same_action", "no_new_information"]
"""By which drift is seen, see `coreloop.runs.drift`."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type"):
    """Anything that happened to a run, at a time in UTC."""

    at: datetime


class Spending(Event, frozen=True, kw_only=True):
    """What reserves, spends or gives back millionths of a US dollar and tokens."""

    microusd: int = 0
    tokens: int = 0


class Created(Event, frozen=True, tag="created"):
    """The first event of every run."""

    run_id: str
    kind: str
    question: str
    mode: Mode = "bounded"
    limits: Limits = Limits()
    searches: bool = True
    parent: str = ""
    origin: str = ""
    trace_id: str = ""


class Opened(Event, frozen=True, tag="opened"):
    """A process works on the run from now on, also after a crash of the previous one."""

    owner: str


class Planned(Event, frozen=True, tag="planned"):
    """Sub-questions were added to the run; texts that it has already are ignored.

    ``notes`` are those among them that count for nothing before a person confirms them.
    """

    sub_questions: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Narrowed(Event, frozen=True, tag="narrowed"):
    """The limits became tighter: of each, the smaller one holds. No event makes a limit larger."""

    limits: Limits


class IterationCommitted(Event, frozen=True, tag="iteration_committed"):
    """An iteration ended."""

    iteration: int


class Reserved(Spending, frozen=True, tag="reserved"):
    """The most that a call can cost was set aside, before the call."""

    reservation: str


class ChildSpent(Spending, frozen=True, tag="child_spent"):
    """A run that this run's command started spent or reserved this; negative where it gave back."""

    run_id: str


class Settled(Spending, frozen=True, tag="settled"):
    """A reservation was replaced by what the call did cost.

    ``is_assumed``: its process died during the call, so that it counts in full.
    """

    reservation: str
    is_assumed: bool = False


class StepCommitted(Spending, frozen=True, tag="step_committed"):
    """A step's result and what it cost; the step is never done again."""

    name: str
    key: str
    result: Any = None
    reservation: str = ""
    is_answer: bool = False


class StepFailed(Spending, frozen=True, tag="step_failed"):
    """A step failed; it may be tried again."""

    name: str
    key: str
    attempt: int
    error: str
    reservation: str = ""


class ActionTaken(Event, frozen=True, tag="action_taken"):
    """An iteration's choice of a tool and a strategy."""

    tool: str
    strategy: tuple[str, ...] = ()


class Searched(Event, frozen=True, tag="searched"):
    """A query was executed."""

    query: str
    outcome: Outcome
    results_count: int = 0
    failures: tuple[str, ...] = ()
    """Why each failed attempt failed, in order."""


class QueryDropped(Event, frozen=True, tag="query_dropped"):
    """A query was not executed, because an earlier one asked the same."""

    query: str
    similar: str


class SourceRead(Event, frozen=True, tag="source_read"):
    """A source was read; the same source counts once."""

    source: str


class FindingRecorded(Event, frozen=True, tag="finding_recorded"):
    """A sentence that answers a sub-question, and the source that says so ("" without one).

    ``is_checked``: coreloop found its quote in a source that it read itself, whoever reported it.
    """

    sub_question: str
    text: str
    source: str = ""
    is_checked: bool = False


class Progressed(Event, frozen=True, tag="progressed"):
    """A kind that does not search got further."""

    what: str = ""


class Reflected(Event, frozen=True, tag="reflected"):
    """A model's opinion of the run: an input of the decision, never the decision."""

    sufficient: bool
    confidence: float
    next_actions: tuple[str, ...] = ()
    is_exhausted: bool = False


class Turned(Event, frozen=True, tag="turned"):
    """Drift was seen, and the run must go another way."""

    rule: Rule
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class UntilMet(Event, frozen=True, tag="until_met"):
    """The driver's ``--until`` command said that the goal is reached."""


class Noted(Event, frozen=True, tag="noted"):
    """An event of the run's kind, opaque to `coreloop.runs`."""

    name: str
    data: Any = None


class WaiverProposed(Event, frozen=True, tag="waiver_proposed"):
    """An agent says why a sub-question falls away; it stays open until a person agrees (`Agreed`)."""

    sub_question: str
    reason: str


Reported = (
    Planned
    | ActionTaken
    | Searched
    | QueryDropped
    | SourceRead
    | FindingRecorded
    | Reflected
    | Turned
    | WaiverProposed
    | Noted
)
"""What an agent's report can contain: nothing that spends, limits or ends the run."""


class Recorded(Spending, frozen=True, tag="recorded"):
    """An agent's report of its iteration, also while another process works on the run.

    ``microusd`` and ``tokens`` are what the agent says it used. Only a `StepCommitted` spends it.
    """

    events: tuple[Reported, ...] = ()


class Said(Event, frozen=True, kw_only=True):
    """What a caller outside the run said to it; ``by`` is who that was (`coreloop.runs.person_or_agent`)."""

    by: Caller = "person"


class Paused(Said, frozen=True, tag="paused"):
    """The run was paused."""


class Resumed(Said, frozen=True, tag="resumed"):
    """A run that was paused, or that failed, goes on."""


class StopRequested(Said, frozen=True, tag="stop_requested"):
    """The run was stopped."""


class Completed(Said, frozen=True, tag="completed"):
    """Somebody who read the findings calls the run's question answered."""


class Agreed(Said, frozen=True, kw_only=True, tag="agreed"):
    """A person agreed that an agent's sub-question falls away, or else that it is about the question."""

    sub_question: str
    is_waived: bool = False


class Ended(Event, frozen=True, tag="ended"):
    """The controller ended the run.

    Of a failed one, ``error`` says why, ``kind`` what kind of a model's error it was, and ``is_retryable``
    whether it may pass.
    """

    status: Status
    reason: str | None = None
    error: str = ""
    kind: str = ""
    is_retryable: bool = False


FOREIGN: Final = (Said, Recorded, ChildSpent)
"""Events that a process which does not work on the run may append."""


def _kinds(above: type[Event]) -> tuple[Any, ...]:
    below = above.__subclasses__()
    return tuple(kind for one in below for kind in _kinds(one)) or (above,)


_Kind = TypeVar("_Kind", bound=Event)
_decode: Final[Callable[[bytes | str], Event]] = msgspec.json.Decoder(reduce(or_, _kinds(Event))).decode
_encode: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode


def encode_event(event: Event) -> bytes:
    """Build the JSON of an event, without its version; lone surrogates are replaced.

    Raises
    ------
    TypeError, RecursionError
        A result or data that is not JSON, or is nested too deeply.
    """
    try:
        return _encode(event)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(event), ensure_ascii=False)
        return _encode(json.loads(text.encode("utf-8", "replace")))


def as_stored(event: _Kind) -> _Kind:
    """Return an event as `decode_event` will read it: tuples in a result are lists, NaN is None."""
    return cast("_Kind", _decode(encode_event(event)))


def decode_event(data: bytes | str) -> Event:
    """Read an event that `encode_event` wrote.

    Raises
    ------
    RunError
        The event is of a later release, or damaged.
    """
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError(
            f"the run has an event that cannot be read ({error}); upgrade coreloop, or restore the store"
        ) from error


def spent(event: Spending) -> Amount:
    """What an event of spending reserves or settles."""
    return Amount(event.microusd, event.tokens)
