"""Argument values as facts hold them: a 32-bit hash to compare them by, and the bucket of a number."""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import orjson
import polars as pl

from coreloop.base.encoding import ELIDED

_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EDGES: Final = tuple(step * 10.0**power for power in range(-3, 13) for step in _STEPS)
"""Upper ends of the buckets of positive numbers, ten per decade; bucket 0 holds numbers up to 0.001."""
UNKNOWN: Final = 0
"""Stands for a value that was too long to be recorded."""
EMPTY: Final = 1
"""Stands for an empty text, list or object; a null is an absent value."""
_PLAIN: Final = r'^(?:"[^"\\\x00-\x1f]*"|0|-?[1-9][0-9]{0,14}|true|false)$'
"""JSON that is its own text: ``"a b"``, ``-20``, ``true``; not ``"a\\n"``, ``1.0``, ``[1]``, ``null``."""


def texts_by_hash(texts: Iterable[str]) -> dict[int, str]:
    """Texts by their hash as a value."""
    texts = list(texts)
    normal = pl.Series([_stripped(text) for text in texts], dtype=pl.String)
    return dict(zip(pl.select(_hash(pl.lit(normal))).to_series().to_list(), texts, strict=True))


def read_values(raws: Sequence[Any]) -> pl.DataFrame:
    """The ``value`` and the ``bucket`` of each argument, given as JSON without line ends.

    The same text, number or boolean has the same value, however it is written; null stays null. polars reads
    the usual values, Python the others, each once.
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
    return (
        raw.to_frame().join(distinct, on="raw", how="left", maintain_order="left").select("value", "bucket")
    )


def _read_distinct(raw: pl.Series) -> pl.DataFrame:
    """The ``value`` and the ``bucket`` of each ``raw``."""
    rows = raw.to_frame().with_columns(is_plain=raw.str.contains(_PLAIN))
    others = rows.filter(~pl.col("is_plain"))["raw"]
    schema = {"text": pl.String, "other_bucket": pl.Int16, "kind": pl.UInt32}
    slow = pl.DataFrame([_read(text) for text in others], schema=schema, orient="row")
    rows = rows.join(slow.with_columns(raw=others), on="raw", how="left")
    return rows.with_columns(_text_of_plain(), _bucket_of_plain(rows)).select(
        "raw", value=_value(), bucket=pl.coalesce("bucket", "other_bucket")
    )


def _text_of_plain() -> pl.Expr:
    """The text of a plain value: of a quoted one in NFC and trimmed."""
    raw = pl.col("raw")
    text = raw.str.strip_chars('"').str.normalize("NFC").str.strip_chars()
    return pl.when(pl.col("is_plain")).then(text).otherwise(pl.col("text")).alias("text")


def _bucket_of_plain(rows: pl.DataFrame) -> pl.Series:
    """The buckets of whole numbers, each distinct one looked up once."""
    number = pl.when("is_plain").then(pl.col("raw").cast(pl.Int64, strict=False))
    numbers = rows.select(number.alias("number"))["number"]
    distinct = numbers.unique().drop_nulls()
    if distinct.is_empty():
        return pl.Series("bucket", [None] * rows.height, dtype=pl.Int16)
    buckets = pl.Series([bucket_of(found) for found in distinct], dtype=pl.Int16)
    return numbers.replace_strict(distinct, buckets, default=None, return_dtype=pl.Int16).alias("bucket")


def _value() -> pl.Expr:
    """The hash of a text, or what stands for an empty or unknown value; null for null."""
    of_plain = pl.col("raw").replace_strict(
        ['""', f'"{ELIDED}"'], [EMPTY, UNKNOWN], default=None, return_dtype=pl.UInt32
    )
    marked = pl.coalesce("kind", of_plain)
    return pl.coalesce(marked, pl.when(pl.col("text").is_not_null()).then(_hash(pl.col("text"))))


def _hash(texts: pl.Expr) -> pl.Expr:
    """32 bits above those that `UNKNOWN` and `EMPTY` take; equal only within one version of polars."""
    return ((texts.hash() % ((1 << 32) - 2)) + 2).cast(pl.UInt32)


def _decodable(raw: Any) -> str:
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        return orjson.dumps(ELIDED).decode()


def _read(raw: str) -> tuple[str | None, int | None, int | None]:
    """The text of a value, its bucket if it is a number, and what stands for it instead of a hash."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None, None, UNKNOWN
    if value is None:
        return None, None, None
    if value in ("", [], {}):
        return None, None, EMPTY
    if type(value) is str:
        return (None, None, UNKNOWN) if value == ELIDED else (_stripped(value), None, None)
    if type(value) is int or type(value) is float:
        whole = int(value) if type(value) is float and value.is_integer() else value
        return str(whole), bucket_of(value), None
    if type(value) is bool:
        return ("true" if value else "false"), None, None
    return msgspec.json.encode(value, order="sorted").decode(), None, None


def _stripped(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().encode("utf-8", "replace").decode()


def bucket_of(number: float) -> int:
    """The logarithmic bucket of a number, see `EDGES`; negative for negative numbers."""
    return bisect_left(EDGES, number) if number >= 0 else -1 - bisect_left(EDGES, -number)
