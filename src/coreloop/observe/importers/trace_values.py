"""Parsers shared by several formats: times, JSON inside JSON, arguments, and the text of chat messages."""

import ast
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import orjson

_TEXTS: Final = ("text", "input_text", "output_text")  # kinds of parts of a message
_LONGEST_LITERAL_CHARS: Final = 10_000
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
    if isinstance(value.get("kwargs"), dict) and ("args" in value or len(value) == 1):
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


def body_text(body: object) -> str:
    """Return the text of a message, joined from its text parts."""
    if isinstance(body, str):
        return body
    parts = [part if isinstance(part, dict) else {"text": part} for part in listed(body)]
    texts = [first(part, "text", "content") for part in parts if part.get("type", "text") in _TEXTS]
    return "\n".join(text for text in texts if isinstance(text, str))


def anthropic_tokens(usage: Any) -> tuple[int, int]:
    """Return the input and output tokens of Anthropic's ``usage``; what a cache held is input, too."""
    usage = usage if isinstance(usage, Mapping) else {}
    return sum(_tokens(usage.get(name)) for name in _ANTHROPIC_INPUT), _tokens(usage.get("output_tokens"))


_ANTHROPIC_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _tokens(value: object) -> int:
    return value if type(value) is int and 0 < value < 2**40 else 0
