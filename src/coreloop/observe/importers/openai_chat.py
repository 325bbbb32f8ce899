"""Message lists in the format of OpenAI's chat API, from any provider: one request per list.

``{"messages": […], "request_id": …, "model": …, "reward": …, "ts": …}``; only ``messages`` is required. A
list of messages may stand alone, and a list or an object may hold many. A message of role ``tool`` has the
result and id of a call; the older ``function_call`` has no id. Messages of Anthropic's API (``tool_use`` and
``tool_result`` blocks) and items of OpenAI's Responses API are turned into such messages first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from coreloop.observe.calls import AskedCalls
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.trace_values import (
    arguments,
    block_error,
    blocks,
    body_text,
    first,
    listed,
    read_time,
    received,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, UNDATED, SkippedTrace, TracedRequest
from coreloop.observe.scores import scores_in

NAME: Final = "openai-chat"
SUFFIXES: Final = (".jsonl", ".json")
_NO_MESSAGES: Final = SkippedTrace("list without a message")
_MAX_DEPTH: Final = 3  # an object, its list, and the envelope of each chat in it
_LEAST_REWARD: Final = -1e9  # any finite number does: JSON has no infinity
# Items of the Responses API without a role.
_ITEMS: Final = ("function_call", "function_call_output", "reasoning")
_TIMES: Final = ("ts", "timestamp", "created_at", "created")
_SESSIONS: Final = ("session_id", "conversation_id", "thread_id")


@dataclass(slots=True)
class Chat:
    """The content of the messages read so far."""

    question: str | None = None
    calls: AskedCalls = field(default_factory=AskedCalls)
    answer: str = ""
    is_answered: bool = False
    rounds: int = 0

    @property
    def answer_chars(self) -> int | None:
        """Length of the answer; None if the messages end before one."""
        return len(self.answer) if self.answer or self.is_answered else None


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the message lists of files: JSON lines, or documents with one message list or several."""
    yield from read_parts(files, lambda document: map(request_of, _chats(document)))


def _chats(document: Any, depth: int = _MAX_DEPTH) -> Iterator[Any]:
    """Yield the chats of a document, each with its ``messages``; what holds none is yielded as it is."""
    if _is_messages(document):
        yield {"messages": document}
        return
    about, held = {}, document
    if isinstance(document, dict) and not _is_chat(document):
        values = [value for value in document.values() if value and _holds_messages(value)]
        if len(values) == 1:  # else it is a log of a model's input and output, not a conversation
            [held] = values
            about = document if isinstance(held, dict) or _is_messages(held) else {}
    if not depth or (held is document and not isinstance(document, list)):
        yield document
        return
    for part in held if isinstance(held, list) and not about else [held]:
        for chat in _chats(part, depth - 1):
            yield {**about, **chat} if about and isinstance(chat, dict) else chat


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and ("role" in item or item.get("type") in _ITEMS) for item in value
    )


def _is_chat(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    return isinstance(messages, list) and not (messages and all(isinstance(item, list) for item in messages))


def _holds_messages(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return _is_messages(value) or _is_messages(first) or _is_chat(first)


def request_of(chat: Any, source: str = NAME) -> TracedRequest | SkippedTrace:
    """Read a chat as a request of a format; without a time, its end is `UNDATED`."""
    if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
        return FOREIGN
    messages = [message for message in chat["messages"] if isinstance(message, dict)]
    error, violation = _outcome(chat, is_empty=not messages)
    if not messages and violation is None:
        return _NO_MESSAGES
    id = text(first(chat, "request_id", "id"))
    own_times = (time for key in _TIMES if (time := read_time(chat.get(key))) is not None)
    ended = next(own_times, UNDATED)
    content = read_messages(messages)
    digest = sha256(repr(messages).encode("utf-8", "replace")).hexdigest()
    return TracedRequest(
        source=source,
        ids=(id,) if id is not None else (ended.isoformat(), digest),
        question=content.question or "",
        ended=ended,
        calls=tuple(content.calls.all),
        answer_chars=content.answer_chars,
        error=error,
        violation=violation,
        model=text(chat.get("model")),
        session_id=text(first(chat, *_SESSIONS)),
        rounds=content.rounds,
        scores=scores_in(chat),
    )


def _outcome(chat: dict[str, Any], *, is_empty: bool) -> tuple[str | None, str | None]:
    """The error and the violation of a request that was graded as failed."""
    reward, success = chat.get("reward"), chat.get("success")
    violation = None
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        violation = None if reward >= 1 else f"reward={float(max(reward, _LEAST_REWARD))}"
    elif isinstance(success, bool):
        violation = None if success else "success=false"
    if violation is None:
        return None, None
    return "no_trajectory" if is_empty else "task_failed", violation


def read_messages(messages: list[Any]) -> Chat:
    """Read the messages of a chat; anything else among them is passed over."""
    chat = Chat()
    for message in _in_one_form([message for message in messages if isinstance(message, dict)]):
        role, body = message.get("role"), body_text(message.get("content"))
        if role == "user" and chat.question is None:
            chat.question = body
        elif role == "user":
            chat.calls.hear(body)
        elif role == "assistant":
            chat.rounds += 1
            chat.answer = body or chat.answer
            calls = _tool_calls(message)
            chat.is_answered = not calls
            for call in calls:
                function = call["function"] if isinstance(call.get("function"), dict) else call
                name = text(function.get("name")) or text(call.get("function")) or "?"
                id = text(call.get("id")) or f"function {name}"
                chat.calls.ask(id, name, arguments(first(function, "arguments", "args")))
        elif role in ("tool", "function"):  # a tuple: a role may be of any kind
            id = text(message.get("tool_call_id")) or f"function {text(message.get('name')) or '?'}"
            error = block_error(message) or error_in(message.get("error"), "type", "message")
            chat.calls.answer(id, **received(message.get("content")), error=error)
    return chat


def error_in(error: Any, *keys: str) -> str | None:
    """Return an error that is a text, or an object with ``keys``."""
    if not isinstance(error, dict):
        return text(error)
    return ": ".join(filter(None, (text(error.get(key)) for key in keys))) or "error"


def _in_one_form(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield messages with ``tool_calls`` and of role ``tool``, also for blocks and items."""
    for message in messages:
        content, id = message.get("content"), message.get("call_id")
        if message.get("type") == "function_call":
            yield {"role": "assistant", "tool_calls": [{"id": id, "function": message}]}
        elif message.get("type") == "function_call_output":
            yield {"role": "tool", "tool_call_id": id, "content": message.get("output")}
        elif message.get("role") == "user" and (results := blocks(content, "tool_result")):
            for result in results:
                yield {**result, "role": "tool", "tool_call_id": result.get("tool_use_id")}
            if body_text(content):
                yield message
        elif message.get("role") == "assistant" and (used := blocks(content, "tool_use")):
            calls = [{**call, "arguments": call.get("input")} for call in used]
            yield {**message, "tool_calls": calls}
        else:
            yield message


def _tool_calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = [call for call in listed(message.get("tool_calls")) if isinstance(call, dict)]
    function = message.get("function_call")
    return [*calls, {"function": function}] if isinstance(function, dict) else calls
