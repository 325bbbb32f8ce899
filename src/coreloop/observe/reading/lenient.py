"""Lenient reading of a line that is not a well-formed record: fields are converted, or read as absent.

The converted object is decoded as any other record, so nothing here needs to be fast.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any, Final, TypeAlias

import msgspec

from coreloop.base.records import SCHEMA_VERSION
from coreloop.observe.reading.fields import Timestamp, cut_name

NOT_UTF8: Final = "not UTF-8"
NO_TIME: Final = "ts is no valid time"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SINCE_EPOCH: Final = re.compile(r"\d{9,}(?:\.\d+)?", re.ASCII)  # eight digits are a day: 20260425
_MIN_S: Final = 1e8  # March 1973: a smaller number is no time
_MIN_MS: Final = 1e11  # as milliseconds March 1973, as seconds the year 5138
_END_MS: Final = 2.6e14  # later than the year 9999
_MAX_VERSION: Final = 20
_WORDS: Final[Mapping[object, bool]] = {
    **dict.fromkeys((1, "1", "true", "yes", "ok", "success", "succeeded"), True),
    **dict.fromkeys((0, "0", "false", "no", "error", "failure", "failed"), False),
}
_Absent: TypeAlias = dict[str, None]
"""Names of fields with an unusable value, each once."""


def loosened(raw: bytes) -> tuple[bytes, tuple[str, ...]] | str:
    """Return as much of a line as possible as a well-formed record, and the fields that are absent from it.

    Returns
    -------
    tuple, or str
        A reason of `coreloop.observe.reading.decode.decode_line` to skip the line.
    """
    text = raw.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))  # no surrogates
    except (ValueError, RecursionError):
        return "torn or not JSON"
    if text.encode() != raw:
        return NOT_UTF8
    if not isinstance(value, dict):
        return "not a record"
    version = _number(value.get("schema_version"))
    if version is not None and version > SCHEMA_VERSION:
        return newer_version(version)
    timestamp = time_of(value.get("ts"))
    if timestamp is None:
        return "ts is missing" if value.get("ts") is None else NO_TIME
    absent: _Absent = {}
    if isinstance(value.get("judgment"), dict):
        value["judgment"] = _converted(value["judgment"], {"verdict": _text}, absent)
    record = _converted(value, _RECORD, absent)
    record |= {"ts": timestamp.isoformat(), "schema_version": int(version or 1)}
    record["tool_calls"] = _items(value, "tool_calls", _call, absent)
    record["override_calls"] = _items(value, "override_calls", _override, absent)
    return json.dumps(record, ensure_ascii=False).encode(), tuple(absent)


def newer_version(version: float) -> str:
    """The reason to skip a line of a newer version, whose fields may have another meaning.

    All implausible versions share one reason, so that a log cannot create reasons without limit.
    """
    known = version <= _MAX_VERSION and version == int(version)
    named = f"{version:.0f}" if known else "of no known kind"
    return f"schema version {named} is newer than {SCHEMA_VERSION}: upgrade coreloop"


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


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _converted(
    value: Mapping[str, Any], fields: Mapping[str, Callable[[Any], Any]], absent: _Absent
) -> dict[str, Any]:
    """The converted fields of an object; null and empty values are absent, but not unusable."""
    converted = {}
    for name, convert in fields.items():
        given = value.get(name)
        if given is None or given in ([], {}) or (given == "" and convert is not _text):
            continue
        converted[name] = convert(given)
        if converted[name] is None:
            absent[name] = None
    return converted


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
    if isinstance(value, str):
        return cut_name(value)
    absent_in_call: _Absent = {}
    call = _converted(value, _CALL, absent_in_call) if isinstance(value, dict) else {}
    if call.get("name") is None:
        return None
    absent.update(absent_in_call)
    return {**call, "name": cut_name(call["name"])}


def _override(value: Any, absent: _Absent) -> Any:
    """Every override that is an object, even without a tool."""
    if not isinstance(value, dict):
        return None
    override = _converted(value, {"tool": _text, "succeeded": _yes_or_no}, absent)
    return {"tool": override.get("tool") or "", "succeeded": override.get("succeeded") is not False}


def _judgment(value: Any) -> Any:
    """An object with a verdict, or the verdict alone."""
    return value if isinstance(value, dict) else {"verdict": value} if isinstance(value, str) else None


def _unchanged(value: Any) -> Any:
    return value


def _args(value: Any) -> Any:
    return None if isinstance(value, bool) else value


def _text(value: Any) -> str | None:
    """A text, a number, or the joined parts of a text: ``["a", {"type": "text", "text": "b"}]``."""
    if isinstance(value, bool) or value is None:
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
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_list else None


def _names(value: Any) -> list[str] | None:
    """The keys of an object, the items of a list, a single text; ``true`` stands for an unnamed item."""
    if isinstance(value, list | dict):
        return [str(item) for item in value if item is not None and item is not False]
    if isinstance(value, bool):
        return ["true"] if value else []
    return [value] if isinstance(value, str) else None


def _flags(value: Any) -> list[str] | None:
    """`_names` without the keys that an object sets to false or null: flags that were not raised."""
    if isinstance(value, dict):
        return [name for name, raised in value.items() if raised is not None and raised is not False]
    return _names(value)


_RECORD: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("request_id", "question", "question_hash", "category_hash", "provider"), _text),
    **dict.fromkeys(("tool_sequence_hash", "session_hash", "omitted_error", "unknown", "origin"), _text),
    **dict.fromkeys(("tools_version", "descriptions"), _text),
    **dict.fromkeys(("rounds", "chunk_len", "duration_total_ms", "input_tokens", "output_tokens"), _number),
    **dict.fromkeys(("model", "error", "violation"), _unchanged),
    **dict.fromkeys(("cost_usd", "schema_version"), _number),
    "judgment": _judgment,
    "tool_calls_omitted": _integer,
    "omitted_failure": _yes_or_no,
    "case": _texts,
}
_CALL: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("name", "unknown"), _text),
    **dict.fromkeys(("error", "args_from", "saw"), _unchanged),
    **dict.fromkeys(("duration_ms", "result_size_bytes"), _number),
    "args": _args,
    "ok": _yes_or_no,
    "overrides_used": _names,
    "extreme_flags": _flags,
}
