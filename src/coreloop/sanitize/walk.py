"""A record's tree: every string, key and number goes through a visitor, with the key that it stands under."""

import math
import re
from typing import Any, Final, Protocol

from coreloop.sanitize.values import is_sensitive

_VALUE_KEYS: Final = frozenset({"value", "val", "data", "content", "text", "preview", "default", "v"})
_NAME_KEYS: Final = ("name", "key", "field", "header", "param", "label", "id", "k")
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z][\w -]{0,40}")


class Visitor(Protocol):
    """What becomes of the parts of a tree; ``key`` is that of the object around a value."""

    def text(self, value: str, key: str) -> Any: ...

    def number(self, value: int | float, key: str) -> Any: ...

    def key(self, key: str) -> str: ...


class NotFiniteError(ValueError):
    """A number beyond all bounds."""


def rewrite(node: Any, visitor: Visitor, key: str = "") -> Any:
    """The tree with every part as the visitor gives it.

    A value beside a name, ``{"name": "api_key", "value": …}``, and an item behind an option, ``["--token",
    …]``, stand under that name.

    Raises
    ------
    NotFiniteError
        A number is infinite, which JSON cannot hold.
    RecursionError
        The tree is deeper than Python's stack.
    """
    if isinstance(node, str):
        return visitor.text(node, key)
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, int | float):
        if not math.isfinite(node):
            raise NotFiniteError
        return visitor.number(node, key)
    if isinstance(node, list):
        return _list(node, visitor, key)
    return _dict(node, visitor, key)


def _list(node: list[Any], visitor: Visitor, key: str) -> list[Any]:
    items: list[Any] = []
    before = ""
    for item in node:
        items.append(rewrite(item, visitor, before or key))
        is_option = (
            isinstance(item, str)
            and len(item) <= 64
            and not before
            and _OPTION.fullmatch(item)
            and is_sensitive(item)
        )
        before = item if is_option else ""
    return items


def _dict(node: dict[str, Any], visitor: Visitor, above: str) -> dict[str, Any]:
    named = _name_beside(node) or above
    result: dict[str, Any] = {}
    for key, value in node.items():
        context = named if named and key.lower() in _VALUE_KEYS else key
        result[_unused(visitor.key(key), result)] = rewrite(value, visitor, context)
    return result


def _name_beside(node: dict[str, Any]) -> str:
    if not any(key in node for key in _VALUE_KEYS):
        return ""
    names = (node.get(key) for key in _NAME_KEYS)
    return next((name for name in names if isinstance(name, str) and len(name) <= 64), "")


def _unused(key: str, taken: dict[str, Any]) -> str:
    """A key that the object does not have: two keys may have become one."""
    if key not in taken:
        return key
    number = 2
    while f"{key}~{number}" in taken:
        number += 1
    return f"{key}~{number}"
