"""Argument values as facts hold them: hashes to compare by, numbers, and the shapes of texts."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.record_lines import ELIDED
from coreloop.learn.facts.schema import FORMS, KINDS, LETTERS, SHAPES, frame_of

_NULL_WORDS: Final = ("null", "none", "nil", "undefined", "n/a", "nan", "-")
_READ: Final[Mapping[str, Any]] = {
    "kind": pl.Enum(KINDS),
    "text": pl.String,
    "number": pl.Float64,
    "shape": pl.String,
    "length": pl.UInt32,
}
_COLUMNS: Final = ("kind", "value", "number", "shape", "letters", "length", "prefix")
_TRUNCATED: Final = {"truncated", "size", "preview"}


def texts_by_hash(texts: Iterable[str]) -> dict[int, str]:
    """Texts by their hash as a value."""
    texts = list(texts)
    normal = pl.Series([_stripped(text) for text in texts], dtype=pl.String)
    return dict(zip(pl.select(_hash(pl.lit(normal))).to_series().to_list(), texts, strict=True))


def read_values(raws: Iterable[bytes]) -> pl.DataFrame:
    """The columns of `coreloop.learn.facts.schema.ARGUMENTS` that depend on the value alone.

    Parameters
    ----------
    raws : iterable of bytes
        A value each, as JSON.

    Returns
    -------
    polars.DataFrame
        A row per value. The same text, number or boolean has the same ``value``, however it is written.
    """
    rows = frame_of([_read(raw) for raw in raws], _READ)
    is_text = pl.col("kind") == "text"
    rows = rows.with_columns(shape=pl.when(is_text).then(_shape()).otherwise("shape"))
    return rows.with_columns(
        value=pl.when(~pl.col("kind").is_in(["null", "empty", "unknown"])).then(_hash(pl.col("text"))),
        number=pl.coalesce("number", _seconds()),
        shape=pl.col("shape").cast(pl.Enum(SHAPES)),
        letters=pl.when(is_text).then(_letters()).cast(pl.Enum(LETTERS)),
        length=pl.coalesce("length", pl.when(is_text).then(pl.col("text").str.len_chars())),
        prefix=pl.when(pl.col("shape") == "prefixed").then(_hash(pl.col("text").str.extract(r"^(\D+)"))),
    ).select(_COLUMNS)


def _shape() -> pl.Expr:
    """The shape of a text; only those with certain characters are compared with `FORMS`."""
    text = pl.col("text")
    is_null_word = text.str.to_lowercase().is_in(_NULL_WORDS)
    plain = pl.when(is_null_word).then(pl.lit("null word")).when(text.str.contains(r"\s"))
    shape = plain.then(pl.lit("text")).otherwise(pl.lit("word"))
    structured = pl.when(text.str.contains(r"[\d@/\\]")).then(text)  # a regex passes over null
    for name, form in reversed(list(FORMS.items())):
        shape = pl.when(structured.str.contains(form)).then(pl.lit(name)).otherwise(shape)
    return shape


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


def _read(raw: bytes) -> tuple[str, str | None, float | None, str | None, int | None]:
    """The values of `_READ`."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = ELIDED
    if value == ELIDED:
        return "unknown", None, None, None, None
    if type(value) is bool:
        return "boolean", "true" if value else "false", None, None, None
    if type(value) is int or type(value) is float:
        text = str(int(value) if type(value) is float and value.is_integer() else value)
        return "number", text, float(text), "decimal" if value % 1 else "whole", None
    if not value:
        return "null" if value is None else "empty", None, None, None, None
    if type(value) is str:
        return "text", _stripped(value), None, None, None
    text = msgspec.json.encode(value, order="sorted").decode()
    if type(value) is dict and value.keys() == _TRUNCATED and type(value["size"]) is int:
        return "text", text, None, None, max(0, min(value["size"], (1 << 32) - 1))
    return "list" if type(value) is list else "object", text, None, None, len(value)


def _stripped(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().encode("utf-8", "replace").decode()
