"""Lenient reading of a JSON object that is not a well-formed record: fields are converted, or read as absent.

Only for lines that do not decode into `coreloop.observe.reading.fields`, so nothing here needs to be fast.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any, Final, TypeVar

import msgspec

from coreloop.base.records import SCHEMA_VERSION
from coreloop.observe.reading.fields import (
    CallFields,
    JudgmentFields,
    OverrideFields,
    RecordFields,
    Timestamp,
)

NOT_UTF8: Final = "not UTF-8"
NOT_JSON: Final = "torn or not JSON"
NO_RECORD: Final = "not a record"
NO_TS: Final = "ts is missing"
NO_TIME: Final = "ts is no valid time"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_Converted = TypeVar("_Converted")
_Raws = Mapping[str, msgspec.Raw]
_NUMBER: Final = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SINCE_EPOCH: Final = re.compile(r"\d{9,}(?:\.\d+)?", re.ASCII)  # eight digits are a day: 20260425
_MIN_S: Final = 1e8  # March 1973: a smaller number is no time
_MIN_MS: Final = 1e11  # as milliseconds March 1973, as seconds the year 5138
_END_MS: Final = 2.6e14  # later than the year 9999
_WORDS: Final[Mapping[object, bool]] = {
    **dict.fromkeys((1, "1", "true", "yes", "ok", "success", "succeeded"), True),
    **dict.fromkeys((0, "0", "false", "no", "error", "failure", "failed"), False),
}
_NULL: Final = msgspec.Raw(b"null")
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_call = msgspec.json.Decoder(CallFields | str).decode
_decode_args = msgspec.json.Decoder(
    dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None
).decode
_REFUSED: Final = (msgspec.DecodeError, RecursionError)


class LooseRecord(msgspec.Struct):
    """A record, its time, and the names of its fields that were read as absent."""

    fields: RecordFields
    at: datetime
    absent: tuple[str, ...]


def read_loosely(raw: bytes) -> LooseRecord | str:
    """Read as much of a line as possible, or give the reason to skip it.

    Parameters
    ----------
    raw : bytes
        The line.

    Returns
    -------
    LooseRecord or str
        The reasons are those of `coreloop.observe.reading.decode.decode_line`, except ``replay``.
    """
    try:
        raws = _decode_fields(raw)
        return raws if isinstance(raws, str) else _record(raws)
    except UnicodeDecodeError:
        return NOT_UTF8


_MAX_VERSION: Final = 20


def newer_version(version: float) -> str:
    """The reason to skip a line of a newer version, whose fields may have another meaning.

    All implausible versions share one reason, so that a log cannot create reasons without limit.
    """
    known = version <= _MAX_VERSION and version == int(version)
    named = f"{version:.0f}" if known else "of no known kind"
    reason = f"schema version {named} is newer than {SCHEMA_VERSION}: upgrade coreloop"
    return str(reason)  # a key of counts, in files too


def time_of(value: object) -> datetime | None:
    """A time in ISO 8601, or in seconds or milliseconds since 1970; UTC if it has no zone."""
    if isinstance(value, str):
        text = value.strip()
        return _since_epoch(float(text)) if _SINCE_EPOCH.fullmatch(text) else _iso_time(text)
    return _since_epoch(value) if isinstance(value, int | float) else None


def _since_epoch(number: float) -> datetime | None:
    if not _MIN_S <= number < _END_MS:
        return None
    passed = timedelta(seconds=number) if number < _MIN_MS else timedelta(milliseconds=number)
    with suppress(OverflowError):
        return EPOCH + passed
    return None


def _iso_time(text: str) -> datetime | None:
    with suppress(msgspec.ValidationError):  # same rounding as for a plain record
        exact: datetime = msgspec.convert(text, Timestamp)
        return exact
    try:
        timestamp = datetime.fromisoformat(text)
        return timestamp if timestamp.tzinfo is not None else timestamp.replace(tzinfo=UTC)
    except ValueError:
        return None


def _decode_fields(raw: bytes) -> dict[str, msgspec.Raw] | str:
    try:
        return _decode_object(raw)
    except msgspec.ValidationError:
        return NO_RECORD
    except _REFUSED:
        return _decode_python_json(raw)


def _decode_python_json(raw: bytes) -> dict[str, msgspec.Raw] | str:
    """Decode JSON that only Python accepts: NaN and Infinity become null, a lone surrogate ``?``."""
    try:
        value = json.loads(raw.decode(), parse_constant=lambda _: None, parse_float=_finite)
        return _decode_object(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except msgspec.ValidationError:
        return NO_RECORD
    except (ValueError, *_REFUSED):
        return NOT_JSON


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _record(raws: _Raws) -> LooseRecord | str:
    read = _Reader(raws)
    version = read.get("schema_version", _number)
    if version is not None and version > SCHEMA_VERSION:
        return newer_version(version)
    ts = read.value("ts")
    timestamp = time_of(ts)
    if timestamp is None:
        return NO_TS if ts is None else NO_TIME
    fields = RecordFields(
        schema_version=int(version or 1),
        ts=timestamp.isoformat(),
        request_id=read.get("request_id", _text),
        question=read.get("question", _text),
        question_hash=read.get("question_hash", _text),
        category_hash=read.get("category_hash", _text),
        provider=read.get("provider", _text),
        model=raws.get("model", msgspec.Raw()),
        tool_calls=_calls(read),
        tool_sequence_hash=read.get("tool_sequence_hash", _text),
        override_calls=_overrides(read),
        rounds=read.get("rounds", _number),
        chunk_len=read.get("chunk_len", _number),
        error=read.get("error", _unchanged),
        violation=read.get("violation", _unchanged),
        duration_total_ms=read.get("duration_total_ms", _number),
        judgment=_judgment(read),
        session_hash=read.get("session_hash", _text),
        tool_calls_omitted=read.get("tool_calls_omitted", _integer),
        omitted_failure=read.get("omitted_failure", _yes_or_no),
        omitted_error=read.get("omitted_error", _text),
        origin=read.get("origin", _text),
        tools_version=read.get("tools_version", _text),
        descriptions=read.get("descriptions", _text),
        input_tokens=read.get("input_tokens", _number),
        output_tokens=read.get("output_tokens", _number),
        cost_usd=read.get("cost_usd", _number),
        case=read.get("case", _texts),
    )
    return LooseRecord(fields, timestamp, tuple(read.absent))


class _Reader:
    """The fields of an object; ``absent`` collects the names of the fields with an unusable value."""

    def __init__(self, raws: _Raws, absent: dict[str, None] | None = None) -> None:
        self._raws = raws
        self.absent: dict[str, None] = {} if absent is None else absent

    def raw(self, name: str) -> msgspec.Raw:
        return self._raws.get(name, _NULL)

    def value(self, name: str) -> Any:
        """The decoded value, or None if absent, null or unusable."""
        try:
            return _value(self.raw(name))
        except (ValueError, *_REFUSED) as error:
            if isinstance(error, UnicodeDecodeError):
                raise
            self.absent[name] = None
            return None

    def get(self, name: str, convert: Callable[[Any], _Converted | None]) -> _Converted | None:
        """The converted value; null and empty values are absent, but not unusable."""
        value = self.value(name)
        if value is None or value in ([], {}) or (value == "" and convert is not _text):
            return None
        converted = convert(value)
        if converted is None:
            self.absent[name] = None
        return converted

    def items(self, name: str) -> list[msgspec.Raw] | None:
        """The items of a list, or a single object or text as the only item, or None."""
        raw = self.raw(name)
        with suppress(msgspec.ValidationError):
            return _decode_array(raw)
        value = self.value(name)
        if isinstance(value, str | dict):
            return [raw] if value else []
        if value is not None:
            self.absent[name] = None
        return None


def _value(raw: msgspec.Raw) -> Any:
    """Decode any JSON, including integers beyond 64 bits, which msgspec rejects."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.ValidationError:
        return json.loads(bytes(raw), parse_float=_finite)


