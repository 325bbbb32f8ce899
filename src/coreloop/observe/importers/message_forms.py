"""Chat messages of many APIs and frameworks, each as its role and its steps: texts, calls and results.

A message is recognised by its structure (`form_of`), a call or a result in it by the kind of its block,
``tool_use``, ``toolUse``, ``tool-call``, ``functionCall``, …, and a failure by what the form flags.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.records import NO_RESULT, REFUSED
from coreloop.observe.calls import AskedCalls
from coreloop.observe.failure_texts import NO_ERRORS
from coreloop.observe.importers import trace_values as values
from coreloop.observe.record_parts import TracedCall

CHAT: Final = "openai-chat"
TEXT, CALL, RESULT, UNKNOWN, OTHER = "text", "call", "result", "unknown", "other"  # what a step is
Step: TypeAlias = tuple[str, Any]
_Dict: TypeAlias = dict[str, Any]
# Role -> how forms name it: a role, or the class of a message.
_ROLES: Final = {
    "user": r"user|human|request|(?:Human|User)Message(?:Chunk)?",
    "tool": r"tool|function|ToolCallExecutionEvent|(?:Tool|Function\w*)Message(?:Chunk)?",
    "assistant": r"assistant|ai|model|\w*bot|response|ToolCallRequestEvent|(?!Sys)\w+Message(?:Chunk)?",
}
_BODIES: Final = ("parts", "content", "message", "refusal")
_TAGS: Final = ("part_kind", "type")
# Form, as its users know it -> what marks a message: a key, ``.`` a key of its blocks, their kind after their
# list's key, or without a role ``=`` its class if it has a content, ``-`` if it has none. The first counts.
_FORMS: Final = {
    "langchain": r"lc|=(?:human|ai|tool|function|system|chat|\w+MessageChunk)",
    "autogen": r"=[A-Z]\w+(?:Message|Event)",
    "pydantic-ai": r"\.part_kind",
    "google-adk": r"author",
    "vercel-ai": r"toolInvocations|\.toolCallId|\.toolName|parts:.+",
    "gemini": r"parts|tool_id",
    "haystack": r"\.tool_call|\.tool_call_result",
    "bedrock": r"\.toolUse|\.toolResult",
    "anthropic": r"\w+:\w*tool_(?:use|result)",
    "openai-responses": r"[=-](?:\w+_call(?:_output)?|reasoning|mcp_\w+|item_\w+|compaction)|\w+:\w+put_text",
    CHAT: r"role",
}
_CALLS: Final = ("tool_calls", "toolInvocations", "function_call", "invalid_tool_calls")
# Kinds of blocks, in snake case.
_TEXT: Final = re.compile(r"(?:input_|output_)?text|user_prompt|refusal")
_CALL: Final = re.compile(r"(?:\w+_)?(?:tool_use|call)|executable_code")
_RESULT: Final = re.compile(
    r"(?:\w+_)?(?:tool|function|call|execution)_(?:result|response|return|output|error)|retry_prompt"
)
_OTHER: Final = re.compile(
    r"(?:input_)?(?:image|file|audio|video|document|media|inline)\w*|\w*(?:reason|think|thought)\w*|redacted_\w+"
    r"|(?:source|citation|search|container|data|step|cache|guard|item|compaction|instruction|tool_approval|mcp|system)(?:_\w+|s)?"
)
OF_A_TOOL: Final = re.compile("tool|function|call|action|command|observation")
_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "callId", "tool_id")
_NAMES: Final = ("tool_name", "toolName", "function_name", "name")
_ARGS: Final = ("arguments", "args", "input", "parameters", "action", "code", "rawInput")
_OUTPUTS: Final = ("output", "content", "result", "response", "value", "outputs")
_VERCEL: Final = re.compile(r"(?:error-)?(?:text|json)|content|execution-denied")
_SETTLED: Final = ("output-available", "result", "output-error", "output-denied")
_FAILED: Final = re.compile(r"(?i)(?!no)(?:\w+[_-])?(?:error|failed)|error-\w+|retried|retry_prompt")
_FLAGS: Final = ("is_error", "isError", "tool_call_error", "tool_result_is_error")
_ERROR_TAG: Final = re.compile(r"</?tool_use_error>")
_DENIED: Final = re.compile(r"denied|(?:output|execution)-denied")


def form_of(message: _Dict) -> str | None:
    """Return the form of a message; None if it is of no known form."""
    role = values.text(message.get("role"))
    if role and message.keys().isdisjoint((*_BODIES, *_CALLS, "data", "actions")):
        return None
    marks = {*message}
    for key in _BODIES:
        for part in values.objects(message.get(key)):
            marks.update(f".{name}" for name in part)
            marks.add(f"{key}:{values.text(part.get('type')) or ''}")
    if not role:
        has_content = not {"content", "data"}.isdisjoint(message)
        marks.add(f"{'=' if has_content else '-'}{values.text(message.get('type'))}")
    return _form_marked(frozenset(mark[:100] for mark in marks))


def is_foreign_call(value: Any) -> bool:
    """Whether an object is of a kind that names a tool or a call, but of no known form."""
    kind = snake(values.text(value.get("type")) or "") if isinstance(value, dict) else ""
    return bool(OF_A_TOOL.search(kind)) and form_of(value) is None


@lru_cache(maxsize=1024)
def _form_marked(marks: frozenset[str]) -> str | None:
    matches = ((form, re.compile(pattern).fullmatch) for form, pattern in _FORMS.items())
    return next((form for form, is_mark in matches if any(map(is_mark, marks))), None)


def steps_in(messages: Iterable[Any]) -> Iterator[tuple[str, list[Step]]]:
    """Yield the role and the steps of each message.

    A call is ``id``, ``name`` and ``arguments``; a result ``id``, ``name``,
    ``content``, ``error`` and ``unknown``; what is of an unknown kind, that kind.
    """
    user: str | None = None
    has_calls = False
    for message in messages:
        if not isinstance(message, dict):
            continue
        if form_of(message) is None:
            yield "", [(UNKNOWN, snake(values.text(message.get("type")) or "message"))]
            continue
        inside = opened(message)
        user = user or values.text(inside.get("source"))
        role = _role(inside)
        if inside.get("type") == "TextMessage" and inside.get("source") in ("user", user):
            role = "user"  # of AutoGen's agents, who speaks first
        if has_calls and inside.get("type") == "ToolCallSummaryMessage":
            inside = {"content": inside.get("content")}  # its calls were told before
        has_calls = has_calls or inside.get("type") == "ToolCallRequestEvent"
        steps = [*_steps(inside)] if role is not None else []
        if role == "tool":  # which is a result itself if its blocks are none
            steps = [step for step in steps if step[0] == RESULT] or [(RESULT, result_of(inside))]
        if role is not None:
            yield role, steps


def opened(message: _Dict) -> _Dict:
    """Return a message without the wrapping of LangChain's dumps, ADK's events or Mastra's contents."""
    if "lc" in message and isinstance(message.get("kwargs"), dict):
        return {"type": [None, *values.listed(message.get("id"))][-1], **message["kwargs"]}
    content, data = message.get("content"), message.get("data")
    if isinstance(content, dict) and "parts" in content:
        return {"role": content.get("role"), **message, "parts": content["parts"]}
    return {**message, **data} if isinstance(data, dict) and "role" not in message else message


