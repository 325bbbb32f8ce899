"""Results that say themselves that their call failed, such as ``{"success": false, "error": "no room"}``."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import orjson

from coreloop.base.record_lines import MAX_CHARS

FailedResults: TypeAlias = Mapping[str, frozenset[str]]
"""Fields of a result, and their values in failed calls, as lower-case JSON text."""
DEFAULT: Final[FailedResults] = {
    "success": frozenset({"false", "0"}),
    "isError": frozenset({"true"}),
    "status": frozenset({"error"}),
}
_PLAIN: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS
_EXPLANATIONS: Final = ("error", "message", "detail", "reason")


def failure_of(result: object, failed: FailedResults) -> str | None:
    """Return why a result says that its call failed, or None if it does not say so.

    Parameters
    ----------
    result : object
        A dict, or JSON text of an object; anything else says nothing. None of its own code is run.
    failed : FailedResults
        The project's rule. ``{"error": null}`` alone is no failure.
    """
    fields = _fields(result, failed)
    if fields is None or not any(_text(fields.get(name)) in values for name, values in failed.items()):
        return None
    return _explanation(fields) or _json(fields)


def _fields(result: object, failed: FailedResults) -> dict[str, Any] | None:
    if type(result) is dict:
        return result
    # the exact type here and below: a subclass may have a `__len__`, `__class__` or `__eq__` that raises
    if type(result) is not str or len(result) > MAX_CHARS or not result.lstrip().startswith("{"):
        return None
    if not any(name in result for name in failed):  # most results: nothing is parsed
        return None
    try:
        value = orjson.loads(result)
    except orjson.JSONDecodeError:
        return None
    return value if type(value) is dict else None


def _text(value: object) -> str:
    if type(value) is str:
        return value.lower()
    return str(value).lower() if type(value) is bool or type(value) is int else ""


def _explanation(fields: dict[str, Any]) -> str:
    for name in _EXPLANATIONS:
        value = fields.get(name)
        if type(value) is dict:
            value = value.get("message")
        if type(value) is str and value:
            return value
    return ""


def _json(fields: dict[str, Any]) -> str:
    """The whole result; values that are no plain JSON are null."""
    try:
        return orjson.dumps(fields, default=lambda _: None, option=_PLAIN).decode()
    except orjson.JSONEncodeError:  # nested too deep, numbers too large, text that is no UTF-8
        return "the result says that it failed"
