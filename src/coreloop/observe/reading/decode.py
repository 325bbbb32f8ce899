"""A JSONL line -> the fields that mining needs; a file -> its lines, decoded or skipped with a reason.

A line that is not well-formed is read leniently: its fields are converted, or read as absent. The converted
object is decoded as any other record, so that part need not be fast.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TypeAlias

import msgspec

from coreloop.base.files import file_errors
from coreloop.base.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step
from coreloop.observe.reading.fields import (
    CallFields,
    JudgmentFields,
    OverrideFields,
    PlainRecord,
    RecordFields,
    Timestamp,
    cut_name,
)

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
MAX_READ_BYTES: Final = 64 << 20
"""Of a line: records have 4 KB, and a longer line is skipped."""
TOO_LONG: Final = f"longer than {MAX_READ_BYTES >> 20} MiB"
NOT_UTF8: Final = "not UTF-8"
NO_TIME: Final = "ts is no valid time"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US: Final = (date.min - date(1970, 1, 1)).days * 86_400_000_000
_BEHIND_US: Final = ((date.max - date(1970, 1, 1)).days + 1) * 86_400_000_000
_MIN_S: Final = 1e8  # March 1973: a smaller number is no time, and eight digits are a day: 20260425
_MIN_MS: Final = 1e11  # as milliseconds March 1973, as seconds the year 5138
_MAX_VERSION: Final = 20
_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("yes", "ok", "success", "succeeded"), True),
    **dict.fromkeys(("no", "error", "failure", "failed"), False),
}
_Absent: TypeAlias = dict[str, None]
"""Names of fields with an unusable value, each once."""


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
        timestamp = _time_of(fields.ts)
    except UnicodeDecodeError:
        return Skipped(NOT_UTF8, offset)
    except (msgspec.DecodeError, RecursionError):
        record = _loosened(raw)
        if isinstance(record, str):
            return Skipped(record, offset)
        fields, absent = _decode_record(record[0]), record[1]
        timestamp = _time_of(fields.ts)
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(_newer_version(fields.schema_version), offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    ts_us = None if timestamp is None else microseconds(timestamp)
    if ts_us is None:
        return Skipped(NO_TIME, offset)
    calls = [CallFields(call) if isinstance(call, str) else call for call in fields.tool_calls or ()]
    return RecordLine(fields, calls, offset, ts_us, absent)


class Question(msgspec.Struct, gc=False):
    """A record's question and its hash, both as recorded."""

    question: str | None = None
    question_hash: str | None = None


class _Asked(Question, gc=False, kw_only=True):
    """The question of a line that `decode_line` does not skip."""

    ts: Timestamp
    schema_version: Literal[1, 2] = 1
    origin: None = None


_decode_asked: Final = msgspec.json.Decoder(_Asked).decode


def decode_question(raw: bytes) -> Question | None:
    """The question of a line as `decode_line` reads it, or None if the line would be skipped.

    The other fields are passed over, which takes a third of the time that `decode_line` takes.
    """
    try:
        return _decode_asked(raw)
    except NOT_PLAIN:
        line = decode_line(raw)
    if not isinstance(line, RecordLine):
        return None
    return Question(line.fields.question, line.fields.question_hash)


def microseconds(timestamp: datetime) -> int | None:
    """Microseconds since 1970, or None if the UTC year is not within 1 to 9999."""
    passed = timestamp - EPOCH
    ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
    return ts_us if _FIRST_US <= ts_us < _BEHIND_US else None


def call_step(call: CallFields, selectors: Mapping[str, Sequence[str]]) -> str:
    """The step of a call that was read from JSON; ``selectors`` holds only tools with their own selectors."""
    chosen = selectors.get(call.name, DEFAULT_SELECTORS)
    return step(call.name, call.selected(chosen), chosen)


