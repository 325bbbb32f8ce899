"""Sanitizing a record in any mode, and the `Masker` of the mode ``mask``."""

from typing import TYPE_CHECKING, Any, Final, Literal

from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.find_in_value import find_in_number, find_in_value
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.mask_text import Label, canonical, mask_text
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.telling_keys import cut_number_to_hour, cut_to_hour, id_field, is_time
from coreloop.sanitize.walk_record import rewrite, scan

if TYPE_CHECKING:
    from coreloop.sanitize.company_names import Names

Mode = Literal["hash", "drop", "mask"]
MODES: Final[tuple[Mode, ...]] = ("hash", "drop", "mask")
_MAX_PASSES: Final = 3


class Masker(Finder):
    """Mask mode: labels for private data, pseudonyms for ids, times cut to the hour; the rest stays."""

    def __init__(
        self, pseudonyms: Pseudonyms, label: Label, *, names: "Names | None" = None, keep_times: bool = False
    ) -> None:
        super().__init__(names=names)
        self._pseudonyms = pseudonyms
        self._label = label
        self._keep_times = keep_times

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Mask a record until it is clean: a masked key changes the context of its value."""
        masked = self._masked(record)
        if isinstance(record.get("case"), list):
            masked["case"] = [self._pseudonyms("case", str(number)) for number in record["case"]]
        return masked

    def _masked(self, record: dict[str, Any]) -> dict[str, Any]:
        before = self.counts.total()
        masked: dict[str, Any] = rewrite(record, self)
        if self.counts.total() == before:
            return masked
        for _ in range(_MAX_PASSES):
            remaining = Finder(like=self)
            scan(masked, remaining)
            if not remaining.counts:
                return masked
            masked = rewrite(masked, _NextPass(self))
        return masked

    def text(self, value: str, key: str) -> Any:
        field = id_field(key)
        if field is not None:
            return self._pseudonyms(field, value) if value else value
        if not self._keep_times and is_time(key) and not self.hits(value, key):
            hour = cut_to_hour(value)
            if hour is not None:
                return hour
        return self.masked(value, key)

    def masked(self, value: str, key: str) -> str:
        """Mask a text that is neither an id nor a time."""
        hits = self.hits(value, key)
        if not hits:
            return value
        self.count(hits)
        masked = mask_text(value, self._label, names=self.names, hits=hits)
        remaining = find_in_value(masked, key, names=self.names)
        return self._label("TEXT", value) if remaining else masked

    def number(self, value: int | float, key: str) -> Any:
        field = id_field(key)
        if field is not None:
            return self._pseudonyms(field, str(value))
        masked = self.masked_number(value, key)
        if masked is value and not self._keep_times and is_time(key):
            hour = cut_number_to_hour(value)
            return value if hour is None else hour
        return masked

    def masked_number(self, value: int | float, key: str) -> Any:
        """Mask a number that is neither an id nor a time."""
        hits = find_in_number(value, key, names=self.names)
        if not hits:
            return value
        self.count(hits)
        return self._label(hits[0].kind, canonical(hits[0]))

    def key(self, key: str) -> str:
        if key in self._clean_keys:  # true for almost all keys
            return key
        hits = self.hits_of_key(key)
        self.count(hits)
        return mask_text(key, self._label, names=self.names, hits=hits) if hits else key


class _NextPass:
    """A further pass over a masked record; its ids and times are already replaced."""

    def __init__(self, masker: Masker) -> None:
        self.n_keys = 0
        self.text = masker.masked
        self.number = masker.masked_number
        self.key = masker.key


def sanitize_record(record: dict[str, Any], visitor: "Finder") -> dict[str, Any]:
    """Sanitize a record.

    Parameters
    ----------
    record : dict
        The decoded line.
    visitor : Finder
        `Masker`, `Pseudonymizer`, or a plain `Finder`, which only counts.

    Returns
    -------
    dict
        A new record, or the same record for a plain `Finder`.
    """
    if isinstance(visitor, Pseudonymizer | Masker):
        return visitor.record(record)
    scan(record, visitor)
    return record
