"""The tables of facts, which are joined with those of other lines by plain concatenation.

Numbers stay numbers: what a setting decides (a complete answer's length, a verdict, a handover) is left to
the queries. No table holds an argument's value or a user's words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Final

import polars as pl

from coreloop.base.records import digest64, hash_question, hash_sequence

KINDS: Final = ("null", "empty", "unknown", "boolean", "number", "text", "list", "object")
"""Of a value. ``empty`` is an empty text, list or object; ``unknown`` was too long to be recorded."""
LETTERS: Final = ("lower", "upper", "mixed")
FORMS: Final[Mapping[str, str]] = {
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
SHAPES: Final = (*FORMS, "null word", "word", "text")
"""Of texts; numbers are ``whole`` or ``decimal``. A ``word`` has no space, a ``text`` has."""
DAY_US: Final = 86_400_000_000
_64_BITS: Final = (1 << 64) - 1
KEY: Final = ("file", "offset")
"""Names a request."""
REQUESTS: Final[Mapping[str, Any]] = {
    "file": pl.UInt32,  # number of its file
    "offset": pl.UInt64,  # bytes, of the line
    "ts_us": pl.Int64,  # microseconds since 1970
    "id": pl.UInt64,  # hash of its id; null: none recorded
    "session": pl.UInt64,  # 0: none recorded
    "question": pl.UInt64,
    "template": pl.UInt32,  # of the question without numbers, names of files, addresses, quoted parts
    "category": pl.String,
    "model": pl.String,
    "provider": pl.String,
    "pattern": pl.UInt64,  # of category and sequence
    "sequence": pl.UInt64,  # of the steps of the successful calls
    "shape": pl.UInt64,  # of these steps with their argument names; 0: calls were omitted
    "chunk_len": pl.Float64,  # characters of the answer
    "decided": pl.Int8,  # outcome by verdict, mark or error; null: the length of the answer decides
    "judged": pl.Boolean,  # whether the record holds a verdict
    "omitted": pl.UInt32,  # calls that did not fit on the line
    "signals": pl.UInt16,  # see `coreloop.observe.reading.outcome.signals`, without a short answer
    "case": pl.List(pl.UInt32),  # hashes of identifiers; null: see the package
    "tools_version": pl.String,  # this and all below: null: not recorded
    "descriptions": pl.String,
    "rounds": pl.UInt32,
    "undated": pl.Boolean,  # its time is that of the file in which it was
}
"""A row per record, in the order of the lines."""

CALLS: Final[Mapping[str, Any]] = {
    "file": pl.UInt32,  # this and the next two: of its request
    "offset": pl.UInt64,
    "ts_us": pl.Int64,
    "call": pl.UInt32,  # its place in the request, from 0
    "tool": pl.String,
    "shape": pl.UInt64,  # of its selectors and argument names
    "error_class": pl.String,  # empty: it did not fail
    "template": pl.UInt64,  # of its error; 0: it did not fail
    "unknown": pl.String,  # `coreloop.observe.reading.outcome.why_unknown`
    "retry": pl.Boolean,  # after a failed call of the same tool in its request
    "recovered": pl.Boolean,  # a later call of the same tool in its request worked; null: it did not fail
    "flagged": pl.Boolean,  # it reported an implausible value
    "overrides": pl.Boolean,  # the caller replaced assumptions of the tool
    "duration_us": pl.Int64,  # null: not recorded
    "result_bytes": pl.UInt64,  # null: not recorded
}
"""A row per call, in the order in which they happened."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    "file": pl.UInt32,  # this and the next two: of its call
    "offset": pl.UInt64,
    "call": pl.UInt32,
    "name": pl.String,
    "kind": pl.Enum(KINDS),
    "value": pl.UInt32,  # hash to compare by; null: absent, empty or too long to be recorded
    "number": pl.Float64,  # of a number; of a date the seconds since 1970, as written; else null
    "shape": pl.Enum(SHAPES),  # of numbers and texts, else null
    "letters": pl.Enum(LETTERS),  # of a text, from a to z; null: without such letters
    "length": pl.UInt32,  # characters of a text, items of a list, keys of an object; else null
    "prefix": pl.UInt32,  # hash of what stands before the digits of a prefixed text, else null
    "sources": pl.UInt64,  # of the earlier places of its value; null: not recorded
}
"""A row per argument of a call, in the order of the calls."""

SAW: Final[Mapping[str, Any]] = {
    "file": pl.UInt32,  # this and the next two: of the call
    "offset": pl.UInt64,
    "call": pl.UInt32,
    "argument": pl.String,
    "field": pl.String,
    "literal": pl.String,  # ``delivered``, ``true``, ``3``; null: seen with another value
}
"""A row per field of the object that an earlier result last showed for an argument's value."""

TEXTS: Final[Mapping[str, Any]] = {"kind": pl.String, "hash": pl.UInt64, "text": pl.String}
"""Texts by hash. Kinds: ``sequence`` (without omitted calls), ``shape`` (JSON of the steps with their
argument names), ``call`` (JSON of ``{"selectors", "arg_keys"}``), ``template`` (of an error), ``names`` (JSON
of a list of arguments), ``sources`` (JSON of a list of places, the nearest first)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of some lines."""

    requests: pl.LazyFrame
    calls: pl.LazyFrame
    arguments: pl.LazyFrame
    saw: pl.LazyFrame
    texts: pl.LazyFrame


NAMES: Final = tuple(field.name for field in fields(Facts))


def frame_of(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows, passed as columns: a third of the time that polars takes for rows."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def merge_facts(parts: Iterable[Facts]) -> Facts:
    """Join the facts of some lines, given in order; the result does not depend on how they were split."""
    empty = Facts(*(pl.LazyFrame(schema=schema) for schema in (REQUESTS, CALLS, ARGUMENTS, SAW, TEXTS)))
    parts = [empty, *parts]
    rows = Facts(*(pl.concat([getattr(part, name) for part in parts]) for name in NAMES))
    return replace(rows, texts=rows.texts.unique().sort("kind", "hash"))


def texts_of(texts: pl.LazyFrame, kind: str, hashes: Iterable[int]) -> dict[int, str]:
    """Texts of one kind by their hash; unknown hashes are left out."""
    wanted = pl.Series(sorted(set(hashes)), dtype=pl.UInt64)
    found = texts.filter(pl.col("kind") == kind, pl.col("hash").is_in(wanted.implode()))
    return dict(found.select("hash", "text").collect().iter_rows())


def typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    """The columns of a table; what is not of their types is null."""
    return [pl.col(name).cast(kind, strict=False) for name, kind in schema.items()]


# --- The hashes in these tables.


def as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; a hash in another notation is hashed again."""
    try:
        digits = int(recorded[-16:], 16) if recorded[-17:-16] in {":", ""} else digest64(recorded)
        return digits & _64_BITS
    except ValueError:
        return digest64(recorded)


@lru_cache(maxsize=16_384)
def pattern_of(category: str, sequence: int) -> int:
    """The hash of a category with a sequence."""
    return digest64(f"{category}\n{sequence}")


NO_QUESTION: Final = as_int(hash_question(""))
NO_SEQUENCE: Final = as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, but for no pattern."""
