"""Chat messages of many APIs and frameworks, each as its role and its steps: texts, calls and results.

A message is recognised by its structure (`form_of`), a call or a result in it by the kind of its block,
``tool_use``, ``toolUse``, ``tool-call``, ``functionCall``, …, and a failure by what the form flags.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.records import NO_RESULT, REFUSED
from coreloop.observe.importers import trace_values as values

CHAT: Final = "openai-chat"
TEXT, CALL, RESULT, UNKNOWN, OTHER = "text", "call", "result", "unknown", "other"  # what a step is
Step: TypeAlias = tuple[str, Any]
_Dict: TypeAlias = dict[str, Any]
# Role -> how forms name it: a role, or the class of a message.
_ROLES: Final = {
    "user": r"user|human|request|(?:Human|User)Message(?:Chunk)?",
    "tool": r"tool|function|observation|ipython|ToolCallExecutionEvent|(?:Tool|Function\w*)Message(?:Chunk)?",
    "assistant": r"assistant|ai|model|gpt|\w*bot|response|ToolCallRequestEvent|(?!Sys)\w+Message(?:Chunk)?",
}
_BODIES: Final = ("parts", "blocks", "items", "content", "_content", "value", "message", "refusal")
_TAGS: Final = ("part_kind", "block_type", "content_type", "type")
# Form, as its users know it -> what marks a message: a key, ``.`` a key of its blocks, ``:`` their kind, or
# without a role ``=`` its class if it has a content, ``-`` if it has none. The first form counts.
_FORMS: Final = {
    "langchain": re.compile(r"lc|=(?:human|ai|tool|function|system|chat|\w+MessageChunk)"),
    "autogen": re.compile(r"=[A-Z]\w+(?:Message|Event)"),
    "pydantic-ai": re.compile(r"\.part_kind"),
    "google-adk": re.compile(r"author"),
    "vercel-ai": re.compile(r"toolInvocations|\.toolCallId|\.toolName|parts\.type"),
    "gemini": re.compile(r"parts"),
    "semantic-kernel": re.compile(r"\.content_type"),
    "llama-index": re.compile(r"\.block_type|additional_kwargs"),
    "haystack": re.compile(r"_role|\.tool_call|\.tool_call_result"),
    "bedrock": re.compile(r"\.toolUse|\.toolResult"),
    "anthropic": re.compile(r":\w*tool_(?:use|result)"),
    "openai-responses": re.compile(
        r"[=-](?:\w+_call(?:_output)?|reasoning|mcp_\w+|item_\w+|compaction)|:\w+put_text"
    ),
    "sharegpt": re.compile(r"from"),
    CHAT: re.compile(r"role"),
}
_CALLS: Final = ("tool_calls", "function_call", "toolInvocations", "tool_results", "data", "actions")
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
CALL_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "callId")
_NAMES: Final = ("tool_name", "toolName", "function_name", "name")
_ARGS: Final = ("arguments", "args", "input", "tool_kwargs", "parameters", "action", "code", "rawInput")
_OUTPUTS: Final = ("output", "content", "result", "response", "value", "outputs", "blocks")
_VERCEL: Final = re.compile(r"(?:error-)?(?:text|json)|content|execution-denied")
_SETTLED: Final = ("output-available", "result", "output-error", "output-denied")
_FAILED: Final = re.compile(
    r"error|failed|retried|retry_prompt|tool_error|OUTCOME_FAILED|output-error|error-\w+"
)
_DENIED: Final = re.compile(r"denied|(?:output|execution)-denied")
_TAGGED_CALL: Final = re.compile(r"<tool_call>\s*(\{.{1,100000}?\})\s*</tool_call>", re.DOTALL)


def form_of(message: _Dict) -> str | None:
    """Return the form of a message; None if it is of no known form."""
    role, of_class = (
        values.text(values.first(message, "role", "_role", "from")),
        values.text(message.get("type")),
    )
    if role and isinstance(message.get("content"), str) and len(message) == 2:
        return CHAT  # as most are
    if role and message.keys().isdisjoint((*_BODIES, *_CALLS)):
        return None
    parts = [part for key in _BODIES for part in values.listed(message.get(key)) if isinstance(part, dict)]
    marks = {*message, *(f".{key}" for part in parts for key in part)}
    marks |= {f":{kind}" for part in parts if (kind := values.text(part.get("type")))}
    marks |= {"parts.type"} if {"parts", ".type"} <= marks else set()
    has_content = not {"content", "data"}.isdisjoint(message)
    marks |= {f"{'=' if has_content else '-'}{of_class}"} if not role else set()
    return next((form for form, mark in _FORMS.items() if any(map(mark.fullmatch, marks))), None)


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
            kind = snake(values.text(message.get("type")) or "message")
            yield "", [(UNKNOWN, kind)]
            continue
        inside = opened(message)
        user = user or values.text(inside.get("source"))
        role = _role(inside)
        if inside.get("type") == "TextMessage" and inside.get("source") in ("user", user):
            role = "user"  # of AutoGen's agents, who speaks first
        if has_calls and inside.get("type") == "ToolCallSummaryMessage":
            inside = {"content": inside.get("content")}  # its calls were told before
        has_calls = has_calls or inside.get("type") == "ToolCallRequestEvent"
        if role is not None:
            yield role, [*(_results(inside) if role == "tool" else _steps(inside, role))]


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
    named = values.text(values.first(message, "role", "_role", "from", "kind", "type"))
    return _role_named(named) if named is not None else "user" if "parts" in message else None


@lru_cache(maxsize=256)
def _role_named(named: str) -> str | None:
    kind = snake(named)
    if _is_tool_kind(kind):
        return "assistant" if _CALL.fullmatch(kind) else "tool"
    name = named.rpartition(".")[2]  # ``MessageRole.USER``
    return next((role for role, names in _ROLES.items() if re.fullmatch(names, name, re.IGNORECASE)), None)


def _steps(message: _Dict, role: str) -> Iterator[Step]:
    """The steps in a message's blocks, and the calls that stand beside them."""
    steps = [step for part in _parts(message, role) for step in _steps_of(part)]
    yield from steps
    ids = {call["id"] for what, call in steps if what == CALL}
    more = message.get("additional_kwargs")
    older = more if isinstance(more, dict) else {}
    calls = values.decoded(message.get("tool_calls")) or message.get("toolInvocations")
    asked = [*values.listed(calls or older.get("tool_calls"))]
    asked.append(message.get("function_call") or (older.get("function_call") if not asked else None))
    invalid = [call for call in values.listed(message.get("invalid_tool_calls")) if isinstance(call, dict)]
    invalid = [{**call, "error": call.get("error") or "arguments are not JSON"} for call in invalid]
    for call in [*asked, *invalid]:
        if isinstance(call, dict) and (not ids or _id(call, "id") not in ids | {None}):
            yield from _call_steps(call, "tool_call")
    for result in values.listed(message.get("results")):  # of AutoGen's summary
        yield from _steps_of(result)


