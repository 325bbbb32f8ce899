"""OTLP JSON files of the OpenTelemetry collector and exporters: one request per trace.

Also reads spans as MLflow, Phoenix (the API, and data frames), Tempo, Jaeger, and the console exporter write
them: one function knows the names of each.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import (
    arguments,
    body_text,
    decoded,
    first,
    listed,
    question_in,
    read_time,
    size_bytes,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, NO_TIME, SkippedTrace, TracedRequest
from coreloop.observe.scores import EVENT, evaluations_in, scores_in

NAME: Final = "otlp"
SUFFIXES: Final = (".json", ".jsonl")
_MERGED: Final = "(merged tools)"
# How exporters name the parts of a span: OTLP first, then flat spans, Jaeger, JavaScript, Zipkin, Datadog.
_TRACE: Final = ("traceId", "trace_id", "traceID")
_SPAN: Final = ("spanId", "span_id", "spanID")
_PARENT: Final = (
    "parentSpanId",
    "parent_span_id",
    "parent_id",
    "parentId",
    "parentSpanContext",
    "references",
)
_STARTED: Final = (
    "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_ns", "timestamp",
)  # fmt: skip
_ENDED: Final = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
_LOGGED: Final = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_timestamp")
_CONTEXTS: Final = ("context", "spanContext", "_spanContext")
_ATTRIBUTES: Final = ("attributes", "tags", "meta")
_CODES: Final = ("otel.status_code", "error", "gen_ai.tool.status", "tool.status")
_MESSAGES: Final = ("otel.status_description", "error.message", "exception.message")
_FAILED: Final = (2, "2", "STATUS_CODE_ERROR", "ERROR", "error", "true")
_ARRAYS: Final = ("arrayValue", "array_value")
_OBJECTS: Final = ("kvlistValue", "kvlist_value")
_SCALARS: Final = (
    "stringValue", "boolValue", "intValue", "doubleValue", "bytesValue",
    "string_value", "bool_value", "int_value", "double_value", "bytes_value",
)  # fmt: skip
_BASE64_CHARS: Final = (12, 24)  # of 8 and 16 bytes
_NO_SPANS: Final = ("info", "assessments")  # of MLflow, which have ids of spans, too
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
        if (rows := _rows(value)) is not None:
            yield from _spans_in(rows, depth - 1)
        elif _ids(value) is not None or known.kind_of(value) is not None:
            yield value
        else:
            held = [decoded(item) for key, item in value.items() if key not in _NO_SPANS]
            spans = [span for item in held for span in _spans_in(item, depth - 1)]
            yield from spans
            yield from _assessed(value.get("info", value), spans)


def _rows(table: dict[str, Any]) -> list[Any] | None:
    """The rows of a data frame that was written by columns, or as columns and data."""
    columns, data = table.get("columns"), table.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        names = list(map(str, columns))
        return [dict(zip(names, row, strict=False)) for row in data if isinstance(row, list)]
    traces = first(table, "context.trace_id", "trace_id")
    if not isinstance(traces, dict):
        return None
    cells = {name: column for name, column in table.items() if isinstance(column, dict)}
    return [{name: column.get(row) for name, column in cells.items()} for row in traces]


def _assessed(info: Any, spans: Iterable[Any]) -> Iterator[TraceSpan]:
    """The assessments of a trace of MLflow, whose own id of it is not the one of its spans."""
    ids = next((ids for span in spans if isinstance(span, dict) and (ids := _ids(span))), None)
    scores = scores_in(info) if isinstance(info, dict) else ()
    if scores and ids is not None:
        yield TraceSpan(trace_id=ids[0], id="info", kind="trace", name="assessments", scores=scores)


def _ids(span: Mapping[str, Any]) -> tuple[str, str] | None:
    contexts = [span[key] for key in _CONTEXTS if isinstance(span.get(key), dict)]
    named = {**span, **contexts[0]} if contexts else span
    trace_id = _hexadecimal(first(named, *_TRACE, "context.trace_id"))
    span_id = _hexadecimal(first(named, *_SPAN, "context.span_id"))
    if span_id is None and "duration" in span and "timestamp" in span:
        span_id = _hexadecimal(span.get("id"))
    return (trace_id, span_id) if trace_id is not None and span_id is not None else None


def _hexadecimal(id: Any) -> str | None:
    """An id as most write it: protobuf's own JSON has base64, Python's console ``0x``."""
    id = text(id)
    if id is not None and len(id) in _BASE64_CHARS and id.endswith("="):
        with suppress(binascii.Error, ValueError):
            return base64.b64decode(id, validate=True).hex()
    return None if id is None else id.removeprefix("0x")


def _parent(span: Mapping[str, Any]) -> str | None:
    parent = first(span, *_PARENT)
    above = parent[0] if isinstance(parent, list) and parent else parent  # Jaeger's references
    return _hexadecimal(first(above, *_SPAN) if isinstance(above, dict) else above)


def _times(span: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Start and end; of a log record, its time. A duration has the unit of its start."""
    began, ended = first(span, *_STARTED, *_LOGGED), first(span, *_ENDED)
    lasted = span.get("duration")
    numbers = (int, float)
    if ended is None and isinstance(began, numbers) and isinstance(lasted, numbers) and lasted >= 0:
        ended = began + lasted
    return read_time(began), read_time(ended)