def _role(message: _Dict) -> str | None:
    """The role; None for messages of the system, and for events that say nothing."""
    named = values.text(values.first(message, "role", "kind", "type"))
    return _role_named(named) if named is not None else "user" if "parts" in message else None


@lru_cache(maxsize=256)
def _role_named(named: str) -> str | None:
    kind = snake(named)
    if _is_tool_kind(kind):
        return "assistant" if _CALL.fullmatch(kind) else "tool"
    name = named.rpartition(".")[2]  # ``MessageRole.USER``
    return next((role for role, names in _ROLES.items() if re.fullmatch(names, name, re.IGNORECASE)), None)


def _steps(message: _Dict) -> list[Step]:
    """The steps in a message's blocks, and the calls and results that stand beside them."""
    steps = [step for part in _parts(message) for step in _steps_of(part)]
    seen = {call["id"] for what, call in steps if what == CALL}
    holders = [holder for holder in (message, message.get("additional_kwargs")) if isinstance(holder, dict)]
    given = [holder[key] for holder in holders for key in _CALLS if holder.get(key)]
    for calls in map(values.decoded, given):
        held = values.objects(calls if isinstance(calls, list) else [calls])
        new = [call for call in held if not seen or _id(call, "id") not in seen | {None}]
        seen |= {_id(call, "id") for call in new}
        steps += [step for call in new for step in _call_steps(call, "tool_call")]
    results = values.objects(message.get("results"))
    return steps + [(RESULT, result_of(part, "tool_result")) for part in results]


