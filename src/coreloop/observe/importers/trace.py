"""What a foreign trace says of one request, in coreloop's words, and how it becomes a record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from coreloop.categories import Categories
from coreloop.observe.parts import RecordedCall, error_text, number, open_record, tool_call
from coreloop.observe.sources import Lookup, Sources
from coreloop.records import Record, RecordedJudgment, hash_sequence, join_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCall:
    """One tool call.

    Attributes
    ----------
    args : dict
        By name; what came without names stands under ``value``.
    error : str or None
        None of a call that was ok.
    result_size_bytes : int or None
        Of what the model received.
    result : object
        What the model received; ``...`` where the trace does not have it.
    asked, answered : float or None
        When the model asked for the call and received its result, as seconds or numbers of messages: of
        calls that ran side by side, none had the other's result. None is after all calls before it.
    heard : tuple of str
        What the user said since the call before.
    """

    name: str
    args: Mapping[str, Any]
    error: str | None = None
    duration_ms: float | None = None
    result_size_bytes: int | None = None
    result: Any = ...
    asked: float | None = None
    answered: float | None = None
    heard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRequest:
    """One request of a foreign trace.

    Attributes
    ----------
    source : str
        The format's name.
    ids : tuple of str
        What names the request in its format, whatever file it stands in.
    ended : datetime
        With a zone.
    answer_chars : int
        Length of the final answer.
    """

    source: str
    ids: tuple[str, ...]
    question: str
    ended: datetime
    calls: tuple[TracedCall, ...]
    answer_chars: int = 0
    error: str | None = None
    violation: str | None = None
    provider: str | None = None
    model: str | None = None
    session_id: str | None = None
    rounds: int | None = None
    duration_ms: float | None = None
    judgment: RecordedJudgment | None = None

    @property
    def id(self) -> str:
        """``imp-`` and 16 hex digits of SHA-256 of the format and its ids: the same at every import."""
        named = "\0".join((self.source, *self.ids))
        return ID_PREFIX + sha256(named.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SkippedTrace:
    """A part of a trace that becomes no record, or no call of one, and why."""

    reason: str


ID_PREFIX: Final = "imp-"
TORN: Final = SkippedTrace("torn or not JSON")
FOREIGN: Final = SkippedTrace("not of this format")
NO_TIME: Final = SkippedTrace("no valid time")


def record_of(
    request: TracedRequest,
    *,
    categories: Categories,
    selectors: Mapping[str, Sequence[str]],
    drop: Callable[[str], None],
    sources: Sources | None = None,
) -> Record:
    """The v2 record of a request, by the functions that the collector uses.

    Parameters
    ----------
    request : TracedRequest
        A whole one: the sequence hash is of all its calls, however many of them a line can hold.
    categories : Categories
        The keyword rules.
    selectors : mapping of tool to argument names
        Of the tools that have their own.
    drop : callable
        Told of values that no record can hold.
    sources : Sources, optional
        What the requests of the same session before this one held.
    """
    record = open_record(
        request.question,
        request_id=request.id,
        categories=categories,
        provider=request.provider,
        model=request.model,
        session_id=request.session_id,
    )
    taken = [_recorded(call, selectors, drop) for call in request.calls]
    _trace_sources(request, taken, Sources() if sources is None else sources)
    record["tool_calls"] = [one.call for one in taken]
    record["ts"] = request.ended.astimezone(UTC).isoformat(timespec="microseconds")
    record["tool_sequence_hash"] = hash_sequence(
        join_steps(one.step for one in taken if one.step is not None)
    )
    record["chunk_len"] = request.answer_chars
    record["error"] = error_text(request.error)
    record["violation"] = error_text(request.violation)
    record["rounds"] = request.rounds
    record["duration_total_ms"] = number(request.duration_ms, drop=drop)
    record["origin"] = request.source
    if request.judgment is not None:
        record["judgment"] = request.judgment
    return record


def _recorded(
    call: TracedCall, selectors: Mapping[str, Sequence[str]], drop: Callable[[str], None]
) -> RecordedCall:
    return tool_call(
        call.name,
        call.args,
        ok=None,
        error=call.error,
        duration_ms=call.duration_ms,
        result_size_bytes=call.result_size_bytes,
        selectors=selectors,
        drop=drop,
    )


def _trace_sources(request: TracedRequest, taken: Sequence[RecordedCall], sources: Sources) -> None:
    """Write into each call where its arguments came from, of the results that had been received by then."""
    sources.add_question(request.question)
    if not sources.has_results and all(call.result is ... for call in request.calls):
        sources.mark_incomplete()
        return
    under_way: list[tuple[TracedCall, RecordedCall, Lookup]] = []
    for call, one in zip(request.calls, taken, strict=True):
        for text in call.heard:
            sources.add_question(text)
        done = [other for other in under_way if not _runs_beside(other[0], call)]
        _remember(sources, done)
        under_way = [other for other in under_way if _runs_beside(other[0], call)]
        asked = sources.look_up(one.args)
        if asked.args_from is not None:
            one.call["args_from"] = asked.args_from
        under_way.append((call, one, asked))
    _remember(sources, under_way)


def _remember(sources: Sources, done: Sequence[tuple[TracedCall, RecordedCall, Lookup]]) -> None:
    for call, one, asked in done:
        sources.remember(one.call["name"], call.result, asked.echoes, ok=one.call["ok"])


def _runs_beside(before: TracedCall, call: TracedCall) -> bool:
    return before.answered is not None and call.asked is not None and before.answered > call.asked
