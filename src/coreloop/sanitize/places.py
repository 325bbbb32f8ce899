"""Where in a record something was found: the path of keys to it, never the thing itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreloop.sanitize.find import Hit
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.values import find_in_number
from coreloop.sanitize.walk import look
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

# Keys and numbers of items; None at the end where the last key itself is meant.
Path = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A finding's line, the path to it within the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, finder: Finder) -> list[Place]:
    """Every place of a record where the finder finds something."""
    try:
        found = _found(record, "", finder)
    except RecursionError:  # the path would be longer than anybody reads
        found = []
    if found:
        return [Place(line, _shown(path, finder.names), kind) for path, kind in found]
    again = Finder(names=finder.names)
    look(record, again)
    return [Place(line, "(deep within)", kind) for kind in again.found]


def _found(node: Any, key: str, finder: Finder) -> list[tuple[Path, str]]:
    """What is found in a node, each with the path to it from there."""
    if isinstance(node, dict):
        return [
            ((inner, *path), kind)
            for inner, value in node.items()
            for path, kind in (*_here(finder.hits_of_key(inner), None), *_found(value, inner, finder))
        ]
    if isinstance(node, list):
        return [
            ((number, *path), kind)
            for number, item in enumerate(node)
            for path, kind in _found(item, key, finder)
        ]
    if isinstance(node, str):
        return _here(finder.hits(node, key))
    if node is None or isinstance(node, bool):
        return []
    return _here(find_in_number(node, key, names=finder.names))


def _here(hits: tuple[Hit, ...], *path: None) -> list[tuple[Path, str]]:
    return [(path, kind) for kind in dict.fromkeys(hit.kind for hit in hits)] if hits else []


def _shown(path: Path, names: "Names | None") -> str:
    shown = ""
    for part in path:
        if part is None:
            shown += " (key)"
        elif isinstance(part, int):
            shown += f"[{part}]"
        else:
            key = printable(mask_text(part, Numbering(), names=names))[:64]
            shown = f"{shown}.{key}" if shown else key
    return shown
