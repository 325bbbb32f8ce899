"""Reads span attributes under the names that the tracing libraries use."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from coreloop.observe.importers.trace_values import answer_in, decoded, first, question_in, text

# In order: OpenTelemetry GenAI, pydantic-ai, Vercel AI SDK, Google ADK, Traceloop, MLflow, Langfuse,
# OpenInference, and unprefixed names.
ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args",
    "traceloop.entity.input", "mlflow.spanInputs", "langfuse.observation.input", "input.value", "input",
)  # fmt: skip
RESULT: Final = (
    "gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response",
    "traceloop.entity.output", "mlflow.spanOutputs", "langfuse.observation.output", "output.value", "output",
)  # fmt: skip
_QUESTION: Final = (
    "gen_ai.input.messages", "ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request",
    "gen_ai.prompt", "pydantic_ai.all_messages", "traceloop.entity.input", "mlflow.spanInputs",
    "langfuse.trace.input", "langfuse.observation.input", "input.value", "input",
)  # fmt: skip
_ANSWER: Final = (
    "gen_ai.output.messages", "ai.response.text", "gcp.vertex.agent.llm_response", "gen_ai.completion",
    "pydantic_ai.all_messages", "final_result", "traceloop.entity.output", "mlflow.spanOutputs",
    "langfuse.trace.output", "langfuse.observation.output", "output.value", "output",
)  # fmt: skip
PROVIDER: Final = (
    "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider",
    "mlflow.llm.provider",
)  # fmt: skip
MODEL: Final = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id", "mlflow.llm.model",
)  # fmt: skip
SESSION: Final = (
    "session.id", "gen_ai.conversation.id", "langfuse.session.id", "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id", "mlflow.trace.session",
)  # fmt: skip
_NAMES: Final = (
    "gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name", "mlflow.spanFunctionName",
)  # fmt: skip
_KINDS: Final = (
    "openinference.span.kind",
    "traceloop.span.kind",
    "mlflow.spanType",
    "langfuse.observation.type",
)
_MODEL_KINDS: Final = frozenset({"llm", "chat_model", "generation"})
_MODEL_OPERATIONS: Final = frozenset({"chat", "text_completion", "generate_content"})
_KNOWN: Final = (
    "gen_ai.",
    "openinference.",
    "traceloop.",
    "mlflow.span",
    "ai.operationId",
    "langfuse.",
    "llm.",
    "gcp.vertex.agent.",
)
_FLAT_MESSAGE: Final = re.compile(
    r"(llm\.input_messages|llm\.output_messages|gen_ai\.prompt|gen_ai\.completion)\.(\d+)\.(?:message\.)?(role|content)"
)

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
    return "other" if any(key.startswith(_KNOWN) for key in attributes) else None


def tool_name(attributes: Attributes, span_name: str) -> str:
    """Return the tool's name as the model sees it, or the span's name without a library's prefix."""
    name = text(decoded(first(attributes, *_NAMES)))
    return name or span_name.removeprefix("execute_tool ").removeprefix("running tool: ") or "?"


def question_of(attributes: Attributes) -> str | None:
    """Return the user's question if this span has it."""
    flat = flat_messages(attributes, "input_messages", "prompt")
    return question_in(flat) or _first_text(attributes, _QUESTION, question_in)


def answer_of(attributes: Attributes) -> str | None:
    """Return the answer if this span has it: empty if what was captured has no text."""
    flat = flat_messages(attributes, "output_messages", "completion")
    answer = answer_in(flat) or _first_text(attributes, _ANSWER, answer_in)
    is_captured = bool(flat) or first(attributes, *_ANSWER) is not None
    return answer or ("" if is_captured else None)


def exception_in(attributes: Attributes) -> str | None:
    """Return the type and message of an exception, which an event of a span has."""
    parts = [text(attributes.get("exception.type")), text(attributes.get("exception.message"))]
    return ": ".join(part for part in parts if part) or None


def _first_text(attributes: Attributes, keys: tuple[str, ...], text_in: Any) -> str | None:
    return next((body for key in keys if key in attributes and (body := text_in(attributes[key]))), None)


def flat_messages(attributes: Attributes, *suffixes: str) -> list[dict[str, Any]]:
    """Read messages that are written as one attribute per message and field."""
    messages: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = _FLAT_MESSAGE.fullmatch(key)
        if match is not None and match[1].endswith(suffixes):
            messages.setdefault(int(match[2][:9]), {})[match[3]] = value
    return [messages[index] for index in sorted(messages)]