def _calls(read: _Reader) -> list[CallFields | str] | None:
    items = read.items("tool_calls")
    if items is None:
        return None
    calls = [_call(item, read.absent) for item in items]
    if None in calls:
        read.absent["tool_calls entry"] = None
    return [call for call in calls if call is not None]


def _call(raw: msgspec.Raw, absent: dict[str, None]) -> CallFields | str | None:
    with suppress(*_REFUSED):
        well_formed: CallFields | str = _decode_call(raw)
        return well_formed
    raws = _object_or_none(raw)
    if raws is None:
        return None
    absent_in_call: dict[str, None] = {}
    read = _Reader(raws, absent_in_call)
    name = read.get("name", _text)
    if name is None:
        return None
    call = CallFields(
        name,
        args=_args(read),
        ok=read.get("ok", _yes_or_no),
        error=read.get("error", _unchanged),
        duration_ms=read.get("duration_ms", _number),
        result_size_bytes=read.get("result_size_bytes", _number),
        overrides_used=read.get("overrides_used", _names),
        extreme_flags=read.get("extreme_flags", _flags),
        args_from=raws.get("args_from", msgspec.Raw()),
        saw=raws.get("saw", msgspec.Raw()),
    )
    absent.update(absent_in_call)
    return call


def _args(read: _Reader) -> Any:
    try:
        return _decode_args(read.raw("args"))
    except _REFUSED:
        read.absent["args"] = None
        return None


