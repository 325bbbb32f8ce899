"""The `Finder`: finds and counts private data in the parts of a record, and caches clean values."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from coreloop.sanitize.find_in_text import Hit, find_hits, is_harmless
from coreloop.sanitize.find_in_value import find_in_number, find_in_value, is_telling

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
