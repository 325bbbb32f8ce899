"""OTLP JSON files of the OpenTelemetry collector and exporters: one request per trace.

Also reads flat spans, as downloaded from MLflow and Phoenix.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from coreloop.base.project.score_rule import Score
from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import (
    arguments,
    decoded,
    first,
    read_timestamp,
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
    yield from requests(NAME, read_parts(files, _spans_of))


def _spans_of(document: Any) -> Iterator[TraceSpan | SkippedTrace]:
    n_spans = 0
    for span in _spans_in(document, _DEEPEST):
        n_spans += 1
        yield span if isinstance(span, TraceSpan) else _span(span)
    if not n_spans:
        yield FOREIGN


def _spans_in(value: Any, depth: int) -> Iterator[dict[str, Any] | TraceSpan]:
    """The spans in a document, inside any envelopes; and a trace itself, if it was assessed."""
    if depth < 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _spans_in(item, depth - 1)
    elif isinstance(value, dict):
        inside = [value[key] for key in _CONTAINERS if isinstance(value.get(key), list | dict)]
        if inside:
            ids = None
            for item in inside:
                for span in _spans_in(item, depth - 1):
                    ids = ids or (_ids(span) if isinstance(span, dict) else None)
                    yield span
            scores = scores_in(value["info"]) if isinstance(value.get("info"), dict) else ()
            if scores and ids is not None:  # MLflow's own id of the trace is not the one of its spans
                yield TraceSpan(trace_id=ids[0], id="info", kind="trace", name="assessments", scores=scores)
        elif _ids(value) is not None or known.kind_of(value) is not None:
            yield value


def _ids(span: Mapping[str, Any]) -> tuple[str, str] | None:
    context = span.get("context")
    holders = [span, context] if isinstance(context, dict) else [span]
    trace_id = next((id for holder in holders if (id := text(first(holder, "traceId", "trace_id")))), None)
    span_id = next((id for holder in holders if (id := text(first(holder, "spanId", "span_id")))), None)
    return (trace_id, span_id) if trace_id is not None and span_id is not None else None


def _span(span: dict[str, Any]) -> TraceSpan | SkippedTrace:
    ids = _ids(span)
    if ids is None:
        return SkippedTrace("attributes of a span without its ids and times")
    attributes = _attributes(span.get("attributes"))
    scores = _scores(span, attributes)
    if scores and _is_log_record(span):
        name = f"evaluation {ids[1]} {scores[0].name}"
        return TraceSpan(trace_id=ids[0], id=name, kind="trace", name=name, scores=scores)
    kind = known.kind_of(attributes)
    if kind is None:
        return SkippedTrace("span of unknown kind")
    started = read_timestamp(first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time"))
    ended = read_timestamp(first(span, "endTimeUnixNano", "end_time_unix_nano", "end_time"))
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
        error=_error(span, attributes),
        provider=text(first(attributes, *known.PROVIDER)),
        model=text(first(attributes, *known.MODEL)),
        session_id=text(first(attributes, *known.SESSION)),
        scores=scores,
    )
    if kind == "tool":
        return _as_tool(common, attributes)
    return replace(common, question=known.question_of(attributes), answer=known.answer_of(attributes))


def _is_log_record(span: Mapping[str, Any]) -> bool:
    return first(span, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano") is not None


def _scores(span: dict[str, Any], attributes: Mapping[str, Any]) -> tuple[Score, ...]:
    """Evaluations in the attributes and events of a span or log record, and exported annotations."""
    events = span.get("events")
    of_events = [
        score
        for event in (events if isinstance(events, list) else [])
        if isinstance(event, dict) and event.get("name") == EVENT
        for score in evaluations_in(_attributes(event.get("attributes")))
    ]
    return (*scores_in(span), *evaluations_in(attributes), *of_events)


def _as_tool(span: TraceSpan, attributes: Mapping[str, Any]) -> TraceSpan | SkippedTrace:
    name = known.tool_name(attributes, span.name)
    if name == _MERGED:  # Google ADK repeats parallel calls in an extra span
        return SkippedTrace("span that repeats others")
    args, result = arguments(first(attributes, *known.ARGUMENTS)), first(attributes, *known.RESULT)
    return replace(span, name=name, args=args, result_size_bytes=size_bytes(result), result=decoded(result))


def _error(span: dict[str, Any], attributes: Mapping[str, Any]) -> str | None:
    """The exception, the status message, or only the error's type."""
    status = span.get("status")
    status = (
        status
        if isinstance(status, dict)
        else {"code": span.get("status_code"), "message": span.get("status_message")}
    )
    kind = text(attributes.get("error.type"))
    code = first(status, "code", "status_code")
    if kind is None and code not in (2, "2", "STATUS_CODE_ERROR", "ERROR"):
        return None
    message = text(status.get("message")) or text(attributes.get("error.message"))
    return _exception(span) or message or kind or "error"


def _exception(span: dict[str, Any]) -> str | None:
    events = span.get("events")
    for event in events if isinstance(events, list) else []:
        if isinstance(event, dict) and event.get("name") == "exception":
            attributes = _attributes(event.get("attributes"))
            parts = [text(attributes.get("exception.type")), text(attributes.get("exception.message"))]
            return ": ".join(part for part in parts if part) or None
    return None


def _attributes(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    pairs = value if isinstance(value, list) else []
    return {
        pair["key"]: _any_value(pair.get("value"), _DEEPEST)
        for pair in pairs
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
