"""Chat messages of many APIs and frameworks, turned into one form.

The one form is OpenAI's: messages with a ``role``, a text, ``tool_calls``, and for each result a message of role
``tool`` with what its form flags, ``error`` or ``unknown``. A message is recognised by its structure (`form_of`),
a call or a result in it by the kind of its block: ``tool_use``, ``toolUse``, ``tool-call``, ``functionCall``, ….
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.records import NO_RESULT, REFUSED
from coreloop.observe.importers.trace_values import (
    block_error,
    body_text,
    decoded,
    error_in,
    first,
    listed,
    text,
)

CHAT: Final = "openai-chat"
# The role of what stands in a message or a block of an unknown kind.
UNKNOWN: Final = "unknown"
_Dict: TypeAlias = dict[str, Any]
_Steps: TypeAlias = Iterator[tuple[str, Any]]
_ROLES: Final = {
    **dict.fromkeys(("user", "human", "request"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "gpt", "bot", "chatbot", "response"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool_response"), "tool"),
    "function_call": "assistant",
}
# Classes of messages without a role, of LangChain and AutoGen.
_CLASSES: Final = {
    "user": re.compile(r"(?:Human|User)Message\w*"),
    "assistant": re.compile(
        r"(?:AI|Assistant|Handoff|Stop|Structured|ToolCallSummary)Message\w*|ToolCallRequestEvent"
    ),
    "tool": re.compile(r"(?:Tool|Function|FunctionExecutionResult)Message\w*|ToolCallExecutionEvent"),
}
_LANGCHAIN: Final = re.compile(r"human|ai|tool|function|system|chat|\w+MessageChunk")
_AUTOGEN: Final = re.compile(r"[A-Z]\w+(?:Message|Event)")
_BODIES: Final = ("parts", "blocks", "items", "content", "_content", "value", "message")
_TAGS: Final = ("part_kind", "block_type", "content_type", "type")
_TEXT: Final = ("text", "input_text", "output_text", "user_prompt", "refusal")
_CALL: Final = re.compile(r"(?:\w+_)?(?:tool_use|call)|executable_code")
_RESULT: Final = re.compile(
    r"(?:\w+_)?(?:tool|function|call|execution)_(?:result|response|return|output|error)|retry_prompt"
)
# Blocks that are neither texts, calls nor results.
_QUIET: Final = re.compile(
    r"(?:input_)?(?:image|file|audio|video|document|media|inline)\w*|\w*(?:reason|think|thought)\w*|redacted_\w+"
    r"|(?:source|citation|data|step|cache|guard|item|compaction|instruction|tool_approval|mcp|system)(?:_\w+|s)?"
)
_TOOL: Final = re.compile("tool|function|call|action|command|observation")
_OWN_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "callId")
_NAMES: Final = ("tool_name", "toolName", "function_name", "name")
_ARGS: Final = ("arguments", "args", "input", "tool_kwargs", "parameters", "action", "rawInput")
_OUTPUTS: Final = ("output", "content", "result", "response", "value", "outputs", "blocks")
_SETTLED: Final = ("output-available", "result", "output-error", "output-denied")
_FAILED: Final = (
    *("error", "failed", "retried", "retry_prompt", "tool_error", "OUTCOME_FAILED"),
    *("output-error", "error-text", "error-json"),
)
_DENIED: Final = ("denied", "output-denied", "execution-denied")
_TAGGED_CALL: Final = re.compile(r"<tool_call>\s*(\{.{1,100000}?\})\s*</tool_call>", re.DOTALL)


def form_of(message: _Dict) -> str | None:
    """Return the form of a message as its users know it; None if it is of no known form."""
    of_class, role, keys = text(message.get("type")) or "", first(message, "role", "_role"), message.keys()
    parts = [part for key in _BODIES for part in listed(message.get(key)) if isinstance(part, dict)]
    marks = {key for part in parts for key in part}
    kinds = {_snake(kind) for part in parts if (kind := text(part.get("type")))}
    is_item = _CALL.fullmatch(of_class) or _RESULT.fullmatch(of_class) or of_class == "reasoning"
    forms = {
        "langchain": "lc" in keys
        or (role is None and _LANGCHAIN.fullmatch(of_class) and keys & {"content", "data"}),
        "autogen": _AUTOGEN.fullmatch(of_class) and keys & {"content", "source"},
        "pydantic-ai": message.get("kind") in ("request", "response") and "parts" in keys,
        "google-adk": "author" in keys and isinstance(message.get("content"), dict),
        "vercel-ai": "toolInvocations" in keys
        or ("parts" in keys and "type" in marks)
        or marks & {"toolCallId", "toolName"},
        "gemini": isinstance(message.get("parts"), list),
        "semantic-kernel": "content_type" in marks,
        "llama-index": "block_type" in marks or "additional_kwargs" in keys,
        "haystack": "_role" in keys or marks & {"tool_call", "tool_call_result"},
        "bedrock": marks & {"toolUse", "toolResult"},
        "anthropic": any(kind.endswith(("tool_use", "tool_result")) for kind in kinds),
        "openai-responses": (role is None and is_item) or kinds & {"input_text", "output_text"},
        "sharegpt": text(message.get("from")) and "value" in keys,
        CHAT: text(role),
    }
    return next((form for form, is_it in forms.items() if is_it), None)


def in_one_form(messages: Iterable[Any]) -> Iterator[_Dict]:
    """Yield messages in the one form; what is of an unknown kind is a message of role `UNKNOWN`."""
    user: str | None = None
    for message in messages:
        if not isinstance(message, dict):
            continue
        if form_of(message) is None:
            kind = text(message.get("type")) or "message"
            yield {"role": UNKNOWN, "is_tool": bool(_TOOL.search(kind.lower()))}
            continue
        opened = _opened(message)
        user = user or text(opened.get("source"))  # who speaks first, in AutoGen
        role = _role(opened, user)
        if role is not None:
            yield from _grouped(role, _steps(opened, role))


def _opened(message: _Dict) -> _Dict:
    """A message without the wrapping of LangChain's dumps and of ADK's events."""
    if "lc" in message and isinstance(message.get("kwargs"), dict):
        return {"type": [*listed(message.get("id")), None][-2:][0], **message["kwargs"]}
    inner = message.get("content" if "author" in message else "data")
    return {**message, **inner} if isinstance(inner, dict) and "role" not in message else message


def _role(message: _Dict, user: str | None) -> str | None:
    """The role; None for messages of the system, and for events that say nothing."""
    named = text(first(message, "role", "_role", "from", "kind"))
    of_class = text(message.get("type")) or ""
    if named is not None:
        return _ROLES.get(named.rpartition(".")[2].lower())  # ``MessageRole.USER``
    if of_class in _ROLES and not _CALL.fullmatch(of_class):
        return _ROLES[of_class]
    if of_class == "TextMessage":
        return "user" if message.get("source") in ("user", user) else "assistant"
    if "parts" in message:
        is_call = any(_CALL.fullmatch(_kind(part)[0]) for part in _parts(message) if isinstance(part, dict))
        return "assistant" if is_call else "user"
    item = _snake(of_class)
    if _CALL.fullmatch(item) or _RESULT.fullmatch(item):
        return "assistant" if _CALL.fullmatch(item) else "tool"
    return next((role for role, classes in _CLASSES.items() if classes.fullmatch(of_class)), None)


def _steps(message: _Dict, role: str) -> _Steps:
    """The texts, calls and results of a message, in order."""
    parts = _parts(message)
    steps = [step for part in parts for step in _steps_of(part)]
    if role == "tool":
        given = [part for key in ("tool_responses", "tool_results") for part in listed(message.get(key))]
        if given or not any(what == "result" for what, _ in steps):
            steps = [("result", _result(part)) for part in given or [message] if isinstance(part, dict)]
        yield from (step for step in steps if step[0] in ("result", UNKNOWN))
        return
    yield from steps
    asked = {call["id"] for what, call in steps if what == "call"}
    for call, kind in _asked(message):
        for what, value in _call_steps(call, kind):
            if value["id"] not in asked or (value["id"] is None and not steps):
                yield what, value
    for result in listed(message.get("results")):  # of AutoGen's summary
        if isinstance(result, dict):
            yield "result", _result(result)


def _parts(message: _Dict) -> list[Any]:
    kind = _snake(text(message.get("type")) or "")
    if "role" not in message and (_CALL.fullmatch(kind) or _RESULT.fullmatch(kind)):
        return [message]
    bodies = [message[key] for key in _BODIES if message.get(key)]
    body = next((body for body in bodies if isinstance(body, list)), bodies[0] if bodies else None)
    if message.get("from") == "function_call":
        return [{"type": "tool_call", **call}] if isinstance(call := decoded(body), dict) else []
    tagged = _TAGGED_CALL.findall(body) if isinstance(body, str) else []
    return [*(body if isinstance(body, list) else [body]), *map(_tagged_call, tagged)]


def _tagged_call(value: str) -> _Dict:
    call = decoded(value)
    return {"type": "tool_call", **call} if isinstance(call, dict) else {"type": "tool_call", "name": None}


def _asked(message: _Dict) -> Iterator[tuple[_Dict, str]]:
    """The calls that stand beside a message's text."""
    more = message.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    kind = "repeated_call" if message.get("type") == "ToolCallSummaryMessage" else "tool_call"
    calls = decoded(message.get("tool_calls")) or message.get("toolInvocations") or more.get("tool_calls")
    for call in [*listed(calls), message.get("function_call")]:
        if isinstance(call, dict):
            yield call, kind
    for call in listed(message.get("invalid_tool_calls")):
        if isinstance(call, dict):
            yield {**call, "error": call.get("error") or "arguments that are not JSON"}, kind


