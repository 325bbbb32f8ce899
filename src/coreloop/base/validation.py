"""Validate JSON and YAML into frozen dataclasses, with errors that name the field. Standard library only.

Fields may be ``str``, ``int``, ``float``, ``bool``, ``datetime``, ``Literal`` texts, other such dataclasses,
``list`` or ``tuple`` of them, ``dict``, ``Mapping``, ``Any``, or a union of these. Nothing is converted but a
whole number to a float. A field with a default may be absent; `at` gives its name in JSON, where it is
another; ``least`` and ``most`` in its metadata are bounds.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_Place = tuple[str | int, ...]
_WORDS: Final = {NoneType: "null", list: "array", tuple: "array", dict: "object", Mapping: "object"}
_KINDS: Final = {datetime: str, list: list, tuple: list, Literal: str, Mapping: dict}


def at(name: str, default: Any = MISSING) -> Any:
    """A field with another name in JSON; ``head.sha`` is in an inner object, which may be absent, too."""
    return field(default=default, metadata={"name": name})


def fields_of(value: object, *names: str) -> dict[str, object]:
    """Return some fields of a value by their names, for JSON that has not all of them."""
    return {name: getattr(value, name) for name in names}


class ShapeError(ValueError):
    """Invalid JSON, or JSON of another shape; the message names the field.

    Attributes
    ----------
    problem : str
        The message without the field.
    place : tuple of (str or int)
        The names and indexes that lead to it.
    """

    def __init__(self, problem: str, place: _Place = ()) -> None:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        super().__init__(f"{problem} - at `${''.join(steps)}`" if place else problem)
        self.problem, self.place = problem, place


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
    except RecursionError as error:
        raise ShapeError("JSON is malformed: nested too deeply") from error
    except ValueError as error:  # also not UTF-8, or a number of thousands of digits
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
        Whether an unknown field is an error, and null an empty list or object; by default it is ignored.

    Raises
    ------
    ShapeError
        The value has another shape.
    """
    return cast("T", _shaped(value, kind, (), exact))


def _shaped(value: object, kind: Any, at: _Place, exact: bool) -> Any:
    members = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    if value is None and exact and NoneType not in members:  # a key of YAML whose entries are all comments
        value = {dict: {}, list: []}.get(_kind(members[0]))
    for member in members:
        if member is Any or type(value) is _kind(member):
            return _read(value, member, at, exact)
    if float in members and type(value) is int:
        return float(value)
    raise ShapeError(f"Expected `{' | '.join(map(_word, members))}`, got `{_word(type(value))}`", at)


def _read(value: Any, kind: Any, at: _Place, exact: bool) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**dict(_fields(value, kind, at, exact)))
    if kind is datetime:
        return _time(value, at)
    origin = get_origin(kind)
    if origin in {list, tuple}:
        member = get_args(kind)[0]
        return origin(_shaped(item, member, (*at, place), exact) for place, item in enumerate(value))
    if origin is Mapping:
        member = get_args(kind)[1]
        return {name: _shaped(item, member, (*at, name), exact) for name, item in value.items()}
    if origin is Literal and value not in get_args(kind):
        raise ShapeError(f"Invalid enum value {value!r}, expected {' or '.join(get_args(kind))}", at)
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise ShapeError("Expected `str` that UTF-8 can hold", at)
    return value


def _fields(value: dict[Any, Any], kind: Any, at: _Place, exact: bool) -> Iterator[tuple[str, Any]]:
    known = _declared(kind)
    names = {name.partition(".")[0] for name in known}
    unknown = next((name for name in value if name not in names), None) if exact else None
    if unknown is not None:
        raise ShapeError(f"Unknown field `{unknown}`{_nearest(unknown, names)}", (*at, str(unknown)))
    for name, (own, hint) in known.items():
        item = _item(value, name)
        if item is not MISSING:
            shaped = _shaped(item, hint, (*at, *name.split(".")), exact)
            _check_bounds(shaped, own.metadata, (*at, *name.split(".")))
            yield own.name, shaped
        elif own.default is MISSING and own.default_factory is MISSING:
            raise ShapeError(f"Object missing required field `{name}`", at)


def _nearest(name: str, known: set[str]) -> str:
    from difflib import get_close_matches  # only for what people write

    close = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"; did you mean `{close[0]}`?" if close else f"; known: {', '.join(sorted(known))}"


def _check_bounds(value: Any, bounds: Mapping[str, Any], at: _Place) -> None:
    least, most = bounds.get("least"), bounds.get("most", float("inf"))
    if least is not None and value is not None and not least <= value <= most:
        maximum = f" and at most {most}" if "most" in bounds else ""
        raise ShapeError(f"Expected at least {least}{maximum}, got {value}", at)


def _item(value: Any, name: str) -> Any:
    for key in name.split("."):
        if type(value) is not dict or key not in value:
            return MISSING
        value = value[key]
    return value


@cache
def _declared(kind: Any) -> dict[str, tuple[Field[Any], Any]]:
    """Name in JSON -> the field and its type."""
    hints = get_type_hints(kind)
    return {own.metadata.get("name", own.name): (own, hints[own.name]) for own in fields(kind)}


def _time(value: str, at: _Place) -> datetime:
    try:
        time = datetime.fromisoformat(value)
    except ValueError as error:
        raise ShapeError("Invalid RFC3339 encoded datetime", at) from error
    if time.tzinfo is None:
        raise ShapeError("Expected `datetime` with a time zone", at)
    return time


def _kind(kind: Any) -> Any:
    """The Python type of the decoded JSON value."""
    container = dict if is_dataclass(kind) else get_origin(kind) or kind
    return _KINDS.get(container, container)


def _word(kind: Any) -> str:
    kind = dict if is_dataclass(kind) else get_origin(kind) or kind
    return str(_WORDS.get(kind) or getattr(kind, "__name__", kind))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")  # json.loads does not give its position
