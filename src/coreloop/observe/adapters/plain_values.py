"""What a framework reports, as plain values: arguments by name, results as the model got them, rejections.

Some frameworks say only that arguments were rejected; then the tool's JSON Schema says which.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.record_lines import MAX_CHARS, text_of
from coreloop.observe.comparable_texts import is_name
from coreloop.observe.descriptions_in_force import SentTool

UNKNOWN_TOOL: Final = "not_found: the agent has no such tool"
_MAX_REASONS: Final = 8
_MAX_REASON_CHARS: Final = 200
# pydantic-core's kinds of errors whose message is made of the schema alone; the others may repeat the value.
_WORDS: Final = """
    missing missing_argument missing_keyword_only_argument missing_positional_only_argument extra_forbidden
    unexpected_keyword_argument unexpected_positional_argument multiple_argument_values arguments_type
    literal_error enum greater_than greater_than_equal less_than less_than_equal multiple_of finite_number
    too_short too_long string_too_short string_too_long string_pattern_mismatch bytes_too_short bytes_too_long
    none_required union_tag_not_found date_past date_future datetime_past datetime_future timezone_naive
    timezone_aware decimal_max_digits decimal_max_places decimal_whole_digits int_from_float is_instance_of
    date_from_datetime_inexact json_type bytes_type url_type string_type dict_type list_type tuple_type
    set_type frozen_set_type model_type dataclass_type iterable_type mapping_type
"""
_TYPES: Final = ("bool", "int", "float", "date", "time", "datetime", "time_delta", "decimal", "uuid")
_SCHEMA_ONLY: Final = frozenset(
    [*_WORDS.split(), *(f"{name}_{what}" for name in _TYPES for what in ("type", "parsing"))]
)


def named_args(args: object) -> Mapping[str, Any]:
    """Return arguments by name: a mapping, JSON text of an object, or anything else under ``value``."""
    if isinstance(args, Mapping):
        return args
    if args is None or args == "":
        return {}
    value = args
    if isinstance(args, str | bytes):
        try:
            value = orjson.loads(args)
        except orjson.JSONDecodeError:
            value = args if isinstance(args, str) else args.decode("utf-8", "replace")
    return value if isinstance(value, dict) else {"value": value}


def field_of(value: Any, name: str) -> Any:
    """A field of an object or a mapping; None if it is absent."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def said(content: Any) -> str:
    """The text of a message's content: a text, or the texts among its parts."""
    if isinstance(content, list | tuple):
        parts = (part if isinstance(part, str) else field_of(part, "text") for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else "" if content is None else str(content)


def sent_tools(tools: Any) -> list[SentTool]:
    """The tools in a provider's form: OpenAI's, with ``function`` or flat, or Anthropic's."""
    listed = []
    for tool in tools if isinstance(tools, list) else ():
        about = tool.get("function", tool) if isinstance(tool, Mapping) else {}
        if isinstance(about.get("name"), str):
            schema = about.get("parameters", about.get("input_schema"))
            listed.append(SentTool(about["name"], str(about.get("description") or ""), schema))
    return listed


def plain_result(result: object) -> tuple[Any, int | None]:
    """Return a result that may be kept until the request's other calls are answered, and its size in bytes.

    A result over 64 KB is not kept (``...``), since its values are not looked up anyway.
    """
    if result is ...:
        return ..., None
    if isinstance(result, str):
        size = len(result) if result.isascii() else len(result.encode("utf-8", "replace"))
        return (result if len(result) <= MAX_CHARS else ...), size
    try:
        text = orjson.dumps(result, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        return ..., None
    return (orjson.loads(text) if len(text) <= MAX_CHARS else ...), len(text)


def _plain(value: object) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError


def rejection(errors: Iterable[Mapping[str, Any]]) -> str:
    """Say why arguments were rejected: names of arguments and what the schema wants, never a value.

    Parameters
    ----------
    errors : iterable of mapping
        As pydantic's ``ValidationError.errors()``: ``loc``, ``type`` and ``msg``.
    """
    reasons = []
    for error in errors:
        place = ".".join(_part(part) for part in tuple(error.get("loc") or ())[:4])
        reasons.append(f"{place or 'arguments'}: {_reason(error)}"[:_MAX_REASON_CHARS])
        if len(reasons) == _MAX_REASONS:
            break
    return f"invalid_argument: {'; '.join(reasons) or 'rejected before the tool ran'}"


def rejection_of(error: BaseException | None) -> str | None:
    """Return the `rejection` that an exception or one of its causes stands for, or None."""
    for _ in range(8):  # causes may be circular
        if error is None:
            return None
        errors = getattr(error, "errors", None)
        if callable(errors) and type(error).__name__ == "ValidationError":
            return rejection(errors())
        error = error.__cause__ or error.__context__
    return None


def rejection_in(text: str) -> str | None:
    """Return the `rejection` in the text of a pydantic ``ValidationError``, or None if it is another text."""
    if _HEAD.search(text) is None:
        return None
    found = [
        {"loc": tuple(match["loc"].split(".")), "msg": match["msg"], "type": match["type"]}
        for match in _DETAIL.finditer(text)
    ]
    return rejection(found) if found else None


# 2 validation errors for call[find_rooms]
_HEAD: Final = re.compile(r"\b\d+ validation errors? for ")
# seats⏎  Input should be a valid integer [type=int_type, input_value='four', input_type=str]
# Values are written as Python literals, without new lines of their own.
_DETAIL: Final = re.compile(
    r"^(?P<loc>\S.*)\n  (?P<msg>.*?) \[type=(?P<type>\w+), input_value=", re.MULTILINE
)


def bad_json(args: object) -> str | None:
    """Return the `rejection` of arguments that are not a JSON object, or None."""
    if not isinstance(args, str | bytes) or not args:
        return None
    try:
        is_object = isinstance(orjson.loads(args), dict)
    except orjson.JSONDecodeError:
        return "invalid_argument: arguments: not JSON"
    return None if is_object else "invalid_argument: arguments: not a JSON object"


def _part(part: object) -> str:
    text = text_of(part)
    return text if text.isdecimal() or is_name(text) else "*"


def _reason(error: Mapping[str, Any]) -> str:
    kind = text_of(error.get("type") or "rejected")
    return text_of(error.get("msg") or kind) if kind in _SCHEMA_ONLY else kind


_JSON_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
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
    if isinstance(type_name, str) and type_name in _JSON_TYPES and not _is_of(type_name, value):
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
    return isinstance(value, _JSON_TYPES[type_name])


_Limit: TypeAlias = tuple[str, str, Callable[[Any, Any], bool]]
_BOUNDS: Final[tuple[_Limit, ...]] = (
    ("minimum", "be greater than or equal to", ge),
    ("maximum", "be less than or equal to", le),
    ("exclusiveMinimum", "be greater than", gt),
    ("exclusiveMaximum", "be less than", lt),
)
_LENGTHS: Final[tuple[_Limit, ...]] = (
    ("minLength", "have a length of at least", ge),
    ("maxLength", "have a length of at most", le),
)
_SIZES: Final[tuple[_Limit, ...]] = (
    ("minItems", "have a length of at least", ge),
    ("maxItems", "have a length of at most", le),
)


def _out_of_bounds(schema: Mapping[str, Any], value: Any) -> str | None:
    limits = _LENGTHS if isinstance(value, str) else _SIZES if isinstance(value, list) else _BOUNDS
    measured = value if limits is _BOUNDS else len(value)
    for key, words, holds in limits if _is_number(measured) else ():
        if _is_number(schema.get(key)) and not holds(measured, schema[key]):
            return f"Input should {words} {schema[key]}"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
