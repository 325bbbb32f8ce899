"""The location of a finding in a record: the path of keys, never the value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from coreloop.base.text import printable
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.walk import children, scan

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

MAX_PLACES: Final = 1_000
# Keys and list indexes; None at the end if the finding is the last key itself.
Path = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A finding's line, its path in the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, finder: Finder) -> list[Place]:
    """List the places of what a finder found in a record, at most `MAX_PLACES`."""
    try:
        findings: list[tuple[Path, str]] = []
        _collect(record, "", (), finder, findings)
    except RecursionError:  # the path would be too long to read
        findings = []
    if findings:
        keys: dict[str, str] = {}
        shown = ((_format_path(path, keys, finder.names), kind) for path, kind in findings[:MAX_PLACES])
        return [Place(line, path, kind) for path, kind in shown]
    counter = Finder(like=finder)
    scan(record, counter)
    return [Place(line, "(deeply nested)", kind) for kind in counter.counts]


def _collect(node: Any, key: str, path: Path, finder: Finder, findings: list[tuple[Path, str]]) -> None:
    """Append the paths and kinds of the findings in a node."""
    found = finder.found
    for part, under, value in children(node, key):
        if len(findings) >= MAX_PLACES:
            return
        if (part, None) in found and isinstance(part, str):
            findings += (((*path, part, None), kind) for kind in found[part, None])
        if isinstance(value, dict | list):
            _collect(value, under, (*path, part), finder, findings)
        elif (under, value) in found and value is not None:
            findings += (((*path, part), kind) for kind in found[under, value])


def _format_path(path: Path, keys: dict[str, str], names: "Names | None") -> str:
    """Format a path with masked keys; ``keys`` caches them, since many findings can be below a long key."""
    shown = ""
    for part in path:
        if part is None:
            shown += " (key)"
        elif isinstance(part, int):
            shown += f"[{part}]"
        else:
            if part not in keys:
                keys[part] = printable(mask_text(part, Numbering(), names=names))[:64]
            shown = f"{shown}.{keys[part]}" if shown else keys[part]
    return shown
