"""The `Finder`: finds and counts private data in the parts of a record, and caches clean values."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from coreloop.sanitize.find import Hit, find_hits, is_harmless
from coreloop.sanitize.values import find_in_number, find_in_value, is_telling

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

_MAX_CLEAN_KEYS: Final = 10_000
_MAX_CLEAN_VALUES: Final = 20_000
_SHORT_CHARS: Final = 64


class Finder:
    """Counts private data without changing anything; shared by checks and masks."""

    def __init__(self, *, names: "Names | None" = None) -> None:
        self.names = names
        self.counts: Counter[str] = Counter()
        self.n_keys = 0
        self._clean_keys: set[str] = set()
        self._clean_values: set[tuple[str, str]] = set()

    def text(self, value: str, key: str) -> Any:
        if hits := self.hits(value, key):
            self.count(hits)
        return value

    def hits(self, value: str, key: str) -> tuple[Hit, ...]:
        """Find private data in a value; clean short values are cached, since they repeat."""
        place = (key, value)
        if place in self._clean_values:
            return ()
        harmless = is_harmless(value)
        if harmless and self.names is None and not is_telling(key):
            return ()
        hits = find_in_value(value, key, names=self.names)
        if not hits and len(value) <= _SHORT_CHARS and not harmless:
            if len(self._clean_values) >= _MAX_CLEAN_VALUES:
                self._clean_values.clear()
            self._clean_values.add(place)
        return hits

    def number(self, value: int | float, key: str) -> Any:
        if hits := find_in_number(value, key, names=self.names):
            self.count(hits)
        return value

    def keys(self, keys: Iterable[str]) -> None:
        if not self._clean_keys.issuperset(keys):
            for key in keys:
                self.key(key)

    def key(self, key: str) -> str:
        self.count(self.hits_of_key(key))
        return key

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
