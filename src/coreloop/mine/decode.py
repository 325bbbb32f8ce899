"""One JSONL line -> the fields that mining needs; one file -> its lines, read or skipped for a reason."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal

import msgspec

from coreloop.mine.remote import LogFile
from coreloop.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_Moment = Annotated[datetime, msgspec.Meta(tz=True)]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US: Final = (date.min - date(1970, 1, 1)).days * 86_400_000_000
_BEHIND_US: Final = ((date.max - date(1970, 1, 1)).days + 1) * 86_400_000_000


class CallFields(msgspec.Struct, gc=False):
    """A tool call; only the selectors among the argument values are decoded, later."""

    name: str
    args: dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None = None
    ok: bool | None = None
    error: Any = None
    duration_ms: float | None = None
    overrides_used: list[str] | None = None
    extreme_flags: Sequence[str] | None = None

    def selected(self, selectors: Sequence[str]) -> dict[str, Any]:
        """The values of the selector arguments that the call has."""
        args = self.args if isinstance(self.args, dict) else {}
        return {key: _selector(args[key]) for key in selectors if key in args}


class OverrideFields(msgspec.Struct, gc=False):
    """An override of a tool's assumption."""

    tool: str
    succeeded: bool = True


class JudgmentFields(msgspec.Struct, gc=False):
    """A verdict that stands in the record itself."""

    verdict: str | None = None


class CountedFields(msgspec.Struct, gc=False, kw_only=True):
    """What is read of a record of version 1 or 2, in the order of its fields, which saves looking for them.

    What may be absent in version 1 has a default.
    """

    schema_version: int = 1
    ts: str | datetime
    request_id: str | None = None
    question: str | None = None
    question_hash: str | None = None
    category_hash: str | None = None
    provider: str | None = None
    tool_calls: Sequence[CallFields | str] | None
    tool_sequence_hash: str | None = None
    override_calls: Sequence[OverrideFields] | None = None
    chunk_len: float | None = None
    error: Any = None
    violation: Any = None
    judgment: JudgmentFields | None = None
    session_hash: str | None = None
    tool_calls_omitted: int | None = None
    omitted_failure: bool | None = None
    omitted_error: str | None = None
    origin: str | None = None


class RecordFields(CountedFields, gc=False, kw_only=True):
    """Any record; see `CountedFields`."""

    ts: str
    tool_calls: list[CallFields | str] | None


class _PlainCall(CallFields, gc=False):
    args: dict[str, msgspec.Raw] | None = None
    error: str | None = None
    extreme_flags: tuple[()] | None = None


class _NoVerdict(JudgmentFields, gc=False):
    verdict: None = None


class PlainRecord(CountedFields, gc=False, kw_only=True):
    """A record as the collector writes nearly all: just its error, calls and length of answer speak of it.

    So few types to tell apart take half the time. All that is read as one is read by `decode_line` alike.
    """

    schema_version: Literal[1, 2] = 1
    ts: _Moment
    tool_calls: list[_PlainCall] | None
    override_calls: tuple[()] | None = None
    error: str | None = None
    violation: None = None
    judgment: _NoVerdict | None = None
    tool_calls_omitted: None = None
    omitted_failure: None = None
    omitted_error: None = None
    origin: None = None


class VersionField(msgspec.Struct, gc=False):
    """All that is read of a line that is no known record."""

    schema_version: Any = None


class RecordLine(msgspec.Struct, gc=False):  # a dataclass would cost as much as a third of the decoding
    """A readable record and where it stands: byte offset of its line, microseconds since 1970."""

    fields: RecordFields
    calls: Sequence[CallFields]
    offset: int
    ts_us: int


class Skipped(msgspec.Struct, gc=False):
    """A line that is not mined, and why."""

    reason: str
    offset: int


decode_plain = msgspec.json.Decoder(PlainRecord).decode
NOT_PLAIN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `decode_plain` raises where `decode_line` must look."""
_decode_record = msgspec.json.Decoder(RecordFields).decode
_decode_version = msgspec.json.Decoder(VersionField).decode


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
        Reasons are ``torn or not JSON``, ``not UTF-8``, ``not a record``, ``no valid time``, ``replay`` and
        ``schema version N is newer than 2``.
    """
    try:
        fields = _decode_record(raw)
    except UnicodeDecodeError:
        return Skipped("not UTF-8", offset)
    except (msgspec.DecodeError, RecursionError):
        return Skipped(_why_unreadable(raw), offset)
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(_newer(fields.schema_version), offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    moment = _moment(fields.ts)
    ts_us = None if moment is None else microseconds(moment)
    if ts_us is None:
        return Skipped("no valid time", offset)
    calls = [CallFields(one) if isinstance(one, str) else one for one in fields.tool_calls or ()]
    return RecordLine(fields, calls, offset, ts_us)


def microseconds(moment: datetime) -> int | None:
    """Microseconds since 1970; None for one that is not of the years 1 to 9999 in UTC."""
    passed = moment - _EPOCH
    ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
    return ts_us if _FIRST_US <= ts_us < _BEHIND_US else None


def call_step(call: CallFields, selectors: Mapping[str, Sequence[str]]) -> str:
    """The step of a call that was read from JSON; ``selectors`` only of the tools that have their own."""
    chosen = selectors.get(call.name, DEFAULT_SELECTORS)
    return step(call.name, call.selected(chosen), chosen)


def _selector(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):  # a lone surrogate, a number beyond all bounds
        return ()


def _why_unreadable(raw: bytes) -> str:
    """A newer version may have other types, so its number is looked at before the line is called foreign."""
    try:
        version = _decode_version(raw).schema_version
    except msgspec.ValidationError:
        return "not a record"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "torn or not JSON"
    return _newer(version) if isinstance(version, int) and version > SCHEMA_VERSION else "not a record"


def _newer(version: int) -> str:
    return f"schema version {version} is newer than {SCHEMA_VERSION}: upgrade coreloop"


def _moment(text: str) -> datetime | None:
    """A time in any form of ISO 8601; one without a zone is UTC."""
    with suppress(msgspec.ValidationError):  # to the same microsecond as a plain record's
        exact: datetime = msgspec.convert(text, _Moment)
        return exact
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    except ValueError:
        return None