def _steps_of(part: Any) -> _Steps:
    if isinstance(part, str):
        yield "text", part
        return
    if not isinstance(part, dict):
        return
    kind, block = _kind(part)
    if kind in _TEXT:
        is_thought = block.get("thought") is True  # Gemini
        yield "text", "" if is_thought else body_text(first(block, "text", "content", "refusal"))
    elif _CALL.fullmatch(kind):
        yield from _call_steps(block, kind)
    elif _RESULT.fullmatch(kind):
        if kind != "retry_prompt" or text(block.get("tool_name")):  # else it is about the answer
            yield "result", _result(block, kind, "id")
    elif _QUIET.fullmatch(kind):
        yield "quiet", None
    else:
        yield UNKNOWN, {"role": UNKNOWN, "is_tool": bool(_TOOL.search(kind))}


def _call_steps(block: _Dict, kind: str) -> _Steps:
    inner = next((block[key] for key in ("function", "custom") if isinstance(block.get(key), dict)), block)
    name = text(first(inner, *_NAMES)) or text(block.get("function"))
    yield (
        "call",
        {
            "id": _id(block, "id"),
            "name": name or ("?" if kind in ("tool_call", "repeated_call") else kind.removesuffix("_call")),
            "arguments": first(inner, *_ARGS),
            "is_repeated": kind == "repeated_call",
        },
    )
    if _is_settled(block):
        yield "result", _result(block, kind, "id")