def span_of(span: dict[str, Any]) -> TraceSpan | SkippedTrace:
    """Read a span of OTLP, or a flat one."""
    ids = _ids(span)
    if ids is None:
        return SkippedTrace("attributes of a span without its ids and times")
    of_events = [_event(event) for event in listed(first(span, "events", "logs"))]
    attributes = _attributes_of(span)
    evaluated = [evaluations_in(about) for name, about in of_events if name == EVENT]
    scores = (*scores_in(span), *evaluations_in(attributes), *chain.from_iterable(evaluated))
    is_log_record = first(span, *_LOGGED) is not None
    if scores and is_log_record:
        name = f"evaluation {ids[1]} {scores[0].name}"
        return TraceSpan(trace_id=ids[0], id=name, kind="trace", name=name, scores=scores)
    started, ended = _times(span)
    if is_log_record:
        return _log_record(span, ids, attributes, started)
    kind = known.kind_of(attributes)
    if kind is None:
        return SkippedTrace("span of unknown kind")
    if started is None and ended is None:
        return NO_TIME
    common = TraceSpan(
        trace_id=ids[0],
        id=ids[1],
        kind=kind,
        name=text(span.get("name")) or text(span.get("operationName")) or "?",
        parent_id=_parent(span),
        started=started,
        ended=ended,
        error=_error(span, attributes, of_events),
        provider=text(first(attributes, *known.PROVIDER)),
        model=text(first(attributes, *known.MODEL)),
        session_id=text(first(attributes, *known.SESSION)),
        scores=scores,
    )
    if kind == "tool":
        return _tool(common, attributes, dict(of_events))
    messages = known.conversation_of(attributes, of_events)
    answer = known.answer_of(attributes)
    if answer is None and messages and messages[-1].get("role") == "assistant":
        answer = body_text(messages[-1].get("content")) or (None if messages[-1].get("tool_calls") else "")
    question = known.question_of(attributes) or question_in(messages)
    return replace(common, question=question, answer=answer, messages=messages)


def _tool(
    span: TraceSpan, attributes: Mapping[str, Any], events: Mapping[Any, dict[str, Any]]
) -> TraceSpan | SkippedTrace:
    name = known.tool_name(attributes, span.name)
    if name == _MERGED:  # Google ADK repeats parallel calls in an extra span
        return SkippedTrace("span that repeats others")
    args, result = first(attributes, *known.ARGUMENTS), first(attributes, *known.RESULT)
    if args is None:  # Strands
        args = events.get("gen_ai.tool.message", {}).get("content")
    if result is None:
        result = events.get("gen_ai.choice", {}).get("message")
    result, error = _unwrapped(result)
    return replace(
        span,
        name=name,
        args=arguments(args),
        result_size_bytes=size_bytes(result),
        result=decoded(result),
        error=span.error or error,
    )