def _overrides(read: _Reader) -> list[OverrideFields] | None:
    """Every override that is an object, even without a tool."""
    overrides = []
    for item in read.items("override_calls") or ():
        raws = _object_or_none(item)
        if raws is None:
            read.absent["override_calls entry"] = None
            continue
        override = _Reader(raws, read.absent)
        succeeded = override.get("succeeded", _yes_or_no)
        overrides.append(OverrideFields(override.get("tool", _text) or "", succeeded is not False))
    return overrides


def _judgment(read: _Reader) -> JudgmentFields | None:
    """An object with a verdict, or the verdict alone."""
    value = read.value("judgment")
    if isinstance(value, dict):
        raws = _object_or_none(read.raw("judgment")) or {}
        return JudgmentFields(_Reader(raws, read.absent).get("verdict", _text))
    verdict = read.get("judgment", lambda judgment: judgment if isinstance(judgment, str) else None)
    return None if verdict is None else JudgmentFields(verdict)


def _object_or_none(raw: msgspec.Raw) -> dict[str, msgspec.Raw] | None:
    with suppress(*_REFUSED):
        return _decode_object(raw)
    return None


def _unchanged(value: Any) -> Any:
    return value


def _text(value: Any) -> str | None:
    """A text, a number, or the joined parts of a text: ``["a", {"type": "text", "text": "b"}]``."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str | int | float):
        return str(value)
    parts = value if isinstance(value, list) else [value]
    contents = [part.get("text") if isinstance(part, dict) else part for part in parts]
    texts = [text for text in contents if isinstance(text, str)]
    return "\n".join(texts) if texts else None


def _number(value: Any) -> float | None:
    """A number, also written as text: ``"18"``."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with suppress(OverflowError):
        return float(value) if isfinite(value) else None
    return None


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _yes_or_no(value: Any) -> bool | None:
    """A boolean, also written as ``1`` or ``"yes"``; see `_WORDS`."""
    if isinstance(value, bool):
        return value
    return _WORDS.get(value.strip().lower() if isinstance(value, str) else _number(value))


def _texts(value: Any) -> list[str] | None:
    """A list of texts."""
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_list else None


def _names(value: Any) -> list[str] | None:
    """The keys of an object, the items of a list, a single text; ``true`` stands for an unnamed item."""
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        return [str(item) for item in value if item is not None and item is not False]
    if isinstance(value, bool):
        return ["true"] if value else []
    return [value] if isinstance(value, str) else None


def _flags(value: Any) -> list[str] | None:
    """`_names` without the keys that an object sets to false or null: flags that were not raised."""
    if isinstance(value, dict):
        return [name for name, raised in value.items() if raised is not None and raised is not False]
    return _names(value)
