"""Reads span attributes under the names that the tracing libraries use."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from coreloop.observe.importers.trace_values import (
    answer_in,
    decoded,
    first,
    listed,
    message_objects,
    question_in,
    text,
)

# What goes into a span and what comes out, as Traceloop, MLflow, Langfuse, OpenInference, and others name it.
_IN: Final = (
    "traceloop.entity.input", "mlflow.spanInputs", "langfuse.observation.input", "input.value", "input",
)  # fmt: skip
_OUT: Final = (
    "traceloop.entity.output", "mlflow.spanOutputs", "langfuse.observation.output", "output.value", "output",
)  # fmt: skip
# Before these: OpenTelemetry GenAI, pydantic-ai, Vercel AI SDK, Google ADK.
ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args",
    *_IN,
)  # fmt: skip
RESULT: Final = (
    "gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response", *_OUT,
)  # fmt: skip
_SENT: Final = (
    "gen_ai.input.messages", "llm.input_messages", "ai.prompt.messages", "ai.prompt",
    "gcp.vertex.agent.llm_request", "gen_ai.prompt", "pydantic_ai.all_messages", "request_data",
)  # fmt: skip
_REPLIED: Final = (
    "gen_ai.output.messages", "llm.output_messages", "gcp.vertex.agent.llm_response", "gen_ai.completion",
    "response_data",
)  # fmt: skip
_QUESTION: Final = (*_SENT, "langfuse.trace.input", *_IN)
_ANSWER: Final = (
    "ai.response.text", *_REPLIED, "pydantic_ai.all_messages", "final_result", "langfuse.trace.output", *_OUT,
)  # fmt: skip
PROVIDER: Final = (
    "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider",
    "mlflow.llm.provider", "extra.metadata.ls_provider",
)  # fmt: skip
MODEL: Final = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id", "mlflow.llm.model",
    "extra.metadata.ls_model_name",
)  # fmt: skip
SESSION: Final = (
    "session.id", "gen_ai.conversation.id", "langfuse.session.id", "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id", "mlflow.trace.session", "extra.metadata.thread_id",
    "extra.metadata.session_id", "extra.metadata.conversation_id",
)  # fmt: skip
_NAMES: Final = (
    "gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name", "mlflow.spanFunctionName",
)  # fmt: skip
_KINDS: Final = (
    "traceloop.span.kind", "mlflow.spanType", "langfuse.observation.type", "gen_ai.span.kind",
    "openinference.span.kind", "llm.request.type", "span.kind",
)  # fmt: skip
_MODEL_KINDS: Final = frozenset({"llm", "chat_model", "generation", "chat", "completion"})
_MODEL_OPERATIONS: Final = frozenset({"chat", "text_completion", "generate_content"})
_KNOWN: Final = (
    "gen_ai.", "openinference.", "traceloop.", "mlflow.span", "ai.operationId", "langfuse.", "llm.",
    "gcp.vertex.agent.",
)  # fmt: skip
# A message that is written as one attribute per field, for example ``gen_ai.prompt.0.role``.
_NUMBERED: Final = re.compile(r"(llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion))\.(\d+)\.(.+)")
_MESSAGE_EVENT: Final = re.compile(r"gen_ai\.(?:(user|assistant|tool)\.message|choice)")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_DEEPEST: Final = 6

Attributes = Mapping[str, Any]


def kind_of(attributes: Attributes) -> Literal["tool", "model", "other"] | None:
    """Return the kind of a span; None if no known library wrote it."""
    kind = text(decoded(first(attributes, *_KINDS)))
    kind = kind.lower() if kind else ""
    operation = attributes.get("gen_ai.operation.name")
    if (
        kind == "tool"
        or operation == "execute_tool"
        or first(attributes, "gen_ai.tool.name", "ai.toolCall.name")
    ):
        return "tool"
    vercel = attributes.get("ai.operationId")
    if kind in _MODEL_KINDS or (isinstance(operation, str) and operation in _MODEL_OPERATIONS):
        return "model"
    if isinstance(vercel, str) and vercel.endswith((".doGenerate", ".doStream")):
        return "model"
    if not kind and operation is None and vercel is None and "gen_ai.request.model" in attributes:
        return "model"
    return "other" if any(key.startswith(_KNOWN) for key in attributes) else None


def tool_name(attributes: Attributes, span_name: str) -> str:
    """Return the tool's name as the model sees it, or the span's name without a library's prefix."""
    name = text(decoded(first(attributes, *_NAMES)))
    return name or span_name.removeprefix("execute_tool ").removeprefix("running tool: ") or "?"


def question_of(attributes: Attributes) -> str | None:
    """Return the user's question if this span has it."""
    return _first_text(attributes, _QUESTION, question_in)