def _results(message: _Dict) -> Iterator[Step]:
    """The results in a message of role ``tool``, which is one itself if its blocks are none."""
    inner = [*values.listed(message.get("tool_responses")), *values.listed(message.get("tool_results"))]
    steps = [step for part in _parts(message, "tool") for step in _steps_of(part) if step[0] == RESULT]
    steps = [(RESULT, _result(part)) for part in inner if isinstance(part, dict)] or steps
    yield from steps or [(RESULT, _result(message))]


def _parts(message: _Dict, role: str) -> list[Any]:
    if "role" not in message and _is_tool_kind(snake(values.text(message.get("type")) or "")):
        return [message]
    bodies = [message[key] for key in _BODIES if message.get(key)]
    body = next((body for body in bodies if isinstance(body, list)), bodies[0] if bodies else None)
    if isinstance(body, list):
        return body
    named = values.text(values.first(message, "role", "from")) or ""
    tagged = _TAGGED_CALL.findall(str(body)) if role == "assistant" else []
    tagged = [body] if _CALL.fullmatch(named) else tagged
    calls = [call for call in map(values.decoded, tagged) if isinstance(call, dict)]
    return [body, *({"type": "tool_call", **call} for call in calls)]


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
        yield RESULT, _result(block, kind)
    else:
        yield OTHER if _OTHER.fullmatch(kind) else UNKNOWN, kind


