"""The location of a finding in a record: the path of keys, never the value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coreloop.sanitize.find import Hit
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.values import find_in_number
from coreloop.sanitize.walk import scan
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

# Keys and list indexes; None at the end if the finding is the last key itself.
Path = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A finding's line, its path in the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, finder: Finder) -> list[Place]:
    """List the places of all findings in a record."""
    try:
        findings = _findings(record, "", finder)
    except RecursionError:  # the path would be too long to read
        findings = []
    if findings:
        return [Place(line, _format_path(path, finder.names), kind) for path, kind in findings]
    counter = Finder(names=finder.names)
    scan(record, counter)
    return [Place(line, "(deeply nested)", kind) for kind in counter.counts]


def _findings(node: Any, key: str, finder: Finder) -> list[tuple[Path, str]]:
    """List the kinds of findings in a node, each with its path relative to the node."""
    if isinstance(node, dict):
        return [
            ((inner, *path), kind)
            for inner, value in node.items()
            for path, kind in (*_kinds(finder.hits_of_key(inner), None), *_findings(value, inner, finder))
        ]
    if isinstance(node, list):
        return [
            ((number, *path), kind)
            for number, item in enumerate(node)
            for path, kind in _findings(item, key, finder)
        ]
    if isinstance(node, str):
        return _kinds(finder.hits(node, key))
    if node is None or isinstance(node, bool):
        return []
    return _kinds(find_in_number(node, key, names=finder.names))


def _kinds(hits: tuple[Hit, ...], *path: None) -> list[tuple[Path, str]]:
    return [(path, kind) for kind in dict.fromkeys(hit.kind for hit in hits)] if hits else []


def _format_path(path: Path, names: "Names | None") -> str:
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
