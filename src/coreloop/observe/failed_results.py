"""Results that say themselves that their call failed, such as ``{"success": false, "error": "no room"}``."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import orjson

FailedResults: TypeAlias = Mapping[str, frozenset[str]]
"""Fields of a result, and their values in failed calls, as lower-case JSON text."""
DEFAULT: Final[FailedResults] = {
    "success": frozenset({"false", "0"}),
    "isError": frozenset({"true"}),
    "status": frozenset({"error"}),
}
_MAX_CHARS: Final = 64 * 1024
"""As for the sources of arguments: larger texts are not parsed while a request waits."""
_EXPLANATIONS: Final = ("error", "message", "detail", "reason")


def failure_of(result: object, failed: FailedResults) -> str | None:
    """Return why a result says that its call failed, or None if it does not say so.

    Parameters
    ----------
    result : object
        A dict, or JSON text of an object; anything else says nothing.
    failed : FailedResults
        The project's rule. ``{"error": null}`` alone is no failure.
    """
    fields = _fields(result, failed)
    if fields is None or not any(_text(fields.get(name)) in values for name, values in failed.items()):
        return None
    return _explanation(fields) or orjson.dumps(fields, default=str).decode()


def _fields(result: object, failed: FailedResults) -> dict[str, Any] | None:
    if type(result) is dict:
        return result
    if not isinstance(result, str) or len(result) > _MAX_CHARS or not result.lstrip().startswith("{"):
        return None
    if not any(name in result for name in failed):  # most results: nothing is parsed
        return None
    try:
        value = orjson.loads(result)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.lower()
    return str(value).lower() if isinstance(value, bool | int) else ""


def _explanation(fields: dict[str, Any]) -> str:
    for name in _EXPLANATIONS:
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            return value
    return ""
