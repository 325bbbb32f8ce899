"""Where in a record something was found: the path of keys to it, never the thing itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreloop.sanitize.find import Hit
from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.modes import Finder
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
    found: list[tuple[Path, str]] = []
    try:
        _visit(record, (), "", finder, found)
    except RecursionError:  # the path would be longer than anybody reads
        found = []
    if found:
        return [Place(line, _shown(path, finder.names), kind) for path, kind in found]
    again = Finder(names=finder.names)
    look(record, again)
    return [Place(line, "(deep within)", kind) for kind in again.found]


def _visit(node: Any, path: Path, key: str, finder: Finder, found: list[tuple[Path, str]]) -> None:
    if isinstance(node, dict):
        for inner, value in node.items():
            found += [((*path, inner, None), kind) for kind in _kinds(finder.hits_of_key(inner))]
            _visit(value, (*path, inner), inner, finder, found)
    elif isinstance(node, list):
        for number, item in enumerate(node):
            _visit(item, (*path, number), key, finder, found)
    elif isinstance(node, str):
        found += [(path, kind) for kind in _kinds(finder.hits(node, key))]
    elif node is not None and not isinstance(node, bool):
        found += [(path, kind) for kind in _kinds(find_in_number(node, key, names=finder.names))]


def _kinds(hits: Iterable[Hit]) -> Iterable[str]:
    return dict.fromkeys(hit.kind for hit in hits)


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
