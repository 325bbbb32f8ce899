"""The `Finder`: finds and counts private data in the parts of a record, and caches clean values."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from coreloop.base.text import printable
from coreloop.sanitize.find_in_text import Hit, find_hits, is_harmless
from coreloop.sanitize.find_in_value import find_in_number, find_in_value, is_telling
from coreloop.sanitize.mask_text import Numbering, mask_text
from coreloop.sanitize.walk_record import children, scan

if TYPE_CHECKING:
    from coreloop.sanitize.company_names import Names

_MAX_CLEAN_KEYS: Final = 10_000
_MAX_CLEAN_VALUES: Final = 20_000
_SHORT_CHARS: Final = 64
_WORD_CHARS: Final = 12  # harmless and longer: hashes, which do not repeat


class Finder:
    """Counts private data without changing anything; shared by checks and masks.

    Parameters
    ----------
    names : Names, optional
        Companies to find as well.
    like : Finder, optional
        A finder with the same names, whose cache of clean keys and values is shared.

    Attributes
    ----------
    found : dict of (str, str or int or float or None) to tuple of str
        The kinds in each value with its key, and in each key with None, until the caller clears it.
    """

    def __init__(self, *, names: "Names | None" = None, like: "Finder | None" = None) -> None:
        self.names: Names | None = names if like is None else like.names
        self.counts: Counter[str] = Counter()
        self.found: dict[tuple[str, str | int | float | None], tuple[str, ...]] = {}
        self.n_keys = 0
        self._clean_keys: set[str] = set() if like is None else like._clean_keys
        self._clean_values: set[tuple[str, str]] = set() if like is None else like._clean_values

    def text(self, value: str, key: str) -> Any:
        if hits := self.hits(value, key):
            self._note(value, key, hits)
        return value

    def hits(self, value: str, key: str) -> tuple[Hit, ...]:
        """Find private data in a value; clean short values are cached, since they repeat."""
        place = (key, value)
        if place in self._clean_values:
            return ()
        harmless = not is_telling(key) and is_harmless(value, names=self.names)
        hits = () if harmless else find_in_value(value, key, names=self.names)
        if not hits and len(value) <= (_WORD_CHARS if harmless else _SHORT_CHARS):
            if len(self._clean_values) >= _MAX_CLEAN_VALUES:
                self._clean_values.clear()
            self._clean_values.add(place)
        return hits

    def number(self, value: int | float, key: str) -> Any:
        if hits := find_in_number(value, key, names=self.names):
            self._note(value, key, hits)
        return value

    def _note(self, value: str | int | float | None, key: str, hits: tuple[Hit, ...]) -> None:
        self.count(hits)
        self.found[key, value] = tuple(dict.fromkeys(hit.kind for hit in hits))

    def keys(self, keys: Iterable[str]) -> None:
        if not self._clean_keys.issuperset(keys):
            for key in keys:
                if hits := self.hits_of_key(key):
                    self._note(None, key, hits)

    def hits_of_key(self, key: str) -> tuple[Hit, ...]:
        """Find private data in a key; clean keys are cached."""
        if key in self._clean_keys:
            return ()
        hits = find_hits(key, names=self.names)
        if not hits and len(self._clean_keys) < _MAX_CLEAN_KEYS:
            self._clean_keys.add(key)
        return hits

    def count(self, hits: tuple[Hit, ...]) -> None:
        for hit in hits:
            self.counts[hit.kind] += 1


MAX_PLACES: Final = 1_000
# Keys and list indexes; None at the end if the finding is the last key itself.
_Keys = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """A finding's line, its path in the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, finder: Finder) -> list[FindingPlace]:
    """List the places of what a finder found in a record, at most `MAX_PLACES`."""
    try:
        findings: list[tuple[_Keys, str]] = []
        _collect(record, "", (), finder, findings)
    except RecursionError:  # the path would be too long to read
        findings = []
    if findings:
        keys: dict[str, str] = {}
        listed = ((_format_path(path, keys, finder.names), kind) for path, kind in findings[:MAX_PLACES])
        return [FindingPlace(line, path, kind) for path, kind in listed]
    counter = Finder(like=finder)
    scan(record, counter)
    return [FindingPlace(line, "(deeply nested)", kind) for kind in counter.counts]


def _collect(node: Any, key: str, path: _Keys, finder: Finder, findings: list[tuple[_Keys, str]]) -> None:
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


def _format_path(path: _Keys, keys: dict[str, str], names: "Names | None") -> str:
    """Format a path with masked keys; ``keys`` caches them, since many findings can be below a long key."""
    path_text = ""
    for part in path:
        if part is None:
            path_text += " (key)"
        elif isinstance(part, int):
            path_text += f"[{part}]"
        else:
            if part not in keys:
                keys[part] = printable(mask_text(part, Numbering(), names=names))[:64]
            path_text = f"{path_text}.{keys[part]}" if path_text else keys[part]
    return path_text
