"""The modes, the `Masker` of the mode ``mask``, and a line of JSON, sanitized or rejected with a reason."""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from coreloop.observe.reading.decode import BYTE_ORDER_MARK
from coreloop.sanitize.files import MAX_LINE_BYTES
from coreloop.sanitize.find_in_record import Finder, rewrite
from coreloop.sanitize.find_in_text import Label, canonical, mask_text
from coreloop.sanitize.find_in_value import (
    cut_number_to_hour,
    cut_to_hour,
    find_in_number,
    find_in_value,
    id_field,
    is_time,
)
from coreloop.sanitize.pseudonyms import Pseudonyms

Mode = Literal["hash", "drop", "mask"]
MODES: Final[tuple[Mode, ...]] = ("hash", "drop", "mask")
_MAX_PASSES: Final = 3


class Masker(Finder):
    """Mask mode: labels for private data, pseudonyms for ids, times cut to the hour; the rest stays."""

    def __init__(self, pseudonyms: Pseudonyms, label: Label, *, keep_times: bool = False) -> None:
        super().__init__()
        self._pseudonyms = pseudonyms
        self._label = label
        self._keep_times = keep_times
        self._is_again = False

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Mask a record until it is clean: a masked key changes the context of its value."""
        before = self.counts.total()
        masked: dict[str, Any] = rewrite(record, self)
        for _ in range(_MAX_PASSES if self.counts.total() > before else 0):
            remaining = Finder(like=self)
            remaining.record(masked)
            if not remaining.counts:
                break
            self._is_again = True
            masked = rewrite(masked, self)
        self._is_again = False
        if isinstance(record.get("case"), list):
            masked["case"] = [self._pseudonyms("case", str(number)) for number in record["case"]]
        return masked

    def text(self, value: str, key: str) -> Any:
        field = None if self._is_again else id_field(key)
        if field is not None:
            return self._pseudonyms(field, value)
        hits = self.hits(value, key)
        if not hits:
            hour = cut_to_hour(value) if self._cuts(key) else None
            return value if hour is None else hour
        self.count(hits)
        masked = mask_text(value, self._label, hits=hits)
        return self._label("TEXT", value) if find_in_value(masked, key) else masked

    def _cuts(self, key: str) -> bool:
        """Whether a value is a time, which is cut to the hour; a further pass has them cut already."""
        return not (self._keep_times or self._is_again) and is_time(key)

    def number(self, value: int | float, key: str) -> Any:
        field = None if self._is_again else id_field(key)
        if field is not None:
            return self._pseudonyms(field, str(value))
        if hits := find_in_number(value, key):
            self.count(hits)
            return self._label(hits[0].kind, canonical(hits[0]))
        hour = cut_number_to_hour(value) if self._cuts(key) else None
        return value if hour is None else hour

    def key(self, key: str) -> str:
        hits = self.hits(key, "")
        self.count(hits)
        return mask_text(key, self._label, hits=hits) if hits else key


_WHITE_SPACE: Final = b" \t\r\n"
_MOST_NESTED: Final = 1_000  # of the parser


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line that cannot be sanitized: the reason and its size."""

    reason: str
    size_bytes: int


class _UnreadableError(ValueError):
    """An unreadable line; the message is the reason for its rejection."""


def sanitize_line(raw: bytes, visitor: Finder) -> bytes | RejectedLine | None:
    """Sanitize a line of a file.

    Parameters
    ----------
    raw : bytes
        A line of JSON; one that is longer than `MAX_LINE_BYTES` may be cut.
    visitor : Finder
        The mode.

    Returns
    -------
    bytes, Rejected or None
        The sanitized line, including its newline; None for a blank line.
    """
    content = raw.strip()
    if not content:
        return None
    try:
        return _sanitized(content, visitor)
    except _UnreadableError as error:
        return RejectedLine(str(error), len(raw))


def _sanitized(raw: bytes, visitor: Finder) -> bytes:
    record = _decode(raw)
    try:
        written = orjson.dumps(record)
    except TypeError as error:
        raise _UnreadableError("nested too deeply") from error
    # A key precedes a colon; equal counts mean that no duplicate was dropped, but for an escaped quote.
    if rb"\u00" in raw or written.count(b'":') != raw.translate(None, _WHITE_SPACE).count(b'":'):
        _refuse_duplicates(raw)
    result = visitor.record(record)
    return raw + b"\n" if result is record else orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)


def _decode(raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_LINE_BYTES:
        raise _UnreadableError(f"longer than {MAX_LINE_BYTES >> 20} MiB")
    if raw.startswith(BYTE_ORDER_MARK):
        raise _UnreadableError("begins with a byte order mark")
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _UnreadableError(_reason(raw)) from error
    if not isinstance(record, dict):
        raise _UnreadableError("not an object")
    return record


def _reason(raw: bytes) -> str:
    """Say why the parser refuses a line."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    depth = max(raw.count(b"["), raw.count(b"{"))
    return "nested too deeply, or torn" if depth >= _MOST_NESTED else "torn or not JSON"


def _refuse_duplicates(raw: bytes) -> None:
    def refuse(pairs: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in pairs}) != len(pairs):
            raise _UnreadableError("a key appears twice")

    json.loads(raw, object_pairs_hook=refuse)
