"""A JSONL line -> the fields that mining needs; a file -> its lines, decoded or skipped with a reason.

A line that is not well-formed is read leniently: its fields are converted, or read as absent. The converted
object is decoded as any other record, so that part need not be fast.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal, TypeAlias, TypeVar

import msgspec

from coreloop.base.files import file_errors
from coreloop.base.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step
from coreloop.observe.reading.parts import Line, join_parts

# Of a tool or an argument: clients allow 64, and a longer one would fill screens; the rest is cut.
MAX_NAME_CHARS: Final = 200
# Of a tool, which costs nothing to check; on an argument's it would take a third of the time.
Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
NOT_UTF8: Final = "not UTF-8"
NO_TIME: Final = "ts is no valid time"
NO_FIRST_LINE: Final = "part of a request whose first line is missing"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US: Final = (date.min - date(1970, 1, 1)).days * 86_400_000_000
_BEHIND_US: Final = ((date.max - date(1970, 1, 1)).days + 1) * 86_400_000_000
_Fields = TypeVar("_Fields", bound=msgspec.Struct)
# Names of fields with an unusable value, each once.
_Absent: TypeAlias = dict[str, None]


class CallFields(msgspec.Struct, gc=False):
    """A tool call; of the argument values, only selectors are decoded, on demand."""

    name: Name
    args: dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None = None
    ok: bool | None = None
    error: Any = None
    duration_ms: float | None = None
    result_size_bytes: float | None = None
    overrides_used: list[str] | None = None
    extreme_flags: Sequence[str] | None = None
    args_from: msgspec.Raw = msgspec.Raw()
    saw: msgspec.Raw = msgspec.Raw()
    unknown: str | None = None

    def selected(self, selectors: Sequence[str]) -> dict[str, Any]:
        """The values of the selector arguments that the call has."""
        args = self.args if isinstance(self.args, dict) else {}
        return {key: _selector(args[key]) for key in selectors if key in args}


class OverrideFields(msgspec.Struct, gc=False):
    """An override of a tool's assumption."""

    tool: str
    succeeded: bool = True


class JudgmentFields(msgspec.Struct, gc=False):
    """A verdict in the record itself."""

    verdict: str | None = None


class CountedFields(msgspec.Struct, gc=False, kw_only=True):
    """Fields of a record of version 1 or 2, in the order of the file, which is faster to decode.

    All but the time may be absent.
    """

    schema_version: int = 1
    ts: str | datetime
    request_id: str | None = None
    question: str | None = None
    question_hash: str | None = None
    category_hash: str | None = None
    provider: str | None = None
    model: Any = None
    tool_calls: Sequence[CallFields | Name] | None = None
    tool_sequence_hash: str | None = None
    override_calls: Sequence[OverrideFields] | None = None
    rounds: float | None = None
    chunk_len: float | None = None
    error: Any = None
    violation: Any = None
    duration_total_ms: float | None = None
    judgment: JudgmentFields | None = None
    session_hash: str | None = None
    part: int | None = None
    tool_calls_omitted: int | None = None
    omitted_failure: bool | None = None
    omitted_error: str | None = None
    unknown: str | None = None
    undated: bool | None = None
    origin: str | None = None
    tools_version: str | None = None
    descriptions: str | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    cost_usd: float | None = None
    case: Sequence[str] | None = None


class RecordFields(CountedFields, gc=False, kw_only=True):
    """Any record; see `CountedFields`. Its model may be any JSON."""

    ts: str
    model: msgspec.Raw = msgspec.Raw()
    tool_calls: list[CallFields | Name] | None = None


class _PlainCall(CallFields, gc=False):
    args: dict[str, msgspec.Raw] | None = None
    error: str | None = None
    extreme_flags: tuple[()] | None = None


class _NoVerdict(JudgmentFields, gc=False):
    verdict: None = None


class PlainRecord(CountedFields, gc=False, kw_only=True):
    """The usual record: its outcome depends only on its error, its calls and the length of its answer.

    Fewer types decode in half the time. `decode_line` reads the same fields from the same line.
    """

    schema_version: Literal[1, 2] = 1
    ts: Timestamp
    model: str | None = None
    tool_calls: list[_PlainCall] | None = None
    override_calls: tuple[()] | None = None
    error: str | None = None
    violation: None = None
    judgment: _NoVerdict | None = None
    part: None = None
    tool_calls_omitted: None = None
    omitted_failure: None = None
    omitted_error: None = None
    unknown: None = None
    origin: None = None


def cut_name(name: str) -> str:
    """A name of at most `MAX_NAME_CHARS` letters."""
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"


