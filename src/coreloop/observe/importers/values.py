"""What several formats write alike: times, JSON inside of JSON, arguments, and the text of chat messages."""

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from coreloop.observe.importers.files import decode_trace

_QUESTION_KEYS: Final = ("question", "query", "prompt", "user_input", "input", "message", "text", "content")
_ANSWER_KEYS: Final = ("answer", "output", "response", "final_output", "result", "message", "text", "content")
_NESTED: Final = (
    "messages", "contents", "input", "inputs", "output", "outputs", "choices", "message", "content", "kwargs",
)  # fmt: skip
_LONGEST_LITERAL_CHARS: Final = 10_000
_DEEPEST: Final = 8
_LEAST_MILLISECONDS: Final = 1e11  # as seconds, the year 5138
_LEAST_NANOSECONDS: Final = 1e16
_MANY_DIGITS: Final = 20


def text(value: object) -> str | None:
    """A text that is not empty; None of anything else."""
    return value if isinstance(value, str) and value else None


def first(values: Mapping[str, Any], *keys: str) -> Any:
    """The first value that is there and not null."""
    return next((values[key] for key in keys if values.get(key) is not None), None)


def read_moment(value: object) -> datetime | None:
    """A time as ISO 8601 (UTC where it names no zone) or as nanoseconds since 1970, in UTC."""
    try:
        if isinstance(value, str) and not value.isdigit():
            read = datetime.fromisoformat(value)
            return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, str | int) and not isinstance(value, bool) and int(value) > 0:
            return datetime.fromtimestamp(int(value) / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def read_time(value: object) -> datetime | None:
    """A time as `read_moment` reads it, or as seconds or milliseconds since 1970."""
    if isinstance(value, str) and value.isdecimal() and len(value) < _MANY_DIGITS:
        value = int(value)
    if not isinstance(value, int | float) or isinstance(value, bool) or value >= _LEAST_NANOSECONDS:
        return read_moment(value)
    seconds = value / 1000 if value >= _LEAST_MILLISECONDS else value
    return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None


def milliseconds(begun: datetime | None, ended: datetime | None) -> float | None:
    """From one time to the other; None where one is missing or the clock went back."""
    if begun is None or ended is None or ended < begun:
        return None
    return round((ended - begun).total_seconds() * 1000, 3)


def decoded(value: object) -> Any:
    """The value that a JSON text holds, twice encoded or not; anything else as it is."""
    for _ in range(2):
        if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "[", '"'}:
            break
        try:
            value = decode_trace(value)
        except ValueError:
            break
    return value


def arguments(value: object) -> dict[str, Any]:
    """Arguments by name, as the formats wrap and encode them; what has no names stands under ``value``."""
    value = decoded(value)
    if isinstance(value, str) and value.startswith("{") and len(value) <= _LONGEST_LITERAL_CHARS:
        value = _literal(value)
    if not isinstance(value, dict):
        return {} if value is None or value == "" else {"value": value}
    if isinstance(value.get("kwargs"), dict) and value.keys() <= {"args", "kwargs"}:
        return {**({"args": value["args"]} if value.get("args") else {}), **value["kwargs"]}
    if isinstance(value.get("inputs"), dict) and "input_str" in value:  # LangChain, as Traceloop sees it
        return dict(value["inputs"])
    return value


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)  # LangChain, as OpenInference sees it: Python's repr
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def size_bytes(value: object) -> int | None:
    """Size of a result as text."""
    if value is None:
        return None
    try:
        return len(value.encode("utf-8", "replace") if isinstance(value, str) else orjson.dumps(value))
    except TypeError:  # nested too deeply, or a number beyond all bounds
        return None


def question_in(value: object) -> str | None:
    """What the user asked: the last user message of a chat, or a text under one of the usual names."""
    value = decoded(value)
    said = [body for role, body in messages_in(value) if role in {"user", "human"} and body]
    return said[-1] if said else _text_under(value, _QUESTION_KEYS)


def answer_in(value: object) -> str | None:
    """What was answered: the last text of the assistant, or a text under one of the usual names."""
    value = decoded(value)
    said = [body for role, body in messages_in(value) if role in {"assistant", "model", "ai"} and body]
    return said[-1] if said else _text_under(value, _ANSWER_KEYS)


def messages_in(value: object, depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Role and text of every chat message, in order, however providers wrap them."""
    if depth < 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from messages_in(item, depth - 1)
    elif isinstance(value, dict):
        role = first(value, "role", "type")
        body = first(value, "content", "parts")
        if isinstance(role, str) and isinstance(body, str | list):
            yield {"message": "assistant"}.get(role.lower(), role.lower()), body_text(body)
            return
        for key in _NESTED:
            if isinstance(value.get(key), list | dict):
                yield from messages_in(value[key], depth - 1)


def body_text(body: object) -> str:
    """The text of a message: of its parts, those that are text."""
    if isinstance(body, str):
        return body
    parts = body if isinstance(body, list) else []
    said = [
        first(part, "text", "content") if isinstance(part, dict) else part for part in filter(_is_text, parts)
    ]
    return "\n".join(part for part in said if isinstance(part, str))


def _is_text(part: object) -> bool:
    kind = part.get("type", "text") if isinstance(part, dict) else "text"
    return kind in ("text", "input_text", "output_text")


def _text_under(value: object, keys: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return text(value)
    wrapped = [value, *(value[key] for key in ("kwargs", "inputs") if isinstance(value.get(key), dict))]
    return next((said for one in wrapped for key in keys if (said := text(one.get(key)))), None)


def seconds_as_ms(value: object) -> float | None:
    """Milliseconds of a number of seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e12:
        return None
    return round(value * 1000, 3)
