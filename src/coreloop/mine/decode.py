"""One JSONL line -> the fields that mining needs; one file -> its lines, read or skipped for a reason."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Final

import msgspec

from coreloop.mine.fields import CallFields, PlainRecord, RecordFields
from coreloop.mine.loose import EPOCH, NO_TIME, NOT_UTF8, newer, read_loosely, time_of
from coreloop.mine.remote import LogFile
from coreloop.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FIRST_US: Final = (date.min - date(1970, 1, 1)).days * 86_400_000_000
_BEHIND_US: Final = ((date.max - date(1970, 1, 1)).days + 1) * 86_400_000_000


class RecordLine(msgspec.Struct, gc=False):  # a dataclass would cost as much as a third of the decoding
    """A readable record and where it stands: byte offset of its line, microseconds since 1970.

    ``absent`` names the fields that hold something unusable, and were read as absent.
    """

    fields: RecordFields
    calls: Sequence[CallFields]
    offset: int
    ts_us: int
    absent: Sequence[str] = ()


class Skipped(msgspec.Struct, gc=False):
    """A line that is not mined, and why."""

    reason: str
    offset: int


decode_plain = msgspec.json.Decoder(PlainRecord).decode
NOT_PLAIN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `decode_plain` raises where `decode_line` must look."""
_decode_record = msgspec.json.Decoder(RecordFields).decode


def raw_lines(path: LogFile, *, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Read a day file line by line, of any length.

    Parameters
    ----------
    path : Path or RemoteFile
        JSONL; LF or CRLF, with or without a byte order mark.
    start, end : int, optional
        Bytes; where a line begins, and where reading ends. What was appended later is not read.

    Yields
    ------
    int, bytes
        The offset of a line that is not blank, and the line without the mark.
    """
    offset = start
    with path.open("rb", buffering=1 << 20) as file:
        file.seek(start)
        for raw in file:
            if end is not None and offset + len(raw) >= end:
                raw = raw[: max(0, end - offset)]  # noqa: PLW2901 - as it was when the end was looked up
                if not raw:
                    return
            content = raw if offset else raw.removeprefix(BYTE_ORDER_MARK)
            if content and not content.isspace():
                yield offset, content
            offset += len(raw)


def read_lines(path: LogFile) -> Iterator[RecordLine | Skipped]:
    """Read a day file's records; see `raw_lines` and `decode_line`."""
    for offset, raw in raw_lines(path):
        yield decode_line(raw, offset)


def decode_line(raw: bytes, offset: int = 0, *, replays: bool = False) -> RecordLine | Skipped:
    """Decode one line, or say why it is skipped.

    Parameters
    ----------
    raw : bytes
        The line.
    offset : int
        Where it stands, in bytes.
    replays : bool
        Read records of replays too; mining never does.

    Returns
    -------
    RecordLine or Skipped
        Reasons are ``torn or not JSON``, ``not UTF-8``, ``not a record`` (no object), ``ts is missing``,
        ``ts is no valid time``, ``replay`` and ``schema version N is newer than 2``. Any other field that is
        not as it should be is read as what it plainly says, or as absent.
    """
    absent: Sequence[str] = ()
    try:
        fields = _decode_record(raw)
        moment = time_of(fields.ts)
    except UnicodeDecodeError:
        return Skipped(NOT_UTF8, offset)
    except (msgspec.DecodeError, RecursionError):
        found = read_loosely(raw)
        if isinstance(found, str):
            return Skipped(found, offset)
        fields, moment, absent = found.fields, found.at, found.absent
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(newer(fields.schema_version), offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    ts_us = None if moment is None else microseconds(moment)
    if ts_us is None:
        return Skipped(NO_TIME, offset)
    calls = [CallFields(one) if isinstance(one, str) else one for one in fields.tool_calls or ()]
    return RecordLine(fields, calls, offset, ts_us, absent)


def microseconds(moment: datetime) -> int | None:
    """Microseconds since 1970; None for one that is not of the years 1 to 9999 in UTC."""
    passed = moment - EPOCH
    ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
    return ts_us if _FIRST_US <= ts_us < _BEHIND_US else None


def call_step(call: CallFields, selectors: Mapping[str, Sequence[str]]) -> str:
    """The step of a call that was read from JSON; ``selectors`` only of the tools that have their own."""
    chosen = selectors.get(call.name, DEFAULT_SELECTORS)
    return step(call.name, call.selected(chosen), chosen)
