"""Sanitize a line of JSON, or reject it with a reason; no content of a rejected line is passed on."""

import json
from dataclasses import dataclass
from typing import Any, Final

import orjson

from coreloop.observe.reading.decode import BYTE_ORDER_MARK
from coreloop.sanitize.files import MAX_LINE_BYTES
from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.sanitize_record import sanitize_record
from coreloop.sanitize.walk_record import NotFiniteError

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
    except RecursionError:
        return RejectedLine("nested too deeply", len(raw))
    except NotFiniteError:
        return RejectedLine("a number beyond all bounds", len(raw))


def _sanitized(raw: bytes, visitor: Finder) -> bytes:
    record = _decode(raw)
    before = visitor.n_keys
    result = sanitize_record(record, visitor)
    # Every key precedes a colon; equal counts mean that the parser dropped no duplicate key.
    if visitor.n_keys - before != raw.translate(None, _WHITE_SPACE).count(b'":'):
        _refuse_duplicates(raw)
    if result is record:
        return raw + b"\n"
    try:
        return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, RecursionError) as error:
        raise _UnreadableError("nested too deeply") from error


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
