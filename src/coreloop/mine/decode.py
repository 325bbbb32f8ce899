"""One JSONL line -> the fields that mining needs; one file -> its lines, read or skipped for a reason."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.records import DEFAULT_SELECTORS, SCHEMA_VERSION, step

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class CallFields(msgspec.Struct, gc=False):
    """A tool call; only the selectors among the argument values are decoded, later."""

    name: str
    args: dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None = None
    ok: bool | None = None
    error: Any = None
    overrides_used: list[str] | None = None
    extreme_flags: list[str] | None = None
    duration_ms: float | None = None

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


class RecordFields(msgspec.Struct, gc=False):
    """A record of version 1 or 2. What may be absent in version 1 has a default."""

    ts: str
    tool_calls: list[CallFields | str] | None
    schema_version: int = 1
    request_id: str | None = None
    question: str | None = None
    question_hash: str | None = None
    category_hash: str | None = None
    provider: str | None = None
    tool_sequence_hash: str | None = None
    tool_calls_omitted: int | None = None
    omitted_failure: bool | None = None
    omitted_error: str | None = None
    override_calls: list[OverrideFields] | None = None
    chunk_len: float | None = None
    error: Any = None
    violation: Any = None
    session_hash: str | None = None
    origin: str | None = None
    judgment: JudgmentFields | None = None


class _WholeCalls(RecordFields, gc=False):
    """A record whose calls are all objects, which nearly all are: a third less time goes into the calls."""

    tool_calls: list[CallFields] | None  # type: ignore[assignment]


class VersionField(msgspec.Struct, gc=False):
    """All that is read of a line that is no known record."""

    schema_version: Any = None


class Line(msgspec.Struct, gc=False):  # a dataclass would cost as much as a third of the decoding
    """A readable record and where it stands: byte offset of its line, microseconds since 1970."""

    fields: RecordFields
    calls: list[CallFields]
    offset: int
    ts_us: int


class Skipped(msgspec.Struct, gc=False):
    """A line that is not mined, and why."""

    reason: str
    offset: int


_decode_record = msgspec.json.Decoder(_WholeCalls).decode
_decode_version_1 = msgspec.json.Decoder(RecordFields).decode
_decode_version = msgspec.json.Decoder(VersionField).decode


def read_lines(
    path: Path, *, start: int = 0, end: int | None = None, replays: bool = False
) -> Iterator[Line | Skipped]:
    """Read a day file line by line, of any length.

    Parameters
    ----------
    path : Path
        JSONL; LF or CRLF, with or without a byte order mark.
    start, end : int, optional
        Bytes; where a line begins, and where reading ends. What was appended later is not read.
    replays : bool
        Read records of replays too; mining never does.

    Yields
    ------
    Line or Skipped
        Reasons are ``torn or not JSON``, ``not UTF-8``, ``not a record``, ``no valid time``, ``replay`` and
        ``schema version N is newer than 2``. Blank lines are nothing.
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
                yield decode_line(content, offset, replays=replays)
            offset += len(raw)


def decode_line(raw: bytes, offset: int = 0, *, replays: bool = False) -> Line | Skipped:
    """Decode one line, or say why it is skipped."""
    try:
        fields, calls = _decode(raw)
    except UnicodeDecodeError:
        return Skipped("not UTF-8", offset)
    except (msgspec.DecodeError, RecursionError):
        return Skipped(_why_unreadable(raw), offset)
    if fields.schema_version > SCHEMA_VERSION:
        return Skipped(_newer(fields.schema_version), offset)
    if fields.origin == "replay" and not replays:
        return Skipped("replay", offset)
    ts_us = _microseconds(fields.ts)
    if ts_us is None:
        return Skipped("no valid time", offset)
    return Line(fields, calls, offset, ts_us)


def _decode(raw: bytes) -> tuple[RecordFields, list[CallFields]]:
    try:
        fields = _decode_record(raw)
    except msgspec.ValidationError:  # version 1 may name a tool and no more
        lenient = _decode_version_1(raw)
        calls = [CallFields(one) if isinstance(one, str) else one for one in lenient.tool_calls or ()]
        return lenient, calls
    return fields, fields.tool_calls or []


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


def _microseconds(text: str) -> int | None:
    """Microseconds since 1970; a time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not UTC:
            zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            moment = zoned.astimezone(UTC)  # beyond year 1 or 9999 in UTC: no day to count it for
    except (ValueError, OverflowError):
        return None
    passed = moment - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
