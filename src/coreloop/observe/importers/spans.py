"""Groups the spans of tracing tools by trace and converts each trace into a request."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final, Literal

from coreloop.base.project.score_rule import Score
from coreloop.base.records import NO_RESULT
from coreloop.observe.calls import milliseconds
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_documents, read_each
from coreloop.observe.importers.openai_chat import read_messages
from coreloop.observe.importers.trace_values import decoded, first, listed, size_bytes
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import TracedCall

_BEGINNING: Final = SkippedTrace("beginning of a conversation that goes on in another trace")
_DEEPEST: Final = 12
_INSIDE: Final = ("observations", "child_runs")  # other spans in a span


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """The parts of a span that a record needs.

    Attributes
    ----------
    kind : str
        ``trace`` is the trace itself, in formats that have an object for it.
    args : dict
        Of a tool call.
    answer : str or None
        Empty if what was captured has no text; None if nothing was captured.
    result : object
        Of a tool call, as JSON of up to 64 KB; None if longer or absent.
    error : str or None
        None after success.
    """

    trace_id: str
    id: str
    kind: Literal["trace", "tool", "model", "other"]
    name: str
    parent_id: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    args: dict[str, Any] = field(default_factory=dict)
    question: str | None = None
    answer: str | None = None
    error: str | None = None
    result_size_bytes: int | None = None
    result: Any = None
    provider: str | None = None
    model: str | None = None
    session_id: str | None = None
    scores: tuple[Score, ...] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)


def scored(trace_id: str, about: str | None, scores: tuple[Score, ...]) -> TraceSpan:
    """Return scores that stand apart from what they are about: a span, or else the trace."""
    id = " ".join(("scores", about or "", *(score.name for score in scores)))
    return TraceSpan(trace_id=trace_id, id=id, kind="trace", name="scores", scores=scores)


@dataclass(frozen=True, slots=True)
class SpanFormat:
    """A format of documents with spans inside any envelopes.

    Attributes
    ----------
    part_of : callable
        Reads an object as a span; None if it is none.
    """

    NAME: str
    part_of: Callable[[dict[str, Any]], TraceSpan | SkippedTrace | None]
    SUFFIXES: tuple[str, ...] = (".json", ".jsonl")

    def read(self, files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
        """Yield one request per trace of files, see `requests_in`."""
        yield from requests_in(self.NAME, read_each(files, self._parts_of))

    def _parts_of(self, file: TraceFile) -> Iterator[TraceSpan | SkippedTrace]:
        with file.open() as opened:
            for document in read_documents(opened):
                found = [TORN] if document is TORN else _parts_in(document, self.part_of, _DEEPEST)
                yield from list(found) or [FOREIGN]


def requests_in(
    source: str, parts: Iterable[TraceSpan | SkippedTrace | UnusableFile]
) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Yield one request per trace, after all that is not a span.

    The spans wait, because a trace may be spread over all files. Of duplicates in any order, the version
    counts that ends later or says more.
    """
    traces: dict[str, dict[str, TraceSpan]] = {}
    for part in parts:
        if isinstance(part, TraceSpan):
            spans = traces.setdefault(part.trace_id, {})
            spans[part.id] = max(spans.get(part.id, part), part, key=_completeness)
        else:
            yield part
    by_end = sorted(traces.values(), key=lambda spans: max(map(_end, spans.values())))
    ordered = (sorted(spans.values(), key=_start_order) for spans in by_end)
    yield from _whole([part for spans in ordered for part in _request(source, spans)])


def _parts_in(value: Any, part_of: Callable[[dict[str, Any]], Any], depth: int) -> Iterator[Any]:
    value = _rows(value)
    if isinstance(value, dict):
        part = part_of(value)
        yield from [] if part is None else [part]
        value = [decoded(value.get(key)) for key in (value if part is None else _INSIDE)]
    for item in listed(value) if depth else ():
        yield from _parts_in(item, part_of, depth - 1)


def _rows(value: Any) -> Any:
    """The rows of a data frame that was written by columns; any other value unchanged."""
    traces = first(value, "context.trace_id", "trace_id") if isinstance(value, dict) else None
    if not isinstance(traces, dict):
        return value
    cells = {name: column for name, column in value.items() if isinstance(column, dict)}
    return [{name: column.get(row) for name, column in cells.items()} for row in traces]


def _whole(parts: list[TracedRequest | SkippedTrace]) -> list[TracedRequest | SkippedTrace]:
    """Leave out a trace that ends with a call whose result is in a later one, which has all its calls."""
    answered: set[int] = set()
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, TracedRequest) and part.calls:
            so_far = hash(part.question)
            for call in part.calls:
                so_far = hash((so_far, call.name, size_bytes(call.args)))
                answered.update([] if call.unknown else [so_far])
            if part.calls[-1].unknown and part.answer_chars is None and so_far in answered:
                parts[index] = _BEGINNING
    return parts


def _end(span: TraceSpan) -> datetime:
    return span.ended or UNDATED


def _completeness(span: TraceSpan) -> tuple[datetime, int]:
    return _end(span), sum(bool(getattr(span, field.name)) for field in fields(span))


def _start_order(span: TraceSpan) -> tuple[datetime, bool]:
    """Of those that started in one millisecond, which JavaScript counts, the first that was exported."""
    return span.started or UNDATED, span.parent_id is not None