def _selector(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a number beyond all bounds, bytes
        return ()


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
# Raised by `decode_plain` for lines that `decode_line` must read.
NOT_PLAIN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode_record = msgspec.json.Decoder(RecordFields).decode


def raw_lines(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """Read a day file request by request; see `join_parts`.

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
    return join_parts(lines_of(path, start=start, end=end))


def lines_of(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """Read a day file's lines, those of a long request one by one; parameters as of `raw_lines`."""
    with path.open("rb", buffering=1 << 20) as file:
        yield from _lines(file, start, end)


def read_request(file: BinaryIO, offset: int) -> bytes:
    """The line, or the lines, of the request at a place; empty where the file has ended."""
    return next((raw for _, raw in join_parts(_lines(file, offset))), b"")


def _lines(file: BinaryIO, offset: int, end: int | None = None) -> Iterator[Line]:
    file.seek(offset)
    for line in file:
        raw = line if end is None else line[: max(0, end - offset)]
        if not raw:  # a line that was shorter, or not there, when ``end`` was read
            return
        content = raw if offset else raw.removeprefix(BYTE_ORDER_MARK)
        if content and not content.isspace():
            yield offset, content
        offset += len(raw)


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
        ``ts is no valid time``, ``replay``, ``schema version is newer than 2: upgrade coreloop`` and
        ``part of a request whose first line is missing``.
        Any other malformed field is converted if its meaning is clear, else read as absent.
    """
    absent: Sequence[str] = ()
    try:
        fields = _decode_record(raw)
        timestamp = _time_of(fields.ts)
    except UnicodeDecodeError:
        return Skipped(NOT_UTF8, offset)
    except (msgspec.DecodeError, RecursionError):
        loosened = _loosened(raw)
        if isinstance(loosened, str):
            return Skipped(loosened, offset)
        fields, timestamp, absent = loosened
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(f"schema version is newer than {SCHEMA_VERSION}: upgrade coreloop", offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    ts_us = None if timestamp is None else microseconds(timestamp)
    if ts_us is None:
        return Skipped(NO_TIME, offset)
    if fields.part:
        return Skipped(NO_FIRST_LINE, offset)
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


def _loosened(raw: bytes) -> tuple[RecordFields, datetime | None, tuple[str, ...]] | str:
    """As much of a line as possible, its time, and what is absent from it; or why to skip it."""
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
    timestamp = _time_of(value.get("ts"))
    if timestamp is None:
        return "ts is missing" if value.get("ts") is None else NO_TIME
    absent: _Absent = {}
    return _lenient(RecordFields, {**value, "ts": timestamp.isoformat()}, absent), timestamp, tuple(absent)


def _time_of(value: object) -> datetime | None:
    """A time in ISO 8601; UTC if it has no zone."""
    if not isinstance(value, str):
        return None
    with suppress(msgspec.ValidationError):  # same rounding as for a plain record
        exact: datetime = msgspec.convert(value, Timestamp)
        return exact
    with suppress(ValueError):
        timestamp = datetime.fromisoformat(value)
        return timestamp if timestamp.tzinfo is not None else timestamp.replace(tzinfo=UTC)
    return None


def _lenient(kind: type[_Fields], value: Mapping[str, Any], absent: _Absent) -> _Fields:
    """The fields of an object that are what their types want, or say so as text; the others are absent."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        given = value.get(field.name)
        if given in (None, [], {}):
            continue
        read = _ITEMS.get(field.name)
        try:
            if read is None:
                fields[field.name] = _decoded(field.type, given)
            elif isinstance(given, list):
                items = [read(item, absent) for item in given]
                fields[field.name] = [item for item in items if item is not None]
                absent |= {f"{field.name} entry": None} if None in items else {}
            else:
                absent[field.name] = None
        except (msgspec.ValidationError, ValueError):
            absent[field.name] = None
    return kind(**fields)


def _decoded(kind: Any, given: Any) -> Any:
    value = msgspec.json.decode(json.dumps(given), type=kind, strict=False)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError
    return value


def _call(value: Any, absent: _Absent) -> CallFields | None:
    about = {"name": value} if isinstance(value, str) else value
    name = about.get("name") if isinstance(about, dict) else None
    return _lenient(CallFields, {**about, "name": cut_name(name)}, absent) if isinstance(name, str) else None


def _override(value: Any, absent: _Absent) -> OverrideFields | None:
    """Every override that is an object, even without a tool."""
    if not isinstance(value, dict):
        return None
    tool = value.get("tool")
    return _lenient(OverrideFields, {**value, "tool": tool if isinstance(tool, str) else ""}, absent)


_ITEMS: Final = {"tool_calls": _call, "override_calls": _override}
