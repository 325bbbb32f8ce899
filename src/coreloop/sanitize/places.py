"""Where in a record something was found: the path of keys to it, never the thing itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.modes import Finder
from coreloop.sanitize.walk import look
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names


@dataclass(frozen=True, slots=True)
class Place:
    """A finding's line, the path to it within the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, *, names: "Names | None" = None) -> list[Place]:
    """Every place of a record where something is found."""
    places: list[Place] = []
    try:
        _visit(record, "", "", line, names, places)
    except RecursionError:  # the path would be longer than anybody reads
        places = []
    return places or [Place(line, "(deep within)", kind) for kind in _kinds(record, "", names)]


def _visit(node: Any, path: str, key: str, line: int, names: "Names | None", places: list[Place]) -> None:
    if isinstance(node, dict):
        for inner, value in node.items():
            shown = printable(mask_text(inner, Numbering(), names=names))[:64]
            below = f"{path}.{shown}" if path else shown
            places += [Place(line, f"{below} (key)", kind) for kind in _kinds_of_key(inner, names)]
            _visit(value, below, inner, line, names, places)
    elif isinstance(node, list):
        for number, item in enumerate(node):
            _visit(item, f"{path}[{number}]", key, line, names, places)
    else:
        places += [Place(line, path, kind) for kind in _kinds(node, key, names)]


def _kinds(node: Any, key: str, names: "Names | None") -> list[str]:
    finder = Finder(names=names)
    look(node, finder, key)
    return list(finder.found)


def _kinds_of_key(key: str, names: "Names | None") -> list[str]:
    finder = Finder(names=names)
    finder.key(key)
    return list(finder.found)
