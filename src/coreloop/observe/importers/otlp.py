"""Spans of OpenTelemetry, as the JSON of OTLP has them.

And as MLflow, Phoenix (the API, and data frames), Tempo, and the console exporter write them: one function
knows the names of each.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from coreloop.base.record_lines import MAX_CHARS
from coreloop.observe.adapters.plain_values import rejection_in
from coreloop.observe.importers import attributes as known
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.message_forms import error_in, result_of
from coreloop.observe.importers.openai_chat import read_messages
from coreloop.observe.importers.spans import TraceSpan, scored
from coreloop.observe.importers.traced_request import NO_TIME, SkippedTrace
from coreloop.observe.scores import evaluations_in, scores_in

NAME: Final = "otlp"
# Names of the parts of a span as `plain` leaves them: of OTLP, flat spans, and JavaScript.
_STARTED: Final = ("starttimeunixnano", "starttime")
_ENDED: Final = ("endtimeunixnano", "endtime")
_PARENTS: Final = ("parentspanid", "parentid", "parentspancontext")
_CODES: Final = ("gen_ai.tool.status", "tool.status")
_MESSAGES: Final = ("error.message", "exception.message")
_FAILED: Final = (2, "2", "STATUS_CODE_ERROR", "ERROR", "error")
_NO_MESSAGE: Final = "error"
_DEEPEST: Final = 12


def plain(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a span under one name each, its ids among them."""
    context = values.first(span, "context", "spanContext", "_spanContext")
    parts = {**span, **context} if isinstance(context, dict) else span
    return {key.removeprefix("context.").replace("_", "").lower(): value for key, value in parts.items()}


def _id(id: Any) -> str | None:
    """An id as most write it: Python's console has ``0x``, and JavaScript a context."""
    id = values.text(plain(id).get("spanid") if isinstance(id, dict) else id)
    return None if id is None else id.removeprefix("0x")


