"""The location of a finding in a record: the path of keys, never the value."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from coreloop.sanitize.finder import Finder
from coreloop.sanitize.masking import Numbering, mask_text
from coreloop.sanitize.walk import children, scan
from coreloop.text import printable

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
        findings = list(islice(_findings(record, "", (), finder), MAX_PLACES))
    except RecursionError:  # the path would be too long to read
        findings = []
    if findings:
        keys: dict[str, str] = {}
        return [Place(line, _format_path(path, keys, finder.names), kind) for path, kind in findings]
    counter = Finder(like=finder)
    scan(record, counter)
    return [Place(line, "(deeply nested)", kind) for kind in counter.counts]


def _findings(node: Any, key: str, path: Path, finder: Finder) -> Iterator[tuple[Path, str]]:
    """Yield the paths and kinds of the findings in a node."""
    found = finder.found
    for part, under, value in children(node, key):
        if (part, None) in found and isinstance(part, str):
            for kind in found[part, None]:
                yield (*path, part, None), kind
        if isinstance(value, dict | list):
            yield from _findings(value, under, (*path, part), finder)
        elif (under, value) in found and value is not None:
            for kind in found[under, value]:
                yield (*path, part), kind


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
