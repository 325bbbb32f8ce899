"""Which arguments a tool's JSON Schema rejects, for frameworks that say only that they were rejected."""

from collections.abc import Callable, Iterator, Mapping
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

from coreloop.observe.adapters.plain_values import named_args, rejection

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


def schema_rejection(schema: object, args: object) -> str:
    """Return the `rejection` of arguments: what their schema says of each at the top level, never a value."""
    return rejection(_violations(schema if isinstance(schema, dict) else {}, named_args(args)))


def _violations(schema: Mapping[str, Any], args: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    known = schema.get("properties")
    known = known if isinstance(known, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in args:
            yield _violation(name, "missing", "Field required")
    for name, value in args.items():
        if name in known:
            wanted = _wanted(known[name], value)
            if wanted is not None:
                yield _violation(name, "json_type", wanted)
        elif schema.get("additionalProperties") is False:
            yield _violation(name, "extra_forbidden", "Extra inputs are not permitted")


def _violation(name: str, kind: str, message: str) -> dict[str, Any]:
    return {"loc": (name,), "type": kind, "msg": message}


def _wanted(schema: object, value: Any) -> str | None:
    """What the schema of one argument wants instead of a value; None if it accepts it, or cannot be read."""
    if not isinstance(schema, dict):
        return None
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and choices:
        wanted = [_wanted(choice, value) for choice in choices]
        return None if None in wanted else " or ".join(text for text in wanted if text)
    type_name = schema.get("type")
    if isinstance(type_name, str) and type_name in _TYPES and not _is_of(type_name, value):
        return f"Input should be of type {type_name}"
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return f"Input should be one of {schema['enum']}"
    return _out_of_bounds(schema, value)


def _is_of(type_name: str, value: Any) -> bool:
    """Whether a value is of a JSON type; a number as text counts, because servers convert it."""
    if isinstance(value, bool):
        return type_name == "boolean"
    if type_name in {"integer", "number"} and isinstance(value, str):
        return value.strip().removeprefix("-").replace(".", "", type_name == "number").isdecimal()
    if type_name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[type_name])


_Holds: TypeAlias = Callable[[Any, Any], bool]
_BOUNDS: Final[tuple[tuple[str, str, _Holds], ...]] = (
    ("minimum", "greater than or equal to", ge),
    ("maximum", "less than or equal to", le),
    ("exclusiveMinimum", "greater than", gt),
    ("exclusiveMaximum", "less than", lt),
)
_SIZES: Final[tuple[tuple[str, str, _Holds], ...]] = (
    ("minLength", "at least", ge),
    ("maxLength", "at most", le),
    ("minItems", "at least", ge),
    ("maxItems", "at most", le),
)


def _out_of_bounds(schema: Mapping[str, Any], value: Any) -> str | None:
    if isinstance(value, str | list):
        for key, words, holds in _SIZES:
            is_size_of = key.endswith("Length") == isinstance(value, str)
            if is_size_of and _is_number(schema.get(key)) and not holds(len(value), schema[key]):
                return f"Input should have {words} {schema[key]} characters or items"
    elif _is_number(value):
        for key, words, holds in _BOUNDS:
            if _is_number(schema.get(key)) and not holds(value, schema[key]):
                return f"Input should be {words} {schema[key]}"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
