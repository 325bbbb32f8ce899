"""What a framework reports, as plain values: arguments by name, results as the model got them, rejections.

Some frameworks say only that arguments were rejected; then the tool's JSON Schema says which.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import ge, gt, le, lt
from typing import Any, Final

import orjson

from coreloop.base.record_lines import MAX_CHARS, text_of
from coreloop.observe.argument_sources import is_name
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.importers.trace_values import first, objects

UNKNOWN_TOOL: Final = "not_found: the agent has no such tool"
# pydantic-core's kinds of errors whose message is made of the schema alone; the others may repeat the value.
_SCHEMA_ONLY: Final = re.compile(
    r"""
    missing | too_(?:short|long) | (?:greater|less)_than(?:_equal)? | multiple_of | finite_number
    | literal_error | enum | union_tag_not_found | string_pattern_mismatch | is_instance_of | int_from_float
    | \w+_(?:type|parsing|too_short|too_long|argument|argument_values|forbidden|required)
    """,
    re.VERBOSE,
)


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
    """The tools in a provider's form: OpenAI's, with ``function`` or flat, Anthropic's, or MCP's."""
    listed = []
    for tool in objects(tools):
        about = tool.get("function", tool)
        if isinstance(about.get("name"), str):
            schema = first(about, "parameters", "input_schema", "inputSchema")
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
        reasons.append(f"{place or 'arguments'}: {_reason(error)}")
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
    found = [{**match.groupdict(), "loc": tuple(match["loc"].split("."))} for match in _DETAIL.finditer(text)]
    return rejection(found) if found else None


# seats⏎  Input should be a valid integer [type=int_type, input_value='four', input_type=str]
# Values are written as Python literals, without new lines of their own.
_DETAIL: Final = re.compile(
    r"^(?P<loc>\S.*)\n  (?P<msg>.*?) \[type=(?P<type>\w+), input_value=", re.MULTILINE
)


def _part(part: object) -> str:
    text = text_of(part)
    return text if text.isdecimal() or is_name(text) else "*"


def _reason(error: Mapping[str, Any]) -> str:
    kind = text_of(error.get("type") or "rejected")
    return text_of(error.get("msg") or kind) if _SCHEMA_ONLY.fullmatch(kind) else kind


_JSON_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


_BOUNDS: Final = {"minimum": ge, "maximum": le, "exclusiveMinimum": gt, "exclusiveMaximum": lt}
_NUMBERS: Final = (int, float)


def schema_rejection(schema: object, args: Mapping[str, Any]) -> str:
    """Return the `rejection` of arguments: what their schema says of each at the top level, never a value."""
    return rejection(_violations(schema if isinstance(schema, dict) else {}, args))


def _violations(schema: Mapping[str, Any], args: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    known, required = schema.get("properties"), schema.get("required")
    known = known if isinstance(known, dict) else {}
    if args.keys() == {"value"} and "value" not in known:  # see `trace_values.arguments`
        yield {"loc": (), "type": "json_type", "msg": "not a JSON object"}
        return
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in args:
            yield {"loc": (name,), "type": "missing", "msg": "Field required"}
    for name, value in args.items():
        if name in known and not _fits(value, known[name]):
            wanted = (f"{key} {known[name][key]}" for key in ("type", "enum", *_BOUNDS) if key in known[name])
            yield {"loc": (name,), "type": "json_type", "msg": f"Input should be of {', '.join(wanted)}"}
        elif name not in known and schema.get("additionalProperties") is False:
            yield {"loc": (name,), "type": "extra_forbidden", "msg": "Extra inputs are not permitted"}


def _fits(value: Any, schema: object) -> bool:
    """Whether type, choices and bounds of one argument admit a value; the rest of its schema is not read."""
    if not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
        return True
    kind, listed = schema["type"], schema.get("enum")
    if kind in ("integer", "number") and isinstance(value, str):  # servers convert it
        return value.strip().removeprefix("-").replace(".", "", kind == "number").isdecimal()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    bounds = [(schema[name], holds) for name, holds in _BOUNDS.items() if type(schema.get(name)) in _NUMBERS]
    if type(value) in _NUMBERS and not all(holds(value, bound) for bound, holds in bounds):
        return False
    is_listed = value in listed if isinstance(listed, list) else True
    return is_listed and isinstance(value, _JSON_TYPES.get(kind, object))