def _is_settled(call: _Dict) -> bool:
    """Whether a call holds its own result."""
    if isinstance(call.get("state"), str):
        return call["state"] in _SETTLED
    is_hosted = "call_id" not in call and call.get("status") in ("completed", "failed")
    return is_hosted or call.get("output") is not None or bool(call.get("error"))


def _kind(block: _Dict) -> tuple[str, _Dict]:
    """The kind of a block in snake case, and its body."""
    kind = next((kind for tag in _TAGS if (kind := text(block.get(tag)))), None)
    if isinstance(block.get("toolInvocation"), dict):
        return "tool_call", block["toolInvocation"]
    if kind is not None and kind.startswith(("tool-", "dynamic-tool")) and "state" in block:
        return "tool_call", {"toolName": kind.removeprefix("tool-"), **block}
    if kind is not None:
        return _snake(kind), block
    for key, value in block.items():
        name = _snake(key)
        if isinstance(value, dict) and (_CALL.fullmatch(name) or _RESULT.fullmatch(name)):
            return name, value
    if isinstance(block.get("text"), str):
        return "text", block
    if "call_id" in block or "arguments" in block:  # AutoGen
        return "tool_result" if "content" in block else "tool_call", block
    return next((_snake(key) for key, value in block.items() if value is not None), "step"), block


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[-.]", "_", name[:100]).lower()


