"""Parsers shared by several formats: times, JSON inside JSON, arguments, and the text of chat messages."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import orjson

_ERROR_TAG: Final = re.compile(r"</?tool_use_error>")
_QUESTION_KEYS: Final = ("question", "query", "prompt", "user_input", "input", "message", "text", "content")
_ANSWER_KEYS: Final = ("answer", "output", "response", "final_output", "result", "message", "text", "content")
_NESTED: Final = (
    "messages", "contents", "input", "inputs", "output", "outputs", "choices", "message", "content", "kwargs",
    "generations",
)  # fmt: skip
_BARE: Final = ("tool", "function_call", "function_call_output")  # messages that need no text
_LONGEST_LITERAL_CHARS: Final = 10_000
_DEEPEST: Final = 8
# The least number of each unit, per second: in the next larger unit, it is after the year 2286 or 5138.
_UNITS: Final = ((1e16, 1e9), (1e14, 1e6), (1e11, 1e3), (0, 1))


def text(value: object) -> str | None:
    """Return a non-empty string, or None for any other value."""
    return value if isinstance(value, str) and value else None


def listed(value: object) -> list[Any]:
    """Return a list, or an empty one for any other value."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, none for any other value."""
    return [item for item in listed(value) if isinstance(item, dict)]


def first(values: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is present and not null."""
    return next((values[key] for key in keys if values.get(key) is not None), None)


def read_time(value: object) -> datetime | None:
    """Parse a time, in UTC: ISO 8601 (by default UTC), or (milli-, micro-, nano-)seconds since 1970.

    JavaScript's OpenTelemetry writes seconds and nanoseconds.
    """
    try:
        if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
            value = value[0] + value[1] / 1e9
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / next(unit for least, unit in _UNITS if value >= least), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def decode_trace(text: bytes | str) -> Any:
    """Parse JSON text.

    Raises
    ------
    ValueError
        The text is not JSON, or nested too deeply.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:  # some tools write lone surrogates and NaN, which are not valid JSON
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def decoded(value: object) -> Any:
    """Decode JSON text, which may be encoded twice; return any other value unchanged."""
    for _ in range(2):
        if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "[", '"'}:
            break
        try:
            value = decode_trace(value)
        except ValueError:
            break
    return value


def arguments(value: object) -> dict[str, Any]:
    """Return arguments by name, unwrapped and decoded; a value without names is stored under ``value``."""
    value = decoded(value)
    if isinstance(value, str) and value.startswith("{") and len(value) <= _LONGEST_LITERAL_CHARS:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = ast.literal_eval(value)  # LangChain, traced by OpenInference: Python's repr
    if not isinstance(value, dict):
        return {} if value is None or value == "" else {"value": value}
    if isinstance(value.get("kwargs"), dict) and value.keys() <= {"args", "kwargs"}:
        return {**({"args": value["args"]} if value.get("args") else {}), **value["kwargs"]}
    if isinstance(value.get("inputs"), dict) and "input_str" in value:  # LangChain, traced by Traceloop
        return dict(value["inputs"])
    return value


def size_bytes(value: object) -> int | None:
    """Return the size of a result as text; None if unknown."""
    if value is None:
        return None
    try:
        return len(value.encode("utf-8", "replace") if isinstance(value, str) else orjson.dumps(value))
    except TypeError:  # nested too deeply, or a number that is too large
        return None


def question_in(value: object) -> str | None:
    """Return the user's question: the last user message of a chat, or the text of a usual key."""
    return _said(value, ("user", "human"), _QUESTION_KEYS)


def answer_in(value: object) -> str | None:
    """Return the answer: the last message of the assistant, or the text of a usual key."""
    return _said(value, ("assistant", "model", "ai", "message"), _ANSWER_KEYS)


def _said(value: object, roles: tuple[str, ...], keys: tuple[str, ...]) -> str | None:
    value = decoded(value)
    messages = [one for one in message_objects(value) if str(first(one, "role", "type")).lower() in roles]
    bodies = list(filter(None, (body_text(first(one, "content", "parts")) for one in messages)))
    if bodies or not isinstance(value, dict):
        return bodies[-1] if bodies else text(value)
    held = [value, *(value[key] for key in ("kwargs", "inputs") if isinstance(value.get(key), dict))]
    return next((body for inside in held for key in keys if (body := text(inside.get(key)))), None)


def message_objects(value: object, depth: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    """Yield every chat message, in order, inside any provider's wrapping."""
    if depth < 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from message_objects(item, depth - 1)
    elif isinstance(value, dict):
        role, body = first(value, "role", "type"), first(value, "content", "parts", "contents")
        is_bare = role in _BARE or "tool_calls" in value
        if isinstance(role, str) and (is_bare or isinstance(body, str | list)):
            yield value
            return
        for key in _NESTED:
            if isinstance(value.get(key), list | dict):
                yield from message_objects(value[key], depth - 1)


def body_text(body: object) -> str:
    """Return the text of a message, joined from its text parts."""
    if isinstance(body, str):
        return body
    texts = [
        first(part, "text", "content") if isinstance(part, dict) else part
        for part in filter(_is_text, listed(body))
    ]
    return "\n".join(part for part in texts if isinstance(part, str))


def received(content: object) -> dict[str, Any]:
    """Return the result that a model received for `AskedCalls.answer`, and its size as text."""
    size = size_bytes(content if isinstance(content, dict) else body_text(content))
    return {"result": ... if content is None else content, "size_bytes": size}


def block_error(result: Mapping[str, Any]) -> str | None:
    """Return the text of a ``tool_result`` with ``is_error``; None without it."""
    if result.get("is_error") not in (True, "true"):
        return None
    return _ERROR_TAG.sub("", body_text(result.get("content"))).strip() or "failed"


def _is_text(part: object) -> bool:
    kind = part.get("type", "text") if isinstance(part, dict) else "text"
    return kind in ("text", "input_text", "output_text")


def anthropic_tokens(usage: Any) -> tuple[int, int]:
    """Return the input and output tokens of Anthropic's ``usage``; what a cache held is input, too."""
    usage = usage if isinstance(usage, Mapping) else {}
    return sum(_tokens(usage.get(name)) for name in _ANTHROPIC_INPUT), _tokens(usage.get("output_tokens"))


_ANTHROPIC_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < 2**40 else 0