def _unwrapped(result: Any) -> tuple[Any, str | None]:
    """The content of a message of LangChain, and its text if the message says that the tool failed."""
    held = decoded(result)
    for key in ("output", "kwargs"):
        held = held[key] if isinstance(held, dict) and isinstance(held.get(key), dict) else held
    if not isinstance(held, dict) or held.get("type") != "tool" or "content" not in held:
        return result, None
    content = held["content"]
    return content, (body_text(content) or "failed") if held.get("status") == "error" else None


def _log_record(
    record: dict[str, Any], ids: tuple[str, str], attributes: dict[str, Any], at: datetime | None
) -> TraceSpan | SkippedTrace:
    """A message of a model's span, which OpenTelemetry may write as an event of a log."""
    body = record.get("body")
    body = _any_value(body, _DEEPEST) if isinstance(body, dict) and "kvlistValue" in body else body
    about = {**attributes, **(body if isinstance(body, dict) else {})}
    name = text(first(record, "eventName", "event_name")) or text(attributes.get("event.name"))
    messages = known.conversation_of({}, [(name, about)])
    if not messages:
        return SkippedTrace("span of unknown kind")
    id = f"log {ids[1]} {at} {name} {size_bytes(about)} {about.get('id')}"
    return TraceSpan(
        trace_id=ids[0],
        id=id,
        kind="message",
        name=id,
        parent_id=ids[1],
        started=at,
        ended=at,
        messages=messages,
    )


def _event(event: Any) -> tuple[str | None, dict[str, Any]]:
    """The name and attributes of an event of a span; Jaeger names it in a field."""
    event = event if isinstance(event, dict) else {}
    about = _attributes(first(event, "attributes", "fields"))
    return text(event.get("name")) or text(about.get("event")), about


def _error(
    span: dict[str, Any], attributes: Mapping[str, Any], events: Iterable[tuple[Any, dict[str, Any]]]
) -> str | None:
    """The exception, the status message, or only the error's type."""
    status = span.get("status")
    status = {**status, "code": first(status, "code", "status_code")} if isinstance(status, dict) else {}
    kind = text(attributes.get("error.type"))
    codes = (status.get("code"), span.get("status"), span.get("status_code"), *map(attributes.get, _CODES))
    if kind is None and not any(code is True or code in _FAILED for code in codes):
        return None
    exceptions = [known.exception_in(about) for name, about in events if name == "exception"]
    messages = (
        *exceptions,
        first(status, "message", "description"),
        span.get("status_message"),
        *map(attributes.get, _MESSAGES),
    )
    return next(filter(None, map(text, messages)), None) or kind or "error"


def _attributes_of(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span; its kind may stand beside them, and a data frame has a column for each."""
    columns = {
        key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")
    }
    kind = span.get("span_kind")
    beside = {"openinference.span.kind": kind} if isinstance(kind, str) and "." not in kind else {}
    attributes = _attributes(first(span, *_ATTRIBUTES))
    return known.in_one_form({**beside, **columns, **attributes})


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
        return value if isinstance(value, str | int | float) else None  # Jaeger's
    inside = first(value, *_ARRAYS, *_OBJECTS)
    values = inside.get("values") if isinstance(inside, dict) else None
    if isinstance(values, list) and first(value, *_ARRAYS) is not None:
        return [_any_value(item, depth - 1) for item in values]
    if isinstance(values, list):
        pairs = [pair for pair in values if isinstance(pair, dict)]
        return {str(pair.get("key")): _any_value(pair.get("value"), depth - 1) for pair in pairs}
    number = first(value, "intValue", "int_value")
    if isinstance(number, str) and number.lstrip("-").isdecimal() and len(number) < 20:  # 64 bits as text
        return int(number)
    return first(value, *_SCALARS)