def _call_steps(block: _Dict, kind: str) -> Iterator[Step]:
    inner = next((block[key] for key in ("function", "custom") if isinstance(block.get(key), dict)), block)
    name = values.text(values.first(inner, *_NAMES)) or values.text(block.get("function"))
    name = name or ("?" if kind == "tool_call" else kind.removesuffix("_call"))
    yield CALL, {"id": _id(block, "id"), "name": name, "arguments": values.first(inner, *_ARGS)}
    is_hosted = "call_id" not in block and block.get("status") in ("completed", "failed")
    is_settled = is_hosted or block.get("output") is not None or bool(block.get("error"))
    if block["state"] in _SETTLED if isinstance(block.get("state"), str) else is_settled:
        yield RESULT, _result(block, kind)


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
    id = values.first(block, *CALL_IDS, *own)
    return str(id) if isinstance(id, int) else values.text(id)


def _result(result: _Dict, kind: str = "") -> _Dict:
    """A result, with the error or the refusal that its form flags."""
    about = (result.get(key) for key in ("origin", "call", "additional_kwargs"))
    block = next((held for held in about if isinstance(held, dict)), {}) | result
    content, stated, state = _unwrapped(values.first(block, *_OUTPUTS), kind)
    flags = (kind, state, *(block.get(key) for key in ("status", "outcome", "state")))
    states = [flag for flag in flags if isinstance(flag, str)]
    error = values.first({**block, "stated": stated}, "error", "errorText", "stated")
    unknown = NO_RESULT if "interrupted" in states else None
    unknown = REFUSED if any(map(_DENIED.fullmatch, states)) else unknown
    if any(map(_FAILED.fullmatch, states)) or True in (block.get("is_error"), block.get("isError")):
        error = error or True
    if error in (None, False, "") or unknown is not None:
        error = None
    else:
        error = values.block_error({"is_error": True, "content": _error_text(error, content)})
    ids = values.listed(block.get("tool_call_ids"))
    id = _id(block, *(["id"] if kind else [])) or (values.text(ids[0]) if len(ids) == 1 else None)
    name = values.text(values.first(block, *_NAMES))
    return {"id": id, "name": name, "content": content, "error": error, "unknown": unknown}


def _unwrapped(content: Any, kind: str) -> tuple[Any, Any, str | None]:
    """The output that a result wraps, with its error and its state."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        return content[0].get("json", content), None, None  # Bedrock
    if not isinstance(content, dict):
        return content, None, None
    state = values.text(content.get("type")) or ""
    if _VERCEL.fullmatch(state) and (state == "execution-denied" or "value" in content):
        return values.first(content, "value", "reason"), None, state
    if kind.endswith("tool_result") and state.endswith("_error"):  # of Anthropic's servers
        return content, values.text(content.get("error_code")) or state, None
    if kind != "function_response":
        return content, None, None
    error = None if content.keys() & {"output", "result"} else content.get("error")  # Gemini
    return (next(iter(content.values())) if len(content) == 1 else content), error, None


def error_in(error: Any, *keys: str) -> str | None:
    """Return an error that is a text, or an object with ``keys``."""
    if not isinstance(error, dict):
        return values.text(error)
    return ": ".join(filter(None, (values.text(error.get(key)) for key in keys))) or "error"


def _error_text(error: Any, content: Any) -> str | None:
    stated = error.get("content", error) if isinstance(error, dict) else error  # of an MCP server
    if isinstance(stated, str | dict):
        return error_in(stated, "type", "message")
    return result_text(stated if isinstance(stated, list) else content)


def result_text(content: Any) -> str:
    """Return a result as text: that of its blocks, else its JSON."""
    body = values.body_text(content)
    if body or not content:
        return body
    if isinstance(content, list) and all(isinstance(item, dict) and "msg" in item for item in content):
        places = [".".join(map(str, values.listed(item.get("loc")))) for item in content]
        return "; ".join(f"{place}: {item['msg']}" for place, item in zip(places, content, strict=True))
    try:
        return orjson.dumps(content).decode()
    except TypeError:  # nested too deeply, or a number that is too large
        return ""