def _request(source: str, spans: Sequence[TraceSpan]) -> Iterator[TracedRequest | SkippedTrace]:
    by_id = {span.id: span for span in spans}
    tools = [span for span in spans if span.kind == "tool"]
    outermost = [span for span in tools if not _is_inside_itself(span, by_id)]
    yield from [SkippedTrace("span nested in a span of the same tool")] * (len(tools) - len(outermost))
    # the trace itself knows best
    rest = sorted((span for span in spans if span.kind != "tool"), key=lambda span: span.kind != "trace")
    models = [span for span in spans if span.kind == "model"]
    question = next((span.question for span in rest if span.question), None)
    calls = _completed(list(map(_call, outermost)), _told(models) or _told(rest))
    if not calls and not (question and models):
        yield SkippedTrace("trace without a tool call or an answered question")
        return
    times = [time for span in spans for time in (span.started, span.ended) if time is not None]
    replies = [span for span in models if span.answer is not None or span.messages] or models
    replied = {span.id for span in replies}
    named = [*reversed(models), *spans]
    tops = [span for span in rest if span.kind == "trace" or span.parent_id not in by_id]
    captured = [span for span in rest if span.answer is not None]
    captured.sort(key=lambda span: (bool(span.answer), _end(span)), reverse=True)
    answers = [span.answer or "" for span in (*(span for span in tops if span.answer), *captured)]
    # the error of a model before another reply is not that of the request
    ends = [*(span for span in tops if span.kind != "model"), *models[-1:]]
    yield TracedRequest(
        source=source,
        ids=(spans[0].trace_id,),
        question=question or "",
        ended=max(times),
        calls=tuple(calls),
        answer_chars=len(answers[0]) if answers else None,
        error=next((span.error for span in ends if span.error), None),
        provider=next((span.provider for span in named if span.provider), None),
        model=next((span.model for span in named if span.model), None),
        session_id=next((span.session_id for span in spans if span.session_id), None),
        rounds=sum(span.parent_id not in replied for span in replies) or None,
        duration_ms=milliseconds(min(times), max(times)),
        scores=tuple(score for span in spans for score in span.scores),
    )


def _told(spans: Sequence[TraceSpan]) -> list[TracedCall]:
    """The calls in the messages of models, each once: what a model is sent repeats what came before.

    Calls before the last question of a conversation's first span are those of earlier requests.
    """
    calls: dict[Hashable, TracedCall] = {}
    earlier: dict[str | None, int] = {}
    messages: list[dict[str, Any]] = []
    for span in spans:
        is_new = read_messages(span.messages).question is not None
        messages = span.messages if is_new else [*messages, *span.messages]  # only what is new was sent
        chat, same = read_messages(messages), Counter[Hashable]()
        for call in chat.calls.all[earlier.setdefault(chat.question, chat.n_earlier) :]:
            key = (chat.question, call.name, size_bytes(call.args))
            same[key] += 1
            known = calls.get((key, same[key]))
            if known is None or known.unknown:
                calls[key, same[key]] = call
    return list(calls.values())


def _completed(calls: list[TracedCall], told: list[TracedCall]) -> list[TracedCall]:
    """The calls of spans, with what the models' messages say of them, and those that have no span."""
    waiting: dict[Hashable, list[int]] = {}
    for index, call in enumerate(calls):
        waiting.setdefault((call.name, next(_written(call.args))), []).append(index)
    n_unlike = Counter(call.name for call in told)
    n_unlike.subtract(call.name for call in calls)
    placed, last, n_missing = list(enumerate(calls)), -1, len(told) - len(calls)
    for other in told:
        ways = (waiting.get((other.name, written)) for written in _written(other.args))
        if alike := next(filter(None, ways), None):
            last = alike.pop(0)
            if calls[last].args or not n_unlike[other.name]:
                _complete(calls[last], other)
        elif n_missing > 0:
            if calls:  # its times are numbers, those of spans are seconds
                other.asked = other.answered = None
            placed.append((last, other))
            n_missing -= 1
    return [call for _, call in sorted(placed, key=lambda place: place[0])]


def _written(args: Mapping[str, Any]) -> Iterator[str | int | None]:
    """Arguments as a span may have them: whole, or (LangChain by OpenInference) without a name, or none."""
    if args.keys() != {"value"}:
        yield size_bytes(args)
    for value in args.values() if len(args) == 1 else ():
        yield str(value) if isinstance(value, str | int | float) else None
    yield size_bytes({})


def _complete(call: TracedCall, told: TracedCall) -> None:
    call.args = told.args if call.args.keys() <= {"value"} else call.args
    is_told = told.unknown != NO_RESULT and call.args == told.args
    if is_told and call.result is ... and not call.error:
        call.result, call.result_size_bytes = told.result, told.result_size_bytes
        call.error, call.unknown = told.error, told.unknown


def _is_inside_itself(span: TraceSpan, by_id: dict[str, TraceSpan]) -> bool:
    """Whether two libraries trace a call: the spans of one tool are nested."""
    parent: TraceSpan = span
    for _ in by_id:  # hostile input may have circular parents
        above = by_id.get(parent.parent_id or "", span)
        if above is span or above.kind == "tool":
            return above is not span and above.name == span.name
        parent = above
    return False


def _call(span: TraceSpan) -> TracedCall:
    asked = None if span.started is None else span.started.timestamp()
    if span.started is not None and span.started.microsecond % 1000 == 0:
        asked = span.started.timestamp() + 0.000999  # JavaScript counts starts in milliseconds, ends exactly
    return TracedCall(
        name=span.name,
        args=span.args,
        error=span.error,
        duration_ms=milliseconds(span.started, span.ended),
        result_size_bytes=span.result_size_bytes,
        result=... if span.result is None else span.result,
        asked=asked,
        answered=None if span.ended is None else span.ended.timestamp(),
        unknown=NO_RESULT if span.ended is None and span.result_size_bytes is None else None,
    )
