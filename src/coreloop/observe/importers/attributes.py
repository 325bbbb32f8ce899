"""Reads span attributes under the names that the tracing libraries use."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from coreloop.observe.importers import openai_chat
from coreloop.observe.importers import trace_values as values

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
    "gcp.vertex.agent.llm_request", "gen_ai.prompt", "pydantic_ai.all_messages",
)  # fmt: skip
_REPLIED: Final = (
    "gen_ai.output.messages", "llm.output_messages", "gcp.vertex.agent.llm_response", "gen_ai.completion",
)  # fmt: skip
_QUESTION: Final = (*_SENT, "langfuse.trace.input", *_IN)
_ANSWER: Final = (
    "ai.response.text", *_REPLIED, "pydantic_ai.all_messages", "final_result", "langfuse.trace.output", *_OUT,
)  # fmt: skip
PROVIDER: Final = (
    "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "extra.metadata.ls_provider",
)  # fmt: skip
MODEL: Final = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id", "mlflow.llm.model",
    "extra.metadata.ls_model_name",
)  # fmt: skip
SESSION: Final = (
    "session.id", "gen_ai.conversation.id", "langfuse.session.id", "gcp.vertex.agent.session_id",
    "mlflow.trace.session", "ai.telemetry.metadata.sessionId", "extra.metadata.thread_id",
    "extra.metadata.session_id",
)  # fmt: skip
_NAMES: Final = (
    "gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name", "mlflow.spanFunctionName",
)  # fmt: skip
_KINDS: Final = (
    "traceloop.span.kind", "mlflow.spanType", "langfuse.observation.type", "gen_ai.span.kind",
    "openinference.span.kind", "llm.request.type", "gen_ai.operation.name", "ai.operationId",
)  # fmt: skip
_TOOL_KINDS: Final = {"tool", "execute_tool", "toolcall"}
_MODEL_KINDS: Final = {
    *("llm", "chat_model", "generation", "chat", "completion", "generate_content", "dogenerate", "dostream"),
}
_KNOWN: Final = (
    "gen_ai.", "openinference.", "traceloop.", "mlflow.span", "ai.operationId", "langfuse.", "llm.",
    "gcp.vertex.agent.",
)  # fmt: skip
# A message that is written as one attribute per field, for example ``gen_ai.prompt.0.role``.
_NUMBERED: Final = re.compile(r"(llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion))\.(\d+\..+)")
_WRAPPED: Final = ("llm.input_messages", "llm.output_messages")
_WRAPPERS: Final = {"message", "tool_call", "message_content"}
_REPR: Final = re.compile(r"[A-Z]\w*\(\w+=")  # of an object of Python, which LlamaIndex's spans cut
_MESSAGE_EVENT: Final = re.compile(r"gen_ai\.(?:(user|assistant|tool)\.message|choice)")
_DEEPEST: Final = 6

Attributes = Mapping[str, Any]


def kind_of(attributes: Attributes) -> Literal["tool", "model", "other"] | None:
    """Return the kind of a span; None if no known library wrote it."""
    kinds = {
        str(values.decoded(attributes[key])).rpartition(".")[2].lower()
        for key in _KINDS
        if attributes.get(key) is not None
    }
    if kinds & _TOOL_KINDS or values.first(attributes, "gen_ai.tool.name", "ai.toolCall.name"):
        return "tool"
    if kinds & _MODEL_KINDS or (not kinds and "gen_ai.request.model" in attributes):
        return "model"
    return "other" if any(key.startswith(_KNOWN) for key in attributes) else None


def tool_name(attributes: Attributes, span_name: str) -> str:
    """Return the tool's name as the model sees it, or the span's name without a library's prefix."""
    name = values.text(values.decoded(values.first(attributes, *_NAMES)))
    return name or span_name.removeprefix("execute_tool ").removeprefix("running tool: ") or "?"


def question_of(attributes: Attributes) -> str | None:
    """Return the user's question if this span has it."""
    return next(filter(None, map(openai_chat.question_in, map(attributes.get, _QUESTION))), None)


def answer_of(attributes: Attributes) -> str | None:
    """Return the answer if this span has it; empty if it is known to be."""
    said = filter(None, map(openai_chat.answer_in, map(attributes.get, _ANSWER)))
    answer = next((text for text in said if not _REPR.match(text)), None)
    return answer or ("" if values.first(attributes, *_ANSWER) == "" else None)


def in_one_form(attributes: Attributes) -> dict[str, Any]:
    """Return attributes under flat names, with messages as lists, whichever way they were written."""
    flat = dict(_flat(attributes, "", _DEEPEST))
    lists: dict[str, Any] = {key: values.decoded(flat[key]) for key in _WRAPPED if flat.get(key)}
    for key, value in flat.items():
        match = _NUMBERED.fullmatch(key)
        rows = lists.setdefault(match[1], {}) if match else None
        if match and isinstance(rows, dict):
            rows.setdefault(match[2], value)
    return {**flat, **{key: _nested(rows, 2 * _DEEPEST) for key, rows in lists.items()}}


def _flat(attributes: Attributes, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in attributes.items():
        if depth and isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.", depth - 1)
        yield prefix + key, value


def _nested(value: Any, depth: int) -> Any:
    """Objects, lists and messages of names such as ``0.message.tool_calls.0.tool_call.function.name``."""
    if isinstance(value, list) and depth:
        return [_nested(item, depth - 1) for item in value]
    if not isinstance(value, dict) or not depth:
        return value
    tree: dict[str, Any] = {}
    for key, item in value.items():
        name, _, inner = key.partition(".")
        inside = tree.setdefault(name, {} if inner else item)
        if inner and isinstance(inside, dict):
            inside.setdefault(inner, item)
    tree = {key: _nested(item, depth - 1) for key, item in tree.items()}
    if tree and all(map(str.isdecimal, tree)):
        return [tree[key] for key in sorted(tree, key=lambda key: (len(key), key))]
    return next(iter(tree.values())) if len(tree) == 1 and tree.keys() <= _WRAPPERS else tree


def conversation_of(
    attributes: Attributes, events: Iterable[tuple[Any, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the messages that a model was sent and its reply, in the form of `openai_chat`."""
    told = [message for name, about in events for message in _of_event(name, about)]
    if told:
        return told
    replied = _messages(attributes, *_REPLIED)
    calls, answer = (attributes.get(f"ai.response.{name}") for name in ("toolCalls", "text"))
    if not replied and (calls or answer):
        replied = [{"role": "assistant", "content": answer, "tool_calls": calls}]
    sent, replied = _messages(attributes, *_SENT, *_IN), replied or _messages(attributes, *_OUT)
    is_repeated = bool(sent) and sent[-1] in replied  # a step of a chain returns the whole conversation
    return replied if is_repeated else [*sent, *replied]


def _of_event(name: Any, about: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message of an event; none if it has no message."""
    match = _MESSAGE_EVENT.fullmatch(name) if isinstance(name, str) else None
    if match is not None:
        message = dict(about)
        for key in ("gen_ai.event.content", "message"):
            inside = values.decoded(message.pop(key, None))
            message |= inside if isinstance(inside, dict) else {"content": inside} if inside else {}
        held = values.decoded(message.get("content"))
        message |= {"content": held} if isinstance(held, list) else {}
        call_id = values.first(message, "tool_call_id", "id")
        yield {**message, "role": match[1] or "assistant", "tool_call_id": call_id}


def _messages(attributes: Attributes, *keys: str) -> list[dict[str, Any]]:
    found = (openai_chat.messages_in(attributes.get(key)) for key in keys)
    return next(filter(None, found), [])