def _id(block: _Dict, *own: str) -> str | None:
    id = first(block, *_OWN_IDS, *own)
    return str(id) if isinstance(id, int) else text(id)


def _result(result: _Dict, kind: str = "", *own: str) -> _Dict:
    """A message of role ``tool``, with the error or the refusal that its form flags."""
    more = [
        result[key] for key in ("additional_kwargs", "origin", "call") if isinstance(result.get(key), dict)
    ]
    block = {**(more[0] if more else {}), **result}
    ids = listed(block.get("tool_call_ids"))
    states = [kind, block.get("status"), block.get("outcome"), block.get("state")]
    content, error = first(block, *_OUTPUTS), first(block, "error", "errorText")
    if isinstance(content, dict):
        content, error, state = _unwrapped(content, error, kind)
        states.append(state)
    elif isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("json", content)
    unknown = None
    if any(state in _DENIED for state in states):
        unknown, error = REFUSED, None
    elif "interrupted" in states:
        unknown, error = NO_RESULT, None
    elif error or True in (block.get("is_error"), block.get("isError")) or any(s in _FAILED for s in states):
        stated = error if isinstance(error, str | dict) else result_text(content)
        error = error_in(stated, "type", "message") if stated else "failed"
        error = block_error({"is_error": True, "content": error})
    return {
        "role": "tool",
        "tool_call_id": _id(block, *own) or (text(ids[0]) if len(ids) == 1 else None),
        "name": text(first(block, *_NAMES)),
        "content": content,
        "error": error or None,
        "unknown": unknown,
    }


def _unwrapped(content: _Dict, error: Any, kind: str) -> tuple[Any, Any, Any]:
    """The output that an object wraps, its error, and its state."""
    state = content.get("type")
    if state == "execution-denied" or (isinstance(state, str) and "value" in content):  # Vercel's AI SDK
        return first(content, "value", "reason"), error, state
    if isinstance(state, str) and state.endswith("_error"):  # a tool of Anthropic's servers
        return content, error or text(content.get("error_code")) or state, None
    if kind == "function_response":  # Gemini
        error = error or (None if content.keys() & {"output", "result"} else content.get("error"))
        if len(content) == 1:
            content = first(content, "output", "result", *content)
    return content, error, None


def result_text(content: Any) -> str:
    """Return a result as text: that of its blocks, else its JSON."""
    body = body_text(content)
    if body or not content:
        return body
    if isinstance(content, list) and all(
        isinstance(item, dict) and text(item.get("msg")) for item in content
    ):
        return "; ".join(f"{'.'.join(map(str, listed(item.get('loc'))))}: {item['msg']}" for item in content)
    try:
        return orjson.dumps(content).decode()
    except TypeError:  # nested too deeply, or a number that is too large
        return ""


def _grouped(role: str, steps: _Steps) -> Iterator[_Dict]:
    """Messages of the steps: one of a role with its texts and calls, followed by their results."""
    texts: list[str] = []
    calls: list[_Dict] = []
    results: list[_Dict] = []
    n_messages = 0
    for what, value in [*steps, ("end", None)]:
        if (results and what not in ("result", "call")) or what == "end":
            if texts or calls or not (results or n_messages):
                yield {"role": role, "content": "\n".join(filter(None, texts)), "tool_calls": calls}
            yield from results
            n_messages += 1 + len(results)
            texts, calls, results = [], [], []
        if what == "text":
            texts.append(value)
        elif what == "call":
            calls.append(value)
        elif what == "result":
            results.append(value)
        elif what == UNKNOWN:
            yield value
