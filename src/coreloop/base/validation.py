"""Validate JSON into frozen dataclasses, with errors that name the field. Standard library only.

Fields may be ``str``, ``int``, ``bool``, ``datetime``, ``Literal`` texts, other such dataclasses, ``list`` or
``tuple`` of them, ``dict``, ``Any``, or a union of these. Nothing is converted, not even a boolean to a
number. A field with a default may be absent; `at` gives its name in JSON, where it is another.
"""

import json
from collections.abc import Iterator
from dataclasses import MISSING, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_WORDS: Final = {NoneType: "null", list: "array", tuple: "array", dict: "object"}
_KINDS: Final = {datetime: str, list: list, tuple: list, Literal: str}


def at(name: str, default: Any = MISSING) -> Any:
    """A field with another name in JSON; ``head.sha`` is in an inner object, which may be absent, too."""
    return field(default=default, metadata={"name": name})


def fields_of(value: object, *names: str) -> dict[str, object]:
    """Return some fields of a value by their names, for JSON that has not all of them."""
    return {name: getattr(value, name) for name in names}


class ShapeError(ValueError):
    """Invalid JSON, or JSON of another shape; the message names the field."""


def decode(text: str | bytes, kind: type[T]) -> T:
    """Parse and validate JSON text as a value of ``kind``.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8.
    kind : type
        A dataclass, or ``list[…]`` or ``tuple[…, ...]`` of a dataclass.

    Raises
    ------
    ShapeError
        The text is not JSON, or a field does not have its declared type.
    """
    return shaped(parse_json(text), kind)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON text into plain values.

    Raises
    ------
    ShapeError
        The text is not JSON.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ShapeError(_syntax_message(error)) from error
    except RecursionError as error:
        raise ShapeError("JSON is malformed: nested too deeply") from error
    except ValueError as error:  # not UTF-8, or a number of thousands of digits
        raise ShapeError(f"JSON is malformed: {error}") from error


def shaped(value: object, kind: type[T], *, exact: bool = False) -> T:
    """Validate decoded JSON or YAML as a value of ``kind``.

    Parameters
    ----------
    value : object
        The value from `parse_json` or a YAML parser.
    kind : type
        As for `decode`.
    exact : bool
        Whether an unknown field is an error; by default it is ignored.

    Raises
    ------
    ShapeError
        The value has another shape.
    """
    return cast("T", _shaped(value, kind, "$", exact))


def _shaped(value: object, kind: Any, at: str, exact: bool) -> Any:
    members = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    for member in members:
        if member is Any or type(value) is _kind(member):
            return _read(value, member, at, exact)
    raise _error(f"Expected `{' | '.join(map(_word, members))}`, got `{_word(type(value))}`", at)


def _read(value: Any, kind: Any, at: str, exact: bool) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**dict(_fields(value, kind, at, exact)))
    if kind is datetime:
        return _time(value, at)
    origin = get_origin(kind)
    if origin in {list, tuple}:
        member = get_args(kind)[0]
        return origin(_shaped(item, member, f"{at}[{place}]", exact) for place, item in enumerate(value))
    if origin is Literal and value not in get_args(kind):
        raise _error(f"Invalid enum value {value!r}", at)
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise _error("Expected `str` that UTF-8 can hold", at)
    return value


def _fields(value: dict[Any, Any], kind: Any, at: str, exact: bool) -> Iterator[tuple[str, Any]]:
    known = _declared(kind)
    names = {name.partition(".")[0] for name in known}
    unknown = next((name for name in value if name not in names), None) if exact else None
    if unknown is not None:
        raise _error(f"Object contains unknown field `{unknown}`", at)
    for name, (own, hint, required) in known.items():
        item = _item(value, name)
        if item is not MISSING:
            yield own, _shaped(item, hint, f"{at}.{name}", exact)
        elif required:
            raise _error(f"Object missing required field `{name}`", at)


def _item(value: Any, name: str) -> Any:
    for key in name.split("."):
        if type(value) is not dict or key not in value:
            return MISSING
        value = value[key]
    return value


@cache
def _declared(kind: Any) -> dict[str, tuple[str, Any, bool]]:
    """Name in JSON -> the field's name, its type, and whether it is required."""
    hints = get_type_hints(kind)
    return {
        own.metadata.get("name", own.name): (
            own.name,
            hints[own.name],
            own.default is MISSING and own.default_factory is MISSING,
        )
        for own in fields(kind)
    }


def _time(value: str, at: str) -> datetime:
    try:
        time = datetime.fromisoformat(value)
    except ValueError as error:
        raise _error("Invalid RFC3339 encoded datetime", at) from error
    if time.tzinfo is None:
        raise _error("Expected `datetime` with a time zone", at)
    return time


def _kind(kind: Any) -> Any:
    """The Python type of the decoded JSON value."""
    container = dict if is_dataclass(kind) else get_origin(kind) or kind
    return _KINDS.get(container, container)


def _word(kind: Any) -> str:
    kind = dict if is_dataclass(kind) else get_origin(kind) or kind
    return str(_WORDS.get(kind) or getattr(kind, "__name__", kind))


def _error(message: str, at: str) -> ShapeError:
    return ShapeError(message if at == "$" else f"{message} - at `{at}`")


def _syntax_message(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc) or error.msg.startswith("Unterminated"):
        return "Input data was truncated"
    place = len(error.doc[: error.pos].encode("utf-8", "replace"))
    problem = "trailing characters" if error.msg == "Extra data" else "invalid character"
    return f"JSON is malformed: {problem} (byte {place})"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")  # json.loads does not give its position
