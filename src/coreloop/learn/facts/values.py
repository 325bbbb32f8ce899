"""Argument values as facts hold them: hashes to compare by, numbers, and the shapes of texts."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final

import msgspec
import orjson
import polars as pl

from coreloop.base.record_lines import ELIDED
from coreloop.observe.case_keys import identifiers

KINDS: Final = ("null", "empty", "unknown", "boolean", "number", "text", "list", "object")
"""Of a value. ``empty`` is an empty text, list or object; ``unknown`` was too long to be recorded."""
LETTERS: Final = ("lower", "upper", "mixed")
_FORMS: Final[Mapping[str, str]] = {
    "date": r"^\d{4}-\d\d-\d\d$",
    "time": r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d",
    "other date": r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\.?$",
    "whole": r"^[+-]?\d+$",
    "decimal": r"^[+-]?\d*[.,]\d[\d.,]*$",
    "uuid": r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$",
    "e-mail": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "address": r"^[a-zA-Z][a-zA-Z0-9+.-]*://\S*$",
    "absolute path": r"^(?:~?[/\\]|[A-Za-z]:[/\\])\S*$",
    "relative path": r"^[^\s@]*[/\\]\S*$",
    "prefixed": r"^[^\d\s]{1,12}\d[\w-]*$",
    "identifier": r"^[^\s@]*\d[^\s@]*$",
}
"""Shapes of texts with a digit, @, / or backslash; the first that matches counts."""
SHAPES: Final = (*_FORMS, "null word", "word", "text")
"""Of texts; numbers are ``whole`` or ``decimal``. A ``word`` has no space, a ``text`` has."""
_NULL_WORDS: Final = ("null", "none", "nil", "undefined", "n/a", "nan", "-")
_PLAIN: Final = r'^(?:"[^"\\\x00-\x1f]+"|0|-?[1-9][0-9]{0,14}|true|false)$'
"""JSON that is its own text: ``"a b"``, ``-20``, ``true``; not ``""``, ``"a\\n"``, ``1.0``, ``[1]``."""
_SLOW: Final[Mapping[str, Any]] = {
    "read_text": pl.String,
    "read_kind": pl.String,
    "read_number": pl.Float64,
    "read_length": pl.UInt32,
}
_COLUMNS: Final = ("kind", "value", "number", "shape", "letters", "length", "prefix")
_ELIDED_JSON: Final = orjson.dumps(ELIDED).decode()
_TRUNCATED: Final = {"truncated", "size", "preview"}


def texts_by_hash(texts: Iterable[str]) -> dict[int, str]:
    """Texts by their hash as a value."""
    texts = list(texts)
    normal = pl.Series([_stripped(text) for text in texts], dtype=pl.String)
    return dict(zip(pl.select(_hash(pl.lit(normal))).to_series().to_list(), texts, strict=True))


def read_values(raws: Sequence[Any], *, case_key: bytes | None = None) -> pl.DataFrame:
    """The columns of `coreloop.learn.facts.schema.ARGUMENTS` that depend on the value alone.

    Parameters
    ----------
    raws : sequence of msgspec.Raw
        A value each, as JSON without line ends. polars reads the usual values, Python the others, each once.
    case_key : bytes, optional
        Adds ``identifiers``: hashes of the value's identifiers with this key.

    Returns
    -------
    polars.DataFrame
        A row per value. The same text, number or boolean has the same ``value``, however it is written.
    """
    joined = b"\n".join(raws)
    try:
        text = joined.decode()
    except UnicodeDecodeError:
        text = "\n".join(map(_decodable, raws))
    # one text that Rust splits: a Python string for each value would take three times the time
    raw = (
        pl.Series("raw", [text]).str.split("\n").explode() if raws else pl.Series("raw", [], dtype=pl.String)
    )
    if raw.len() != len(raws):  # JSON that was written with line ends
        raw = pl.Series("raw", [_decodable(value).replace("\n", " ").replace("\r", " ") for value in raws])
    distinct = _read_distinct(raw.unique())
    if case_key is not None:
        distinct = distinct.with_columns(_identifiers(distinct["raw"], case_key))
    return raw.to_frame().join(distinct, on="raw", how="left", maintain_order="left").drop("raw")


def _read_distinct(raw: pl.Series) -> pl.DataFrame:
    """`_COLUMNS` of each ``raw``."""
    rows = raw.to_frame().with_columns(is_plain=raw.str.contains(_PLAIN) & (raw != _ELIDED_JSON))
    others = rows.filter(~pl.col("is_plain"))["raw"]
    slow = pl.DataFrame([_read(text) for text in others], schema=_SLOW, orient="row")
    rows = rows.join(slow.with_columns(raw=others), on="raw", how="left")
    rows = rows.with_columns(_text(), _kind())
    is_text = pl.col("kind") == "text"
    rows = rows.with_columns(shape=pl.when(is_text).then(_shape()), number=_number())
    return rows.with_columns(
        value=pl.when(~pl.col("kind").is_in(["null", "empty", "unknown"])).then(_hash(pl.col("text"))),
        number=pl.coalesce("number", _seconds()),
        shape=pl.coalesce("shape", _shape_of_number()).cast(pl.Enum(SHAPES)),
        letters=pl.when(is_text).then(_letters()).cast(pl.Enum(LETTERS)),
        length=pl.coalesce("read_length", pl.when(is_text).then(pl.col("text").str.len_chars())),
        prefix=pl.when(pl.col("shape") == "prefixed").then(_hash(pl.col("text").str.extract(r"^(\D+)"))),
        kind=pl.col("kind").cast(pl.Enum(KINDS)),
    ).select("raw", *_COLUMNS)


def _text() -> pl.Expr:
    """The text of a value: of a quoted one in NFC and trimmed."""
    raw = pl.col("raw")
    text = raw.str.strip_chars('"').str.normalize("NFC").str.strip_chars()
    return pl.when("is_plain").then(text).otherwise(pl.col("read_text")).alias("text")


def _kind() -> pl.Expr:
    raw = pl.col("raw")
    of_plain = (
        pl.when(raw.str.starts_with('"'))
        .then(pl.lit("text"))
        .when(raw.is_in(["true", "false"]))
        .then(pl.lit("boolean"))
        .otherwise(pl.lit("number"))
    )
    return pl.when("is_plain").then(of_plain).otherwise(pl.col("read_kind")).alias("kind")


def _number() -> pl.Expr:
    of_plain = pl.when(pl.col("kind") == "number").then(pl.col("raw").cast(pl.Float64, strict=False))
    return pl.coalesce("read_number", of_plain)


def _shape() -> pl.Expr:
    """The shape of a text; only those with certain characters are compared with `_FORMS`."""
    text = pl.col("text")
    is_null_word = text.str.to_lowercase().is_in(_NULL_WORDS)
    plain = pl.when(is_null_word).then(pl.lit("null word")).when(text.str.contains(r"\s"))
    shape = plain.then(pl.lit("text")).otherwise(pl.lit("word"))
    structured = pl.when(text.str.contains(r"[\d@/\\]")).then(text)  # a regex passes over null
    for name, form in reversed(list(_FORMS.items())):
        shape = pl.when(structured.str.contains(form)).then(pl.lit(name)).otherwise(shape)
    return shape


def _shape_of_number() -> pl.Expr:
    whole = pl.when(pl.col("number") % 1 == 0).then(pl.lit("whole")).otherwise(pl.lit("decimal"))
    return pl.when(pl.col("kind") == "number").then(whole)


def _seconds() -> pl.Expr:
    """Seconds since 1970 of a date or time, whose offset is ignored: it says which of two is later."""
    text = pl.when(pl.col("shape").is_in(["date", "time"])).then(pl.col("text"))
    minute = text.str.slice(0, 16).str.replace("T", " ", literal=True) + pl.lit(" 00:00").str.slice(
        (text.str.len_chars() > 10) * 6
    )
    return minute.str.to_datetime("%Y-%m-%d %H:%M", strict=False).dt.epoch("s").cast(pl.Float64)


def _letters() -> pl.Expr:
    text = pl.col("text")
    has_lower, has_upper = text.str.contains("[a-z]"), text.str.contains("[A-Z]")
    return (
        pl.when(has_lower & has_upper)
        .then(pl.lit("mixed"))
        .when(has_lower)
        .then(pl.lit("lower"))
        .when(has_upper)
        .then(pl.lit("upper"))
    )


def _hash(texts: pl.Expr) -> pl.Expr:
    """32 bits; equal only within one version of polars."""
    return (texts.hash() % (1 << 32)).cast(pl.UInt32)


def _identifiers(raw: pl.Series, key: bytes) -> pl.Series:
    """Hashes of the identifiers in each value; most values cannot hold one."""
    may = raw.str.contains(r"\d") & (raw.str.len_bytes() >= 5)
    found = [
        [int(number, 16) for number in identifiers([_value(text)], key)] if candidate else []
        for text, candidate in zip(raw, may, strict=True)
    ]
    return pl.Series("identifiers", found, dtype=pl.List(pl.UInt32))


def _decodable(raw: Any) -> str:
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        return _ELIDED_JSON


def _value(raw: str) -> Any:
    """Decode a value; `ELIDED` if it cannot be decoded."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return ELIDED


def _read(raw: str) -> tuple[str | None, str, float | None, int | None]:
    """The values of `_SLOW` for a value that is not plain."""
    value = _value(raw)
    if value is None:
        return None, "null", None, None
    if value == ELIDED:
        return None, "unknown", None, None
    if value in ("", [], {}):
        return None, "empty", None, None
    if type(value) is str:
        return _stripped(value), "text", None, None
    if type(value) is bool:
        return ("true" if value else "false"), "boolean", None, None
    if type(value) is int or type(value) is float:
        whole = int(value) if type(value) is float and value.is_integer() else value
        return str(whole), "number", _float(value), None
    text = msgspec.json.encode(value, order="sorted").decode()
    if type(value) is dict and value.keys() == _TRUNCATED and type(value["size"]) is int:
        return text, "text", None, max(0, min(value["size"], (1 << 32) - 1))
    return text, "list" if type(value) is list else "object", None, len(value)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _stripped(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().encode("utf-8", "replace").decode()
