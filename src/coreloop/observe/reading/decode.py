"""A JSONL line -> the fields that mining needs; a file -> its lines, decoded or skipped with a reason."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from coreloop.base.files import file_errors
from coreloop.base.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step
from coreloop.observe.reading.fields import CallFields, PlainRecord, RecordFields
from coreloop.observe.reading.lenient import EPOCH, NO_TIME, NOT_UTF8, loosened, newer_version, time_of

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
MAX_READ_BYTES: Final = 64 << 20
"""Of a line: records have 4 KB, and a longer line is skipped."""
TOO_LONG: Final = f"longer than {MAX_READ_BYTES >> 20} MiB"
_FIRST_US: Final = (date.min - date(1970, 1, 1)).days * 86_400_000_000
_BEHIND_US: Final = ((date.max - date(1970, 1, 1)).days + 1) * 86_400_000_000


class RecordLine(msgspec.Struct, gc=False):  # a dataclass would add a third to the decoding time
    """A readable record, the byte offset of its line, and its time in microseconds since 1970.

    ``absent`` names the fields with an unusable value, which were read as absent.
    """

    fields: RecordFields
    calls: Sequence[CallFields]
    offset: int
    ts_us: int
    absent: Sequence[str] = ()


class Skipped(msgspec.Struct, gc=False):
    """A line that is not mined, and the reason."""

    reason: str
    offset: int


decode_plain = msgspec.json.Decoder(PlainRecord).decode
NOT_PLAIN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised by `decode_plain` for lines that `decode_line` must read."""
_decode_record = msgspec.json.Decoder(RecordFields).decode


def raw_lines(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Read a day file line by line; of a line over `MAX_READ_BYTES`, only as much and a byte more.

    Parameters
    ----------
    path : Path
        JSONL; LF or CRLF, with or without a byte order mark.
    start, end : int, optional
        Bytes: the beginning of a line, and where reading ends. Bytes appended later are not read.

    Yields
    ------
    int, bytes
        The offset of each line that is not blank, and the line without the mark.
    """
    offset = start
    with path.open("rb", buffering=1 << 20) as file:
        file.seek(start)
        while raw := file.readline(MAX_READ_BYTES + 1):
            start_of_line = offset
            offset += len(raw)
            if len(raw) > MAX_READ_BYTES and not raw.endswith(b"\n"):
                offset += _skip_rest(file)
            if end is not None and start_of_line + len(raw) >= end:
                raw = raw[: max(0, end - start_of_line)]  # the line was shorter when ``end`` was read
                if not raw:
                    return
            content = raw if start_of_line else raw.removeprefix(BYTE_ORDER_MARK)
            if content and not content.isspace():
                yield start_of_line, content


def _skip_rest(file: BinaryIO) -> int:
    """Read a line to its end in pieces, and return their length."""
    n_bytes = 0
    while piece := file.readline(1 << 20):
        n_bytes += len(piece)
        if piece.endswith(b"\n"):
            break
    return n_bytes


def read_lines(path: Path) -> Iterator[RecordLine | Skipped]:
    """Read a day file's records; see `raw_lines` and `decode_line`."""
    for offset, raw in raw_lines(path):
        yield decode_line(raw, offset)


def find_record(request_id: str, folder: Path) -> RecordLine | None:
    """Return a request's newest record in a log, or raise `WorkspaceError` if a file cannot be read."""
    with file_errors("cannot be read ({strerror})", folder):
        files = sorted(folder.glob("*.jsonl"), reverse=True)
        lines = (line for path in files for line in read_lines(path) if isinstance(line, RecordLine))
        return next((line for line in lines if line.fields.request_id == request_id), None)


def decode_line(raw: bytes, offset: int = 0, *, replays: bool = False) -> RecordLine | Skipped:
    """Decode a line, or give the reason to skip it.

    Parameters
    ----------
    raw : bytes
        The line.
    offset : int
        Its position in the file, in bytes.
    replays : bool
        Also read records of replays; mining never does.

    Returns
    -------
    RecordLine or Skipped
        Reasons are ``torn or not JSON``, ``not UTF-8``, ``not a record`` (no object), ``ts is missing``,
        ``ts is no valid time``, ``replay``, ``longer than 64 MiB`` and ``schema version N is newer than 2``.
        Any other malformed field is converted if its meaning is clear, else read as absent.
    """
    absent: Sequence[str] = ()
    if len(raw) > MAX_READ_BYTES:
        return Skipped(TOO_LONG, offset)
    try:
        fields = _decode_record(raw)
        timestamp = time_of(fields.ts)
    except UnicodeDecodeError:
        return Skipped(NOT_UTF8, offset)
    except (msgspec.DecodeError, RecursionError):
        record = loosened(raw)
        if isinstance(record, str):
            return Skipped(record, offset)
        fields, absent = _decode_record(record[0]), record[1]
        timestamp = time_of(fields.ts)
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(newer_version(fields.schema_version), offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    ts_us = None if timestamp is None else microseconds(timestamp)
    if ts_us is None:
        return Skipped(NO_TIME, offset)
    calls = [CallFields(call) if isinstance(call, str) else call for call in fields.tool_calls or ()]
    return RecordLine(fields, calls, offset, ts_us, absent)


def microseconds(timestamp: datetime) -> int | None:
    """Microseconds since 1970, or None if the UTC year is not within 1 to 9999."""
    passed = timestamp - EPOCH
    ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
    return ts_us if _FIRST_US <= ts_us < _BEHIND_US else None


def call_step(call: CallFields, selectors: Mapping[str, Sequence[str]]) -> str:
    """The step of a call that was read from JSON; ``selectors`` holds only tools with their own selectors."""
    chosen = selectors.get(call.name, DEFAULT_SELECTORS)
    return step(call.name, call.selected(chosen), chosen)
