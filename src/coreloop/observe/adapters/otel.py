"""Any OpenTelemetry SDK of this process: a span processor.

    provider.add_span_processor(record_spans())

Reads the GenAI conventions, old and new, and OpenInference: the names in `importers.attributes`. One record a
trace. Calls come from the spans of tools, and from the messages of models' spans if those are captured: only
there is a call of an unknown tool.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from coreloop.base.project.score_rule import Score
from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection_in
from coreloop.observe.adapters.requests import Requests
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import never_raises
from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.trace_values import arguments, decoded, first
from coreloop.observe.scores import EVENT, evaluations_in

_INPUT: Final = ("gen_ai.input.messages", "pydantic_ai.all_messages")
_DEEPEST: Final = 6
MAX_SPANS: Final = 50_000
"""Spans that are open: about 200 bytes each. The oldest lost its end."""


def record_spans(data_dir: str | os.PathLike[str] | None = None) -> Any:
    """Return a span processor that records the traces of agents.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    processor: Any = _processor()(Requests(data_dir))
    return processor


class _Open(NamedTuple):
    """An open span: its request, and whether it is a tool's or inside one."""

    key: int
    in_tool: bool


class Traces:
    """The traces under way, by their ids."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self._spans: OrderedDict[int, _Open] = OrderedDict()

    @never_raises
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Note which request a span belongs to: an agent inside a tool's span is a request of its own."""
        attributes = span.attributes or {}
        outer = None if span.parent is None else self._spans.get(span.parent.span_id)
        is_tool = known.kind_of(attributes) == "tool"
        if outer is None:
            opened = _Open(span.context.trace_id, is_tool)
        elif outer.in_tool and _is_agent(attributes):
            opened = _Open(span.context.span_id, False)
            self.requests.start(opened.key, parent=outer.key)
        else:
            opened = _Open(outer.key, outer.in_tool or is_tool)
        self._spans[span.context.span_id] = opened
        if len(self._spans) > MAX_SPANS:
            self._spans.popitem(last=False)

    @never_raises
    def on_end(self, span: Any) -> None:
        """Add a span that has ended; an outermost span, and a nested agent's, end their request."""
        attributes = dict(span.attributes or {})
        opened = self._spans.pop(span.context.span_id, None)
        key = span.context.trace_id if opened is None else opened.key
        kind = known.kind_of(attributes)
        if kind is not None:
            self._add(key, kind, span, attributes)
        request, scores = self.requests.get(key), _scores(span, attributes)
        if scores and request is not None:
            request.judge(scores)
        is_outermost = span.parent is None or span.parent.is_remote or key == span.context.span_id
        if is_outermost and key in self.requests:
            self.requests.end(key, answer=known.answer_of(attributes) or None, error=_error(span, attributes))

    def shutdown(self) -> None:
        """Write what is open."""
        self.requests.flush()

    def _add(self, key: int, kind: str, span: Any, attributes: Mapping[str, Any]) -> None:
        if key not in self.requests:
            session = first(attributes, *known.SESSION)
            self.requests.start(key, session_id=None if session is None else str(session))
        if kind == "tool":
            self._add_tool(key, span, attributes)
            return
        self.requests.question(key, known.question_of(attributes) or "")
        if kind == "model":
            self._add_model(key, span, attributes)

    def _add_tool(self, key: int, span: Any, attributes: Mapping[str, Any]) -> None:
        call_id = attributes.get("gen_ai.tool.call.id") or attributes.get("tool_call.id")
        if call_id is None:
            call_id = span.context.span_id
        name = known.tool_name(attributes, span.name)
        args, result = arguments(first(attributes, *known.ARGUMENTS)), first(attributes, *known.RESULT)
        self.requests.asked(key, call_id, name, args)
        self.requests.timed(key, call_id, (span.end_time - span.start_time) / 1e6)
        error = _error(span, attributes)
        if error is None:
            self.requests.answered(key, call_id, ... if result is None else decoded(result))
        else:
            self.requests.answered(key, call_id, error=error)

    def _add_model(self, key: int, span: Any, attributes: Mapping[str, Any]) -> None:
        for part in _parts(decoded(first(attributes, *_INPUT)), "tool_call_response"):
            call = self.requests.open_calls(key).get(part.get("id"))
            result = first(part, "result", "response")
            if call is not None:
                self._answer_unspanned(key, part["id"], call.name, result)
        self.requests.replied(
            key,
            provider=first(attributes, *known.PROVIDER),
            model=first(attributes, *known.MODEL),
            input_tokens=first(attributes, "gen_ai.usage.input_tokens", "llm.token_count.prompt"),
            output_tokens=first(attributes, "gen_ai.usage.output_tokens", "llm.token_count.completion"),
        )
        self.requests.sent(key, _tools(decoded(attributes.get("gen_ai.tool.definitions"))))
        for part in _parts(decoded(attributes.get("gen_ai.output.messages")), "tool_call"):
            self.requests.asked(key, part.get("id"), str(part.get("name")), part.get("arguments"))

    def _answer_unspanned(self, key: int, call_id: str, name: str, result: Any) -> None:
        """Answer a call that no tool ran for: the model was told that there is no such tool."""
        text = result if isinstance(result, str) else ""
        if "unknown tool" in text.lower() or f"{name} is not a valid tool" in text:
            self.requests.answered(key, call_id, error=UNKNOWN_TOOL)
        else:
            self.requests.answered(key, call_id, error=rejection_in(text) or text or "no span of the tool")


@cache
def _processor() -> Any:
    """The class, made where the SDK is imported."""
    from opentelemetry.sdk.trace import SpanProcessor

    return type("RecordSpans", (Traces, SpanProcessor), {})


def _scores(span: Any, attributes: Mapping[str, Any]) -> list[Score]:
    events = [dict(event.attributes or {}) for event in span.events if event.name == EVENT]
    return [score for holder in (attributes, *events) for score in evaluations_in(holder)]


def _is_agent(attributes: Mapping[str, Any]) -> bool:
    operation, kind = attributes.get("gen_ai.operation.name"), attributes.get("openinference.span.kind")
    return operation == "invoke_agent" or (isinstance(kind, str) and kind.upper() == "AGENT")


def _parts(messages: Any, kind: str, depth: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    """The parts of one kind in messages, in any nesting."""
    if depth < 0:
        return
    if isinstance(messages, list):
        for item in messages:
            yield from _parts(item, kind, depth - 1)
    elif isinstance(messages, dict):
        if messages.get("type") == kind:
            yield messages
        else:
            yield from _parts(messages.get("parts"), kind, depth - 1)


def _tools(definitions: Any) -> list[SentTool]:
    found = []
    for tool in definitions if isinstance(definitions, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            found.append(SentTool(tool["name"], str(tool.get("description") or ""), tool.get("parameters")))
    return found


def _error(span: Any, attributes: Mapping[str, Any]) -> str | None:
    """The exception, the status's message, or only the error's type; a rejection without its values."""
    if span.status.status_code.name != "ERROR" and "error.type" not in attributes:
        return None
    told = [str(span.status.description or "")]
    for event in span.events:
        if event.name == "exception":
            told.insert(0, _exception(dict(event.attributes or {})))
    text = next((text for text in told if text), None)
    text = text or str(attributes.get("error.type") or "error")
    return rejection_in(text) or text


def _exception(attributes: Mapping[str, Any]) -> str:
    parts = (attributes.get("exception.type"), attributes.get("exception.message"))
    return ": ".join(str(part) for part in parts if part)