def _loosened(raw: bytes) -> tuple[bytes, tuple[str, ...]] | str:
    """As much of a line as possible as a plain record, and what is absent from it; or why to skip it."""
    text = raw.decode("utf-8", "replace")
    try:
        plain = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")  # no surrogates
        value = json.loads(plain, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return "torn or not JSON"
    if text.encode() != raw:
        return NOT_UTF8
    if not isinstance(value, dict):
        return "not a record"
    version = _number(value.get("schema_version"))
    if version is not None and version > SCHEMA_VERSION:
        return _newer_version(version)
    timestamp = _time_of(value.get("ts"))
    if timestamp is None:
        return "ts is missing" if value.get("ts") is None else NO_TIME
    absent: _Absent = {}
    record = _converted(value, RecordFields, absent)
    record |= {"ts": timestamp.isoformat(), "schema_version": int(version or 1)}
    if isinstance(value.get("judgment"), dict):
        record["judgment"] = _converted(value["judgment"], JudgmentFields, absent)
    record["tool_calls"] = _items(value, "tool_calls", _call, absent)
    record["override_calls"] = _items(value, "override_calls", _override, absent)
    return json.dumps(record, ensure_ascii=False).encode(), tuple(absent)


def _newer_version(version: float) -> str:
    """Why to skip a line of a newer version: its fields may have another meaning. Few reasons for any log."""
    is_known = version <= _MAX_VERSION and version == int(version)
    named = f"{version:.0f}" if is_known else "of no known kind"
    return f"schema version {named} is newer than {SCHEMA_VERSION}: upgrade coreloop"


def _time_of(value: object) -> datetime | None:
    """A time in ISO 8601, or in seconds or milliseconds since 1970; UTC if it has no zone."""
    number = _number(value)
    if number is not None and number >= _MIN_S:
        with suppress(OverflowError):
            return EPOCH + timedelta(seconds=number if number < _MIN_MS else number / 1000)
    if not isinstance(value, str):
        return None
    text = value.strip()
    with suppress(msgspec.ValidationError):  # same rounding as for a plain record
        exact: datetime = msgspec.convert(text, Timestamp)
        return exact
    with suppress(ValueError):
        timestamp = datetime.fromisoformat(text)
        return timestamp if timestamp.tzinfo is not None else timestamp.replace(tzinfo=UTC)
    return None


def _converted(value: Mapping[str, Any], kind: type[msgspec.Struct], absent: _Absent) -> dict[str, Any]:
    """The fields of an object, as their types want them; null and empty values are not unusable."""
    converted = {}
    for field in msgspec.structs.fields(kind):
        given = value.get(field.name)
        is_empty = given in (None, [], {}) or (given == "" and field.type not in _TEXTS)
        if is_empty or field.name in _NESTED:
            continue
        try:
            converted[field.name] = _as(field.type, given)
        except msgspec.ValidationError:
            absent[field.name] = None
    return converted


def _as(kind: Any, given: Any) -> Any:
    """A value as a type wants it: a number is also a text and the reverse, and `_WORDS` are truths."""
    if kind in (bool, bool | None) and isinstance(given, str):
        given = _WORDS.get(given.strip().lower(), given)
    if kind in _TEXTS and isinstance(given, int | float) and not isinstance(given, bool):
        given = str(given)
    if kind in _CONVERTED:
        given = msgspec.convert(given, kind, strict=False)
        if isinstance(given, float) and not isfinite(given):
            raise msgspec.ValidationError
    if kind == _ARGS and isinstance(given, bool):
        raise msgspec.ValidationError
    return given


def _items(
    value: Mapping[str, Any], name: str, convert: Callable[[Any, _Absent], Any], absent: _Absent
) -> list[Any] | None:
    """The converted items of a list, or None; a single object or text is the only item."""
    given = value.get(name)
    if not isinstance(given, list | dict | str):
        absent |= {} if given is None else {name: None}
        return None
    items = given if isinstance(given, list) else [given] if given else []
    converted = [convert(item, absent) for item in items]
    if None in converted:
        absent[f"{name} entry"] = None
    return [item for item in converted if item is not None]


def _call(value: Any, absent: _Absent) -> Any:
    absent_in_call: _Absent = {}
    call = {"name": value} if isinstance(value, str) else value
    call = _converted(call, CallFields, absent_in_call) if isinstance(call, dict) else {}
    if not isinstance(call.get("name"), str | int | float):
        return None
    absent.update(absent_in_call)
    return {**call, "name": cut_name(str(call["name"]))}


def _override(value: Any, absent: _Absent) -> Any:
    """Every override that is an object, even without a tool."""
    return {"tool": "", **_converted(value, OverrideFields, absent)} if isinstance(value, dict) else None


def _number(value: Any) -> float | None:
    with suppress(msgspec.ValidationError):
        number: float | None = None if isinstance(value, bool) else _as(float | None, value)
        return number
    return None


_NESTED: Final = ("ts", "schema_version", "tool_calls", "override_calls", "judgment")
_ARGS: Final = next(field.type for field in msgspec.structs.fields(CallFields) if field.name == "args")
_TEXTS: Final = (str, str | None)
_CONVERTED: Final = (
    *_TEXTS,
    *(bool, bool | None, float | None, int | None, list[str] | None, Sequence[str] | None),
)
