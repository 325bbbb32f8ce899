"""OTLP JSON files of the OpenTelemetry collector and exporters: one request per trace.

Also reads flat spans, as downloaded from MLflow and Phoenix.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import (
    arguments,
    decoded,
    first,
    listed,
    read_time,
    size_bytes,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, NO_TIME, SkippedTrace, TracedRequest
from coreloop.observe.scores import EVENT, evaluations_in, scores_in

NAME: Final = "otlp"
SUFFIXES: Final = (".json", ".jsonl")
_MERGED: Final = "(merged tools)"
_CONTAINERS: Final = (
    "resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "spans",
    "data", "traces", "resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records",
)  # fmt: skip
_DEEPEST: Final = 12


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the traces that have a tool call, or a question answered by a model."""
    yield from requests(NAME, read_parts(files, _parts_of))


def _parts_of(document: Any) -> Iterator[TraceSpan | SkippedTrace]:
    for part in list(_spans_in(document, _DEEPEST)) or [FOREIGN]:
        yield span_of(part) if isinstance(part, dict) else part


def _spans_in(value: Any, depth: int) -> Iterator[dict[str, Any] | TraceSpan | SkippedTrace]:
    """The spans in a document, inside any envelopes; and a trace itself, if it was assessed."""
    if depth < 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _spans_in(item, depth - 1)
    elif isinstance(value, dict):
        inside = [value[key] for key in _CONTAINERS if isinstance(value.get(key), list | dict)]
        spans = [span for item in inside for span in _spans_in(item, depth - 1)]
        yield from spans
        if inside:
            yield from _assessed(value.get("info"), spans)
        elif _ids(value) is not None or known.kind_of(value) is not None:
            yield value


def _assessed(info: Any, spans: Iterable[Any]) -> Iterator[TraceSpan]:
    """The assessments of a trace of MLflow, whose own id of it is not the one of its spans."""
    ids = next((ids for span in spans if isinstance(span, dict) and (ids := _ids(span))), None)
    scores = scores_in(info) if isinstance(info, dict) else ()
    if scores and ids is not None:
        yield TraceSpan(trace_id=ids[0], id="info", kind="trace", name="assessments", scores=scores)


def _ids(span: Mapping[str, Any]) -> tuple[str, str] | None:
    context = span.get("context")
    named = {**span, **context} if isinstance(context, dict) else span
    trace_id, span_id = text(first(named, "traceId", "trace_id")), text(first(named, "spanId", "span_id"))
    return (trace_id, span_id) if trace_id is not None and span_id is not None else None


def span_of(span: dict[str, Any]) -> TraceSpan | SkippedTrace:
    """Read a span of OTLP, or a flat one."""
    ids = _ids(span)
    if ids is None:
        return SkippedTrace("attributes of a span without its ids and times")
    attributes = _attributes(span.get("attributes"))
    events = [event for event in listed(span.get("events")) if isinstance(event, dict)]
    of_events = [(event.get("name"), _attributes(event.get("attributes"))) for event in events]
    evaluated = [evaluations_in(about) for name, about in of_events if name == EVENT]
    scores = (*scores_in(span), *evaluations_in(attributes), *chain.from_iterable(evaluated))
    is_log_record = first(span, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano") is not None
    if scores and is_log_record:
        name = f"evaluation {ids[1]} {scores[0].name}"
        return TraceSpan(trace_id=ids[0], id=name, kind="trace", name=name, scores=scores)
    kind = known.kind_of(attributes)
    if kind is None:
        return SkippedTrace("span of unknown kind")
    started = read_time(first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time"))
    ended = read_time(first(span, "endTimeUnixNano", "end_time_unix_nano", "end_time"))
    if started is None and ended is None:
        return NO_TIME
    common = TraceSpan(
        trace_id=ids[0],
        id=ids[1],
        kind=kind,
        name=text(span.get("name")) or "?",
        parent_id=text(first(span, "parentSpanId", "parent_span_id", "parent_id")),
        started=started,
        ended=ended,
        error=_error(span, attributes, of_events),
        provider=text(first(attributes, *known.PROVIDER)),
        model=text(first(attributes, *known.MODEL)),
        session_id=text(first(attributes, *known.SESSION)),
        scores=scores,
    )
    if kind != "tool":
        return replace(common, question=known.question_of(attributes), answer=known.answer_of(attributes))
    name = known.tool_name(attributes, common.name)
    if name == _MERGED:  # Google ADK repeats parallel calls in an extra span
        return SkippedTrace("span that repeats others")
    args, result = arguments(first(attributes, *known.ARGUMENTS)), first(attributes, *known.RESULT)
    return replace(common, name=name, args=args, result_size_bytes=size_bytes(result), result=decoded(result))


def _error(
    span: dict[str, Any], attributes: Mapping[str, Any], events: Iterable[tuple[Any, dict[str, Any]]]
) -> str | None:
    """The exception, the status message, or only the error's type."""
    status = span.get("status")
    if not isinstance(status, dict):
        status = {"code": span.get("status_code"), "message": span.get("status_message")}
    kind = text(attributes.get("error.type"))
    if kind is None and first(status, "code", "status_code") not in (2, "2", "STATUS_CODE_ERROR", "ERROR"):
        return None
    exceptions = [known.exception_in(about) for name, about in events if name == "exception"]
    message = text(status.get("message")) or text(attributes.get("error.message"))
    return next(filter(None, exceptions), None) or message or kind or "error"


def _attributes(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {
        pair["key"]: _any_value(pair.get("value"), _DEEPEST)
        for pair in listed(value)
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


def _any_value(value: Any, depth: int) -> Any:
    """Decode OTLP's AnyValue, for example ``{"stringValue": …}``."""
    if not isinstance(value, dict) or depth < 0:
        return None
    inside = first(value, "arrayValue", "kvlistValue")
    values = inside.get("values") if isinstance(inside, dict) else None
    if isinstance(values, list) and "arrayValue" in value:
        return [_any_value(item, depth - 1) for item in values]
    if isinstance(values, list):
        pairs = [pair for pair in values if isinstance(pair, dict)]
        return {str(pair.get("key")): _any_value(pair.get("value"), depth - 1) for pair in pairs}
    number = value.get("intValue")
    if isinstance(number, str) and number.lstrip("-").isdecimal() and len(number) < 20:  # 64 bits as text
        return int(number)
    return first(value, "stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