def answer_of(attributes: Attributes) -> str | None:
    """Return the answer if this span has it; empty if it is known to be."""
    answer = _first_text(attributes, _ANSWER, answer_in)
    return answer or ("" if first(attributes, *_ANSWER) == "" else None)


def exception_in(attributes: Attributes) -> str | None:
    """Return the type and message of an exception, which an event of a span has."""
    parts = [text(attributes.get("exception.type")), text(attributes.get("exception.message"))]
    return ": ".join(part for part in parts if part) or None


def _first_text(attributes: Attributes, keys: tuple[str, ...], text_in: Any) -> str | None:
    return next((body for key in keys if key in attributes and (body := text_in(attributes[key]))), None)


def in_one_form(attributes: Attributes) -> dict[str, Any]:
    """Return attributes under flat names, with messages as lists, whichever way they were written."""
    flat = dict(_flat(attributes, "", _DEEPEST))
    lists: dict[str, Any] = {key: flat[key] for key in _SENT + _REPLIED if isinstance(flat.get(key), list)}
    numbered = [(match, value) for key, value in flat.items() if (match := _NUMBERED.fullmatch(key))]
    for match, value in numbered:
        rows = lists.setdefault(match[1], {})
        if isinstance(rows, dict):
            rows.setdefault(match[2], {})[match[3]] = value
    return {**flat, **{key: [_nested(row) for row in _rows(rows)] for key, rows in lists.items()}}


def _flat(values: Attributes, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if depth and isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.", depth - 1)
        yield prefix + key, value


def _nested(row: Any) -> Any:
    """A message as objects, of names such as ``message.tool_calls.0.tool_call.function.name``."""
    if not isinstance(row, dict):
        return row
    tree: dict[str, Any] = {}
    for key, value in row.items():
        *above, last = key.split(".", _DEEPEST)
        inside: Any = tree
        for name in above:
            inside = inside.setdefault(name, {}) if isinstance(inside, dict) else None
        if isinstance(inside, dict):
            inside.setdefault(last, value)
    return tree


def _rows(rows: Any) -> list[Any]:
    """A list, or the values of an object with numbers as names, in order."""
    rows = decoded(rows)
    if isinstance(rows, dict):
        return [rows[key] for key in sorted(rows, key=lambda key: (len(key), key))]
    return listed(rows)


def conversation_of(
    attributes: Attributes, events: Iterable[tuple[Any, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the messages that a model was sent and its reply, in the form of `openai_chat`."""
    written = listed(decoded(first(attributes, "events", "all_messages_events")))
    events = [*events, *((event.get("event.name"), event) for event in written if isinstance(event, dict))]
    told = [message for name, about in events for message in _of_event(name, about)]
    if told:
        return told
    replied = _messages(attributes, *_REPLIED)
    calls, answer = (attributes.get(f"ai.response.{name}") for name in ("toolCalls", "text"))
    if not replied and (calls or answer):
        replied = [_unwrapped_message({"role": "assistant", "content": answer, "tool_calls": calls})]
    return [*_messages(attributes, *_SENT, *_IN), *(replied or _messages(attributes, *_OUT))]


def _of_event(name: Any, about: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message of an event, or those of one that has all."""
    if name == _DETAILS:
        yield from conversation_of(about, ())
    match = _MESSAGE_EVENT.fullmatch(name) if isinstance(name, str) else None
    if match is not None:
        message = dict(about)
        for key in ("gen_ai.event.content", "message"):
            inside = decoded(message.pop(key, None))
            message |= inside if isinstance(inside, dict) else {"content": inside} if inside else {}
        content = decoded(message.get("content"))
        message["content"] = content if isinstance(content, list) else message.get("content")
        call_id = first(message, "tool_call_id", "id")
        yield _unwrapped_message({**message, "role": match[1] or "assistant", "tool_call_id": call_id})


def _messages(attributes: Attributes, *keys: str) -> list[dict[str, Any]]:
    for key in keys:
        messages = list(message_objects(decoded(attributes.get(key))))
        if messages:
            return [_unwrapped_message(message) for message in messages]
    return []


def _unwrapped_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the wrappers that OpenInference has around calls and parts."""
    calls = [_unwrapped(call, "tool_call") for call in _rows(message.get("tool_calls"))]
    contents = [_unwrapped(part, "message_content") for part in _rows(message.get("contents"))]
    wrapped = {"tool_calls": calls, "content": contents}
    return {**message, **{key: value for key, value in wrapped.items() if value}}


def _unwrapped(value: Any, wrapper: str) -> dict[str, Any]:
    value = _nested(value)
    inside = value.get(wrapper, value) if isinstance(value, dict) else None
    return inside if isinstance(inside, dict) else {}