def trace_and_parent(span: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The ids of a span's trace and of its parent; None for what it has not."""
    named = plain(span)
    return _id(named.get("traceid")), _id(values.first(named, *_PARENTS))


def span_of(span: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    """Read a span of OTLP, or a flat one; None if an object has no ids of one."""
    named = plain(span)
    trace_id, span_id = _id(named.get("traceid")), _id(named.get("spanid"))
    if trace_id is None or (span_id is None and "assessments" not in named):
        return None
    attributes = _attributes_of(span, named)
    trace_id = values.text(values.decoded(attributes.get("mlflow.traceRequestId"))) or trace_id
    events = list(map(_event, values.objects(named.get("events"))))
    evaluated = (evaluations_in(about) for about in (attributes, *(about for _, about in events)))
    scores = (*scores_in(span), *(score for found in evaluated for score in found))
    observed = values.first(named, "timeunixnano", "observedtimeunixnano")
    if span_id is None or (scores and observed is not None):
        return scored(trace_id, span_id, scores)
    kind = known.kind_of(attributes)
    started, ended = (values.read_time(values.first(named, *names)) for names in (_STARTED, _ENDED))
    if kind is None:
        return SkippedTrace("span of unknown kind")
    if started is None and ended is None:
        return NO_TIME
    common = TraceSpan(
        trace_id=trace_id,
        id=span_id,
        kind=kind,
        name=values.text(named.get("name")) or "?",
        parent_id=_id(values.first(named, *_PARENTS)),
        started=started,
        ended=ended,
        error=_error(named, attributes, events),
        provider=values.text(values.first(attributes, *known.PROVIDER)),
        model=values.text(values.first(attributes, *known.MODEL)),
        session_id=values.text(values.first(attributes, *known.SESSION)),
        scores=scores,
    )
    if kind == "tool":
        return _tool(common, attributes)
    messages = known.conversation_of(attributes, events)
    chat, reply = read_messages(messages), read_messages(messages[-1:])
    question = chat.last_question or known.question_of(attributes)
    answer = known.answer_of(attributes)
    if answer is None and reply.answer_chars is not None:
        answer = reply.answer
    messages = messages if chat.calls.all or chat.n_unpaired else []
    return replace(common, question=question, answer=answer, messages=messages)


def _tool(span: TraceSpan, attributes: Mapping[str, Any]) -> TraceSpan | SkippedTrace:
    name = known.tool_name(attributes, span.name)
    if name == "(merged tools)":  # Google ADK repeats parallel calls in an extra span
        return SkippedTrace("span that repeats others")
    args = values.arguments(values.first(attributes, *known.ARGUMENTS))
    result, error = _unwrapped(values.first(attributes, *known.RESULT))
    error, size = span.error or error, values.size_bytes(result)
    error = values.body_text(values.decoded(result)) or error if error == _NO_MESSAGE else error
    kept = values.decoded(result) if size and size < MAX_CHARS else None  # no one looks into a longer one
    return replace(span, name=name, args=args, result_size_bytes=size, result=kept, error=error)


def _unwrapped(result: Any) -> tuple[Any, str | None]:
    """What a tool gave inside the output of LangChain or LlamaIndex, and its text if that says it failed."""
    held = values.decoded(result)
    for key in ("output", "kwargs", "data"):
        held = held[key] if isinstance(held, dict) and isinstance(held.get(key), dict) else held
    if not isinstance(held, dict):
        return result, None
    is_message = held.get("type") == "tool" and "content" in held
    if not is_message and not held.keys() >= {"raw_output", "is_error"}:
        return result, None
    given = result_of({**held, "output": held.get("raw_output", held.get("content"))})
    return given["content"], given["error"]


def _event(event: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    return values.text(event.get("name")), known.in_one_form(_attributes(event.get("attributes")))


def _error(
    named: Mapping[str, Any], attributes: Mapping[str, Any], events: Iterable[tuple[Any, dict[str, Any]]]
) -> str | None:
    """The exception, the status message, or only the error's type; a rejection without its values."""
    status = named.get("status")
    inside = status if isinstance(status, dict) else {}
    kind = values.text(attributes.get("error.type"))
    codes = [values.first(inside, "code", "status_code"), status, named.get("statuscode")]
    codes += map(attributes.get, _CODES)
    if kind is None and not any(code in _FAILED for code in codes):
        return None
    raised = [about for name, about in events if name == "exception"]
    messages = [error_in(about, "exception.type", "exception.message") for about in raised]
    messages += [values.first(inside, "message", "description"), named.get("statusmessage")]
    messages += map(attributes.get, _MESSAGES)
    told = next(filter(None, map(values.text, messages)), None) or kind or _NO_MESSAGE
    return rejection_in(told) or told


def _attributes_of(span: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span; some may stand beside them, and a data frame has a column for each."""
    start = "attributes."
    beside = {"openinference.span.kind": named.get("spankind"), "input": named.get("input")}
    columns = {key.removeprefix(start): value for key, value in span.items() if key.startswith(start)}
    attributes = {**beside, "output": named.get("output"), **columns}
    attributes |= _attributes(named.get("attributes"))
    hidden = (None, "__REDACTED__")  # as OpenInference writes it
    return known.in_one_form({key: value for key, value in attributes.items() if value not in hidden})


def _attributes(value: Any, depth: int = _DEEPEST) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    pairs = [pair for pair in values.objects(value) if isinstance(pair.get("key"), str)]
    return {pair["key"]: _any_value(pair.get("value"), depth) for pair in pairs}


def _any_value(value: Any, depth: int) -> Any:
    """Decode OTLP's AnyValue, for example ``{"stringValue": …}``."""
    if not isinstance(value, dict) or depth < 0:
        return value if isinstance(value, str | int | float) else None
    key, inside = next(((key, item) for key, item in value.items() if item is not None), ("", None))
    kind, items = key.replace("_", "").lower(), inside.get("values") if isinstance(inside, dict) else None
    if kind == "arrayvalue":
        return [_any_value(item, depth - 1) for item in values.listed(items)]
    if kind == "kvlistvalue":
        return _attributes(values.listed(items), depth - 1)
    if kind == "intvalue" and isinstance(inside, str):
        with suppress(ValueError):
            return int(inside)  # 64 bits as text
    return None if isinstance(inside, dict | list) else inside
