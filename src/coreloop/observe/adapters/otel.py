"""Any OpenTelemetry SDK of this process: a span processor.

    provider.add_span_processor(record_spans())

Reads the GenAI conventions, old and new, and OpenInference: the names in `importers.attributes`. One record a
trace. Calls come from the spans of tools, and from the messages of models' spans if those are captured: only
there is a call of an unknown tool.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection_in, sent_tools
from coreloop.observe.adapters.requests import AdaptedRequest
from coreloop.observe.drops import never_raises
from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.trace_values import arguments, decoded, first, objects

_INPUT: Final = ("gen_ai.input.messages", "pydantic_ai.all_messages")
# Spans that are open: about 200 bytes each. The oldest lost its end.
MAX_SPANS: Final = 50_000


def record_spans(data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Return a span processor that records the traces of agents.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    from opentelemetry.sdk.trace import SpanProcessor

    return type("RecordSpans", (Traces, SpanProcessor), {})(data_dir)


@dataclass(slots=True)
class _Trace:
    """The span that ends a request, and the request, once a span of a known library was seen."""

    top: int
    request: AdaptedRequest | None = None


class _Open(NamedTuple):
    """An open span: its trace, and whether it is a tool's or inside one."""

    trace: _Trace
    in_tool: bool


class Traces:
    """The spans under way, by their ids."""

    def __init__(self, data_dir: str | os.PathLike[str] | None = None) -> None:
        self._data_dir = data_dir
        self._spans: OrderedDict[int, _Open] = OrderedDict()

    @never_raises
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Note which request a span belongs to: an agent inside a tool's span is a request of its own."""
        attributes, id = span.attributes or {}, span.context.span_id
        outer = None if span.parent is None else self._spans.get(span.parent.span_id)
        in_tool = known.kind_of(attributes) == "tool"
        if outer is None:
            opened = _Open(_Trace(id), in_tool)
        elif outer.in_tool and _is_agent(attributes):
            request = AdaptedRequest(parent=outer.trace.request, data_dir=self._data_dir)
            opened = _Open(_Trace(id, request), False)
        else:
            opened = _Open(outer.trace, outer.in_tool or in_tool)
        self._spans[id] = opened
        if len(self._spans) > MAX_SPANS:
            self._spans.popitem(last=False)

    @never_raises
    def on_end(self, span: Any) -> None:
        """Add a span that has ended; an outermost span, and a nested agent's, end their request."""
        opened = self._spans.pop(span.context.span_id, None)
        if opened is None:
            return
        attributes, trace = known.in_one_form(span.attributes or {}), opened.trace
        kind = known.kind_of(attributes)
        if kind is not None and (trace.request is None or not trace.request.is_open):
            session = first(attributes, *known.SESSION)
            named = None if session is None else str(session)
            trace.request = AdaptedRequest(session_id=named, data_dir=self._data_dir)
        request = trace.request
        if request is None:
            return
        if kind == "tool":
            _add_tool(request, span, attributes)
        elif kind is not None:
            request.ask(known.question_of(attributes) or "")
        if kind == "model":
            _add_model(request, attributes)
        if trace.top == span.context.span_id:
            request.end(answer=known.answer_of(attributes) or None, error=_error(span, attributes))


def _add_tool(request: AdaptedRequest, span: Any, attributes: Mapping[str, Any]) -> None:
    call_id = attributes.get("gen_ai.tool.call.id") or attributes.get("tool_call.id") or span.context.span_id
    args, result = arguments(first(attributes, *known.ARGUMENTS)), first(attributes, *known.RESULT)
    request.asked(call_id, known.tool_name(attributes, span.name), args)
    request.finished(call_id, (span.end_time - span.start_time) / 1e6)
    error = _error(span, attributes)
    request.answered(call_id, ... if error or result is None else decoded(result), error=error)


def _add_model(request: AdaptedRequest, attributes: Mapping[str, Any]) -> None:
    for part in _parts(decoded(first(attributes, *_INPUT)), "tool_call_response"):
        if (call := request.open_calls.get(part.get("id"))) is not None:
            request.answered(part["id"], error=_unspanned(call.name, first(part, "result", "response")))
    request.replied(
        provider=first(attributes, *known.PROVIDER),
        model=first(attributes, *known.MODEL),
        input_tokens=first(attributes, "gen_ai.usage.input_tokens", "llm.token_count.prompt"),
        output_tokens=first(attributes, "gen_ai.usage.output_tokens", "llm.token_count.completion"),
    )
    request.sent(sent_tools(decoded(attributes.get("gen_ai.tool.definitions"))))
    for part in _parts(decoded(attributes.get("gen_ai.output.messages")), "tool_call"):
        request.asked(part.get("id"), str(part.get("name")), part.get("arguments"))


def _unspanned(name: str, result: Any) -> str:
    """What the model was told of a call that no tool ran for: there may be no such tool."""
    text = result if isinstance(result, str) else ""
    if "unknown tool" in text.lower() or f"{name} is not a valid tool" in text:
        return UNKNOWN_TOOL
    return rejection_in(text) or text or "no span of the tool"


def _is_agent(attributes: Mapping[str, Any]) -> bool:
    operation, kind = attributes.get("gen_ai.operation.name"), attributes.get("openinference.span.kind")
    return operation == "invoke_agent" or (isinstance(kind, str) and kind.upper() == "AGENT")


def _parts(messages: Any, kind: str) -> Iterator[dict[str, Any]]:
    """The parts of one kind in messages."""
    for message in objects(messages):
        yield from (part for part in objects(message.get("parts")) if part.get("type") == kind)


def _error(span: Any, attributes: Mapping[str, Any]) -> str | None:
    """The exception, the status's message, or only the error's type; a rejection without its values."""
    if span.status.status_code.name != "ERROR" and "error.type" not in attributes:
        return None
    exceptions = [dict(event.attributes or {}) for event in span.events if event.name == "exception"]
    told = [known.exception_in(exception) for exception in reversed(exceptions)]
    told += [span.status.description, str(attributes.get("error.type") or "error")]
    text = next(filter(None, told))
    return rejection_in(text) or text
