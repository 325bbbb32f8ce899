"""The traversal of a record, and the `Finder`, which finds and counts private data in its parts."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any, Final

from coreloop.base.text import printable
from coreloop.sanitize.detectors.rule import Hit
from coreloop.sanitize.find_in_text import Numbering, is_harmless, mask_text
from coreloop.sanitize.find_in_value import find_in_number, find_in_value, is_sensitive, is_telling
from coreloop.sanitize.undisguised import short_labels

_VALUE_KEYS: Final = frozenset(
    "".join(letters)  # in any case
    for word in ("value", "val", "data", "content", "text", "preview", "default", "v")
    for letters in product(*zip(word, word.upper(), strict=True))
)
_NAME_CHARS: Final = 64
_NAME_KEYS: Final = ("name", "key", "field", "header", "param", "label", "id", "k")
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*|[^\W\d_][\w -]{0,40}")


def rewrite(node: Any, visitor: "Finder", key: str = "") -> Any:
    """Rebuild a tree from the visitor's results.

    The key of a value next to a name, ``{"name": "api_key", "value": …}``, or of an item after an option,
    ``["--token", …]``, is that name or option.

    Raises
    ------
    RecursionError
        The tree is deeper than Python's stack.
    """
    kind = type(node)
    if kind is str:
        return visitor.text(node, key)
    if kind is dict:
        return _dict(node, visitor, key)
    if kind is list:
        return [rewrite(item, visitor, under) for _, under, item in children(node, key)]
    if node is None or kind is bool:
        return node
    return visitor.number(node, key)


def children(node: Any, key: str) -> Iterator[tuple[Any, str, Any]]:
    """Yield the parts of a node: key or index, the key that is given to the visitor, value."""
    if isinstance(node, dict):
        name = "" if _VALUE_KEYS.isdisjoint(node) else _name_beside(node) or key
        for own, value in node.items():
            yield own, name if name and own in _VALUE_KEYS else own, value
    else:
        option = ""
        for number, item in enumerate(node):
            yield number, option or key, item
            option = item if not option and isinstance(item, str) and _is_option(item) else ""


def _dict(node: dict[str, Any], visitor: "Finder", above: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    for key, under, value in children(node, above):
        new = visitor.key(key)
        if new != key or new in result:
            new = _unused(new, result, node, numbers)
        result[new] = rewrite(value, visitor, under)
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


_MAX_CACHED: Final = 20_000
_SHORT_CHARS: Final = 64  # of a value that is cached, since short ones repeat


class Finder:
    """Counts private data without changing anything; shared by checks and masks.

    Parameters
    ----------
    like : Finder, optional
        A finder whose cache is shared.

    Attributes
    ----------
    found : dict of (str, str or int or float or None) to tuple of str
        The kinds in each value with its key, and in each key with None, until the caller clears it.
    """

    def __init__(self, *, like: "Finder | None" = None) -> None:
        self.counts: Counter[str] = Counter()
        self.found: dict[tuple[str, str | int | float | None], tuple[str, ...]] = {}
        short = lru_cache(maxsize=_MAX_CACHED)(_hits) if like is None else like._short
        self._short: Callable[[str, str], tuple[Hit, ...]] = short

    def text(self, value: str, key: str) -> Any:
        if hits := self.hits(value, key):
            self._note(value, key, hits)
        return value

    def hits(self, value: str, key: str) -> tuple[Hit, ...]:
        """Find private data in a value, or in a key, whose own key is ""."""
        return self._short(value, key) if len(value) <= _SHORT_CHARS else _hits(value, key)

    def number(self, value: int | float, key: str) -> Any:
        if hits := find_in_number(value, key):
            self._note(value, key, hits)
        return value

    def _note(self, value: str | int | float | None, key: str, hits: tuple[Hit, ...]) -> None:
        self.count(hits)
        self.found[key, value] = tuple(dict.fromkeys(hit.kind for hit in hits))

    def key(self, key: str) -> str:
        if hits := self.hits(key, ""):
            self._note(None, key, hits)
        return key

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Visit a record; a mode returns another one."""
        rewrite(record, self)
        return record

    def count(self, hits: tuple[Hit, ...]) -> None:
        self.counts.update(hit.kind for hit in hits)


def _hits(value: str, key: str) -> tuple[Hit, ...]:
    return () if not is_telling(key) and is_harmless(value) else find_in_value(value, key)


MAX_PLACES: Final = 1_000
# Keys and list indexes; None at the end if the finding is the last key itself.
_Keys = tuple[str | int | None, ...]


def places_of(record: dict[str, Any], finder: Finder) -> list[tuple[str, str]]:
    """List the paths of what a finder found in a record, ``tool_calls[0].args.memo``, and the kinds."""
    findings = islice(_findings(record, "", (), finder), MAX_PLACES)
    return [(_format_path(path), kind) for path, kind in findings]


def _findings(node: Any, key: str, path: _Keys, finder: Finder) -> Iterator[tuple[_Keys, str]]:
    """Yield the paths and kinds of the findings in a node."""
    for part, under, value in children(node, key):
        if isinstance(part, str):
            yield from (((*path, part, None), kind) for kind in finder.found.get((part, None), ()))
        if isinstance(value, dict | list):
            yield from _findings(value, under, (*path, part), finder)
        elif value is not None:
            yield from (((*path, part), kind) for kind in finder.found.get((under, value), ()))


def _format_path(path: _Keys) -> str:
    """Format a path with masked keys."""
    path_text = ""
    for part in path:
        if part is None:
            path_text += " (key)"
        elif isinstance(part, int):
            path_text += f"[{part}]"
        else:
            masked = printable(mask_text(part, Numbering()))[:64]
            path_text = f"{path_text}.{masked}" if path_text else masked
    return path_text
