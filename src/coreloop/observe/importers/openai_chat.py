"""Message lists in the format of OpenAI's chat API: one request per list, whoever answered it.

``{"messages": […], "request_id": …, "model": …, "reward": …, "ts": …}``; only the messages must be there. A
message of role ``tool`` brings a call's result, known by its id; the older ``function_call`` has none.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import orjson

from coreloop.observe.importers.files import TraceFile, Unusable, read_documents, read_each
from coreloop.observe.importers.trace import FOREIGN, TORN, SkippedTrace, TracedCall, TracedRequest
from coreloop.observe.importers.values import arguments, body_text, decoded, first, read_time, text

NAME: Final = "openai-chat"
SUFFIXES: Final = (".jsonl", ".json")
NO_TIME: Final = SkippedTrace("no valid time; give the records that have it with --times")
_NO_MESSAGES: Final = SkippedTrace("list without a message")
_LEAST_REWARD: Final = -1e9
_MAX_ERROR_FIELDS: Final = 3
_TIMES: Final = ("ts", "timestamp", "created_at", "created")
_SESSIONS: Final = ("session_id", "conversation_id", "thread_id")


@dataclass(slots=True)
class _Open:
    """A call whose result may still come."""

    name: str
    args: dict[str, Any]
    asked: int
    heard: tuple[str, ...]
    call: TracedCall | None = None

    def close(self) -> TracedCall:
        return self.call or TracedCall(
            name=self.name,
            args=self.args,
            error="the trace has no result",
            asked=self.asked,
            heard=self.heard,
        )


@dataclass(slots=True)
class _Chat:
    """What the messages up to some point have said."""

    question: str | None = None
    calls: list[_Open] = field(default_factory=list)
    waiting: dict[str, list[_Open]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    answer: str = ""
    rounds: int = 0


def read(
    files: Iterable[TraceFile], *, times: Mapping[str, datetime] | None = None
) -> Iterator[TracedRequest | SkippedTrace | Unusable]:
    """Every message list of some files.

    Parameters
    ----------
    files : iterable of TraceFile
        JSON lines, and documents that hold one message list or a list of them.
    times : mapping of str to datetime, optional
        When a request ended, by its id; for lists that do not say so themselves.
    """
    yield from read_each(files, lambda file: _read_file(file, times or {}))


def _read_file(file: TraceFile, times: Mapping[str, datetime]) -> Iterator[TracedRequest | SkippedTrace]:
    with file.open() as opened:
        for document in read_documents(opened):
            if document is TORN:
                yield TORN
                continue
            for chat in document if isinstance(document, list) else [document]:
                yield _request(chat, times)


def _request(chat: Any, times: Mapping[str, datetime]) -> TracedRequest | SkippedTrace:
    if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
        return FOREIGN
    messages = [message for message in chat["messages"] if isinstance(message, dict)]
    error, violation = _outcome(chat, is_empty=not messages)
    if not messages and violation is None:
        return _NO_MESSAGES
    id = text(first(chat, "request_id", "id"))
    own = (moment for key in _TIMES if (moment := read_time(chat.get(key))) is not None)
    ended = next(own, None) or (times.get(id) if id is not None else None)
    if ended is None:
        return NO_TIME
    said = _read_messages(messages)
    return TracedRequest(
        source=NAME,
        ids=(id,) if id is not None else (ended.isoformat(), _digest(messages)),
        question=said.question or "",
        ended=ended,
        calls=tuple(call.close() for call in said.calls),
        answer_chars=len(said.answer),
        error=error,
        violation=violation,
        model=text(chat.get("model")),
        session_id=text(first(chat, *_SESSIONS)),
        rounds=said.rounds,
    )


def _digest(messages: list[dict[str, Any]]) -> str:
    try:
        return hashlib.sha256(orjson.dumps(messages)).hexdigest()
    except TypeError:  # what JSON cannot hold
        return hashlib.sha256(repr(messages).encode("utf-8", "replace")).hexdigest()


def _outcome(chat: dict[str, Any], *, is_empty: bool) -> tuple[str | None, str | None]:
    """The error and the violation of a request that somebody judged a failure."""
    reward, success = chat.get("reward"), chat.get("success")
    violation = None
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        violation = None if reward >= 1 else f"reward={float(max(reward, _LEAST_REWARD))}"
    elif isinstance(success, bool):
        violation = None if success else "success=false"
    if violation is None:
        return None, None
    return "no_trajectory" if is_empty else "task_failed", violation


def _read_messages(messages: list[dict[str, Any]]) -> _Chat:
    chat = _Chat()
    for number, message in enumerate(messages):
        role = message.get("role")
        if role == "user":
            _hear(chat, body_text(message.get("content")))
        elif role == "assistant":
            chat.rounds += 1
            chat.answer = body_text(message.get("content")) or chat.answer
            for call in _asked_for(message):
                _add_call(chat, call, number)
        elif role in ("tool", "function"):  # a tuple: a role may be of any kind
            _add_result(chat, message, number)
    return chat


def _hear(chat: _Chat, said: str) -> None:
    if chat.question is None:
        chat.question = said
    elif said:
        chat.heard.append(said)


def _asked_for(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    found = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    lone = message.get("function_call")
    return [*found, {"function": lone}] if isinstance(lone, dict) else found


def _add_call(chat: _Chat, call: dict[str, Any], number: int) -> None:
    function = call.get("function")
    function = function if isinstance(function, dict) else call
    name = text(function.get("name")) or "?"
    opened = _Open(name, arguments(first(function, "arguments", "args")), number, tuple(chat.heard))
    chat.heard.clear()
    chat.calls.append(opened)
    chat.waiting.setdefault(text(call.get("id")) or f"function {name}", []).append(opened)


def _add_result(chat: _Chat, message: dict[str, Any], number: int) -> None:
    id = text(message.get("tool_call_id")) or f"function {text(message.get('name')) or '?'}"
    waiting = chat.waiting.get(id)
    if not waiting:
        return
    opened = waiting.pop(0)
    content = message.get("content")
    body = content if isinstance(content, str) else body_text(content)
    opened.call = TracedCall(
        name=opened.name,
        args=opened.args,
        error=_error(body),
        result_size_bytes=len(body.encode("utf-8", "replace")),
        result=... if content is None else content,
        asked=opened.asked,
        answered=number,
        heard=opened.heard,
    )


def _error(body: str) -> str | None:
    """The text of a result that is an error: it begins so, or is an object that holds one and little else."""
    if body.startswith("Error"):
        return body
    value = decoded(body) if body.lstrip().startswith("{") else None
    if isinstance(value, dict) and len(value) <= _MAX_ERROR_FIELDS and text(value.get("error")):
        return body
    return None
