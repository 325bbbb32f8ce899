"""The calls that a model asked for, with their answers: of a framework under way, or of an imported trace."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from coreloop.base.records import NO_RESULT
from coreloop.observe.argument_sources import Lookup, Sources
from coreloop.observe.failed_results import FailedResults
from coreloop.observe.record_parts import RecordedCall, tool_call
from coreloop.observe.shown_states import Compared


@dataclass(slots=True, kw_only=True)
class TracedCall:
    """One tool call.

    Attributes
    ----------
    args : dict
        By name; arguments without names are stored under ``value``.
    error : str, exception or None
        None if the call was ok.
    result_size_bytes : int or None
        Size of the result that the model received.
    result : object
        The result that the model received; ``...`` if it is not known.
    asked, answered : float or None
        When the model requested the call and received its result, in seconds or in answers so far.
        Overlapping calls did not have each other's result. None: after all earlier calls.
    user_texts : tuple of str
        The user's messages since the previous call.
    unknown : str or None
        Without an error: why it is not known whether the call was ok.
    began : datetime or None
        With a zone.
    """

    name: str
    args: Mapping[str, Any]
    error: str | BaseException | None = None
    duration_ms: float | None = None
    result_size_bytes: int | None = None
    result: Any = ...
    asked: float | None = None
    answered: float | None = None
    user_texts: tuple[str, ...] = ()
    unknown: str | None = None
    began: datetime | None = None

    def receive(self, content: Any, text: str) -> None:
        """Add the result that the model received: its content, and that as text."""
        self.result = ... if content is None else content
        self.result_size_bytes = len(text.encode("utf-8", "replace"))


class AskedCalls:
    """The calls of a request, in the order in which the model asked for them.

    An id may repeat: an answer belongs to the earliest call of its id that is open.
    """

    def __init__(self) -> None:
        self.all: list[TracedCall] = []
        self.open: dict[Hashable, list[TracedCall]] = {}
        self._n_answers = 0

    def ask(
        self,
        id: Hashable,
        name: str,
        args: Mapping[str, Any],
        *,
        began: datetime | None = None,
        user_texts: tuple[str, ...] = (),
    ) -> None:
        """Add a call; until it is answered, it is unknown whether it worked."""
        call = TracedCall(
            name=name,
            args=args,
            asked=self._n_answers,
            user_texts=user_texts,
            unknown=NO_RESULT,
            began=began,
        )
        self.all.append(call)
        self.open.setdefault(id, []).append(call)

    def answer(self, id: Hashable, *, ended: datetime | None = None) -> TracedCall | None:
        """Close a call, to which the caller adds its result or error; None if no call of the id is open."""
        waiting = self.open.get(id)
        if not waiting:
            return None
        call = waiting.pop(0)
        if not waiting:
            del self.open[id]
        self._n_answers += 1
        call.unknown, call.answered = None, self._n_answers
        if ended is not None:
            call.duration_ms = milliseconds(call.began, ended)
        return call


def milliseconds(began: datetime | None, ended: datetime | None) -> float | None:
    """Return the time between two moments; None if one is unknown or the clock went back."""
    if began is None or ended is None or ended < began:
        return None
    return round((ended - began).total_seconds() * 1000, 3)


def recorded_call(
    call: TracedCall,
    *,
    selectors: Mapping[str, Sequence[str]],
    drop: Callable[[str], None],
    failed_results: FailedResults,
) -> RecordedCall:
    """Build the call of a record, see `coreloop.observe.record_parts.tool_call`."""
    return tool_call(
        call.name,
        call.args,
        ok=None,
        error=call.error,
        duration_ms=call.duration_ms,
        result_size_bytes=call.result_size_bytes,
        selectors=selectors,
        drop=drop,
        result=call.result,
        failed_results=failed_results,
        unknown=call.unknown,
    )


_Recorded: TypeAlias = tuple[TracedCall, RecordedCall]


def trace_calls(
    calls: Sequence[_Recorded], sources: Sources, compared: Callable[[str], Compared | None]
) -> None:
    """Add the sources of arguments to each call, from the results that had been received by then."""
    has_results = sources.has_results or any(call.result is not ... for call, _ in calls)
    running: list[tuple[_Recorded, Lookup | None]] = []
    for call, recorded in calls:
        for text in call.user_texts:
            sources.add_question(text)
        done = [other for other in running if not _overlaps(other[0][0], call)]
        _remember(sources, done)
        running = [other for other in running if _overlaps(other[0][0], call)]
        lookup = None
        if has_results:
            lookup = sources.look_up(recorded.args, compared(call.name) if sources.has_results else None)
            lookup.add_to(recorded.call)
        running.append(((call, recorded), lookup))
    _remember(sources, running)


def _remember(sources: Sources, done: Sequence[tuple[_Recorded, Lookup | None]]) -> None:
    for (call, recorded), lookup in done:
        gave_result = bool(recorded.call["ok"]) or call.unknown == NO_RESULT
        sources.remember(recorded.call["name"], call.result, lookup, ok=gave_result)


def _overlaps(earlier: TracedCall, call: TracedCall) -> bool:
    return earlier.answered is not None and call.asked is not None and earlier.answered > call.asked
