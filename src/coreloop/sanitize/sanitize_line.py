"""Sanitize a line of JSON, or reject it with a reason; no content of a rejected line is passed on."""

import json
import math
from dataclasses import dataclass
from typing import Any, Final

import orjson

from coreloop.observe.reading.decode import BYTE_ORDER_MARK
from coreloop.sanitize.files import MAX_LINE_BYTES
from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.sanitize_record import sanitize_record
from coreloop.sanitize.walk_record import NotFiniteError

# Searching for 19 digits with a regular expression takes longer than parsing.
_AS_ZERO: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER: Final = b"0" * 19
_WHITE_SPACE: Final = b" \t\r\n"


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
    packed = raw.translate(_AS_ZERO, _WHITE_SPACE)
    if _LONG_INTEGER in packed:
        _parse_strictly(raw)
    before = visitor.n_keys
    result = sanitize_record(record, visitor)
    # Every key precedes a colon; equal counts mean that the parser dropped no duplicate key.
    if visitor.n_keys - before != packed.count(b'":'):
        _parse_strictly(raw)
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
    except orjson.JSONDecodeError:
        _parse_strictly(raw)
        raise _UnreadableError("a lone surrogate, or no JSON") from None
    if not isinstance(record, dict):
        raise _UnreadableError("not an object")
    return record


def _parse_strictly(raw: bytes) -> None:
    """Raise `_UnreadableError` if the strict settings of the standard parser reject a line."""
    try:
        json.loads(
            raw.decode(),
            object_pairs_hook=_refuse_duplicates,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
            parse_float=_read_float,
        )
    except _UnreadableError:
        raise
    except UnicodeDecodeError as error:
        raise _UnreadableError("not UTF-8") from error
    except RecursionError as error:
        raise _UnreadableError("nested too deeply") from error
    except ValueError as error:
        raise _UnreadableError("torn or not JSON") from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _UnreadableError("a key appears twice")
    return values


def _refuse_constant(name: str) -> None:
    raise _UnreadableError("NaN or Infinity, which JSON does not have")


def _read_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _UnreadableError("a number beyond all bounds")
    return number


def _read_integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise _UnreadableError("a number beyond 64 bits")
    return int(digits)