def _parts(message: _Dict) -> list[Any]:
    if "role" not in message and _is_tool_kind(snake(values.text(message.get("type")) or "")):
        return [message]
    bodies = [message[key] for key in _BODIES if message.get(key)]
    return next((body for body in bodies if isinstance(body, list)), bodies[:1])


def _steps_of(part: Any) -> Iterator[Step]:
    if isinstance(part, str):
        yield TEXT, part
        return
    if not isinstance(part, dict):
        return
    kind, block = _kind(part)
    if _TEXT.fullmatch(kind):
        is_thought = block.get("thought") is True  # Gemini
        yield TEXT, "" if is_thought else values.body_text(values.first(block, "text", "content", "refusal"))
    elif _CALL.fullmatch(kind):
        yield from _call_steps(block, kind)
    elif kind == "retry_prompt" and not block.get("tool_name"):
        yield OTHER, kind  # it is about the answer
    elif _RESULT.fullmatch(kind):
        yield RESULT, result_of(block, kind)
    else:
        yield OTHER if _OTHER.fullmatch(kind) else UNKNOWN, kind


def _call_steps(block: _Dict, kind: str) -> Iterator[Step]:
    inner = next((block[key] for key in ("function", "custom") if isinstance(block.get(key), dict)), block)
    name = values.text(values.first(inner, *_NAMES)) or values.text(block.get("function"))
    name = name or ("?" if kind == "tool_call" else kind.removesuffix("_call"))
    yield CALL, {"id": _id(block, "id"), "name": name, "arguments": values.first(inner, *_ARGS)}
    if block.get("type") == "invalid_tool_call":
        block = {**block, "error": block.get("error") or "arguments are not JSON"}
    is_over = block.get("status") in ("completed", "failed")
    is_hosted = is_over and kind != "tool_call" and "call_id" not in block
    is_settled = is_hosted or block.get("output") is not None or bool(block.get("error"))
    if block["state"] in _SETTLED if isinstance(block.get("state"), str) else is_settled:
        yield RESULT, result_of(block, kind)


def _kind(block: _Dict) -> tuple[str, _Dict]:
    """The kind of a block in snake case, and its body."""
    kind = next((kind for tag in _TAGS if (kind := values.text(block.get(tag)))), None)
    if isinstance(block.get("toolInvocation"), dict):
        return "tool_call", block["toolInvocation"]
    if kind is not None and kind.startswith(("tool-", "dynamic-tool")) and "state" in block:
        return "tool_call", {"toolName": kind.removeprefix("tool-"), **block}
    if kind is not None:
        return snake(kind), block
    for key, value in block.items():
        if isinstance(value, dict) and _is_tool_kind(snake(key)):
            return snake(key), value
    if isinstance(block.get("text"), str):
        return "text", block
    if "call_id" in block or "arguments" in block:  # AutoGen
        return "tool_result" if "content" in block else "tool_call", block
    return next((snake(key) for key, value in block.items() if value is not None), "data"), block


def _is_tool_kind(kind: str) -> bool:
    return bool(_CALL.fullmatch(kind) or _RESULT.fullmatch(kind))


@lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """Return a key or a kind in snake case: ``toolUse`` and ``tool-use`` are ``tool_use``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[-.]", "_", name[:100]).lower()


def _id(block: _Dict, *own: str) -> str | None:
    id = values.first(block, *_IDS, *own)
    return str(id) if isinstance(id, int) else values.text(id)


def result_of(result: _Dict, kind: str = "") -> _Dict:
    """Read a result, with the error or the refusal that its form flags; ``kind`` is that of a block."""
    about = (result.get(key) for key in ("origin", "extra", "additional_kwargs"))
    block = next((held for held in about if isinstance(held, dict)), {}) | result
    content, stated, state = _unwrapped(values.first(block, *_OUTPUTS), kind)
    flags = (kind, state, *(block.get(key) for key in ("status", "outcome", "state")))
    states = [flag for flag in flags if isinstance(flag, str)]
    error = values.first({**block, "stated": stated}, "error", "errorText", "stated")
    unknown = NO_RESULT if "interrupted" in states else None
    unknown = REFUSED if any(map(_DENIED.fullmatch, states)) else unknown
    if any(map(_FAILED.fullmatch, states)) or True in map(block.get, _FLAGS):
        error = error or True
    is_said = any(error.values()) if isinstance(error, dict) else error
    is_flagged = bool(is_said) and str(error).lower() not in NO_ERRORS and unknown is None
    return {
        "id": _id(block, *(["id"] if kind else [])),
        "name": values.text(values.first(block, *_NAMES)),
        "content": content,
        "error": _error_text(error, content) if is_flagged else None,
        "unknown": unknown,
    }


def _unwrapped(content: Any, kind: str) -> tuple[Any, Any, str]:
    """The output that a result wraps, with its error and its state."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        document = content[0].get("document")  # of Cohere; Bedrock has ``json``
        data = document.get("data", content) if isinstance(document, dict) else content
        return content[0].get("json", data), None, ""
    if not isinstance(content, dict):
        return content, None, ""
    state = values.text(content.get("type")) or ""
    if _VERCEL.fullmatch(state) and (state == "execution-denied" or "value" in content):
        return values.first(content, "value", "reason"), None, state
    if kind == "function_response":  # Gemini
        error = None if content.keys() & {"output", "result"} else content.get("error")
        return (next(iter(content.values())) if len(content) == 1 else content), error, ""
    return content, None, state if kind.endswith("tool_result") else ""


def error_in(error: Any, *keys: str) -> str | None:
    """Return an error that is a text, or an object with ``keys``."""
    if not isinstance(error, dict):
        return values.text(error)
    return ": ".join(filter(None, (values.text(error.get(key)) for key in keys))) or "error"


def _error_text(error: Any, content: Any) -> str:
    stated = error.get("content", error) if isinstance(error, dict) else error  # of an MCP server
    if isinstance(stated, str | dict):
        told = error_in(stated, "type", "message")
    else:
        told = _result_text(stated if isinstance(stated, list) else content)
    return _ERROR_TAG.sub("", told or "").strip() or "failed"


def give(calls: AskedCalls, id: str, result: _Dict, *, at: datetime | None = None) -> TracedCall | None:
    """Give a result to its call as a model received it, with its size as text; see `AskedCalls.answer`."""
    content, how = result["content"], {"error": result["error"], "unknown": result["unknown"]}
    size = values.size_bytes(content if isinstance(content, dict) else values.body_text(content))
    return calls.answer(id, ... if content is None else content, size_bytes=size, **how, at=at)


def _result_text(content: Any) -> str:
    body = values.body_text(content)
    if body or not content:
        return body
    if isinstance(content, list) and all(isinstance(item, dict) and "msg" in item for item in content):
        places = [".".join(map(str, values.listed(item.get("loc")))) for item in content]
        return "; ".join(f"{place}: {item['msg']}" for place, item in zip(places, content, strict=True))
    return plain_json(content).decode()


def plain_json(value: Any) -> bytes:
    """Write a value as JSON; only its length if it is nested too deeply, or has too large a number."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return b"%d" % (len(value) if isinstance(value, list | dict) else 0)
