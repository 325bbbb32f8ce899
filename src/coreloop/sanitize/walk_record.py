"""Traversal of a record: a visitor receives every string, number and key, with the key above a value."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any, Final, Protocol

from coreloop.sanitize.find_in_value import is_sensitive
from coreloop.sanitize.undisguised import short_labels

_VALUE_KEYS: Final = frozenset(
    "".join(letters)  # in any case
    for word in ("value", "val", "data", "content", "text", "preview", "default", "v")
    for letters in product(*zip(word, word.upper(), strict=True))
)
_NAME_CHARS: Final = 64
_NAME_KEYS: Final = ("name", "key", "field", "header", "param", "label", "id", "k")
_NESTED: Final = frozenset({dict, list, float})
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*|[^\W\d_][\w -]{0,40}")


class Visitor(Protocol):
    """Rewrites the parts of a tree; ``key`` is the key of a value."""

    n_keys: int

    def text(self, value: str, key: str) -> Any: ...

    def number(self, value: int | float, key: str) -> Any: ...

    def key(self, key: str) -> str: ...


class Scanner(Protocol):
    """Reads the parts of a tree; ``keys`` receives all keys of an object."""

    n_keys: int

    def text(self, value: str, key: str) -> Any: ...

    def number(self, value: int | float, key: str) -> Any: ...

    def keys(self, keys: Iterable[str]) -> None: ...


class NotFiniteError(ValueError):
    """A number is infinite or NaN."""


def rewrite(node: Any, visitor: Visitor, key: str = "") -> Any:
    """Rebuild a tree from the visitor's results, and add its number of keys to ``n_keys``.

    The key of a value next to a name, ``{"name": "api_key", "value": …}``, or of an item after an option,
    ``["--token", …]``, is that name or option.

    Raises
    ------
    NotFiniteError
        A number is infinite, which JSON cannot hold.
    RecursionError
        The tree is deeper than Python's stack.
    """
    if node is None or node is True or node is False:
        return node
    kind = type(node)
    if kind is str:
        return visitor.text(node, key)
    if kind is dict:
        return _dict(node, visitor, key)
    if kind is list:
        return _list(node, visitor, key)
    if not math.isfinite(node):
        raise NotFiniteError
    return visitor.number(node, key)


def scan(node: Any, visitor: Scanner, key: str = "") -> None:
    """Visit a tree like `rewrite`, without building a result."""
    kind = type(node)
    if kind is str:
        visitor.text(node, key)
    elif kind is dict:
        visitor.n_keys += len(node)
        visitor.keys(node)
        for inner, value in _items(node, key):
            kind = type(value)
            if kind is str:  # most values are strings; a recursive call for each would dominate the run time
                visitor.text(value, inner)
            elif kind is int:
                visitor.number(value, inner)
            elif kind in _NESTED:
                scan(value, visitor, inner)
    elif kind is list:
        option = ""
        for item in node:
            scan(item, visitor, option or key)
            option = item if not option and isinstance(item, str) and _is_option(item) else ""
    elif kind is int or kind is float:
        if not math.isfinite(node):
            raise NotFiniteError
        visitor.number(node, key)


def children(node: Any, key: str) -> Iterator[tuple[str | int, str, Any]]:
    """Yield the parts of a node as `scan` visits them: key or index, the key given to the visitor, value."""
    if isinstance(node, dict):
        for (name, value), (under, _) in zip(node.items(), _items(node, key), strict=True):
            yield name, under, value
    else:
        option = ""
        for number, item in enumerate(node):
            yield number, option or key, item
            option = item if not option and isinstance(item, str) and _is_option(item) else ""


def _items(node: dict[str, Any], above: str) -> Iterable[tuple[str, Any]]:
    """Return the values of an object, each with its key or the name next to it."""
    if _VALUE_KEYS.isdisjoint(node):
        return node.items()
    name = _name_beside(node) or above
    return ((name if name and key in _VALUE_KEYS else key, value) for key, value in node.items())


def _list(node: list[Any], visitor: Visitor, key: str) -> list[Any]:
    items: list[Any] = []
    option = ""
    for item in node:
        items.append(rewrite(item, visitor, option or key))
        option = item if not option and isinstance(item, str) and _is_option(item) else ""
    return items


def _dict(node: dict[str, Any], visitor: Visitor, above: str) -> dict[str, Any]:
    visitor.n_keys += len(node)
    result: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    for key, (under, value) in zip(node, _items(node, above), strict=True):
        new = visitor.key(key)
        if new != key or new in result:
            new = _unused(new, result, node, numbers)
        result[new] = visitor.text(value, under) if type(value) is str else rewrite(value, visitor, under)
    return result


def _name_beside(node: dict[str, Any]) -> str:
    lowered = {key.lower(): value for key, value in node.items()}
    names = (lowered.get(key) for key in _NAME_KEYS)
    return next((name for name in names if isinstance(name, str) and _length(name) <= _NAME_CHARS), "")


def _length(text: str) -> int:
    """Return the length of a text with its labels in their final, short form."""
    return len(short_labels(text) if len(text) > _NAME_CHARS else text)


@lru_cache(maxsize=4096)
def _is_option(item: str) -> bool:
    return len(item) <= 64 and _OPTION.fullmatch(item) is not None and is_sensitive(item)


def _unused(key: str, result: dict[str, Any], node: dict[str, Any], numbers: dict[str, int]) -> str:
    """Return a key that is not taken, since keys can be masked alike; ``numbers`` has the last of each."""
    new = key
    while new in result or new in node:
        numbers[key] = numbers.get(key, 1) + 1
        new = f"{key}~{numbers[key]}"
    return new
