"""The tables of facts, which are joined with other parts of the same file by plain concatenation.

Numbers stay numbers: what a setting decides (a complete answer's length, a verdict, a handover) is left to
the queries. No table holds an argument's value or a user's words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Final

import polars as pl

from coreloop.learn.facts.values import KINDS, LETTERS, SHAPES

REQUESTS: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,  # microseconds since 1970
    "offset": pl.UInt64,  # bytes, of the line
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
    "duration_us": pl.Int64,
    "input_tokens": pl.UInt64,
    "output_tokens": pl.UInt64,
    "cost_usd": pl.Float64,
}
"""A row per record, in the order of the lines."""

CALLS: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,  # this and the next two: of its request
    "offset": pl.UInt64,
    "provider": pl.String,
    "call": pl.UInt16,  # its place in the request, from 0
    "tool": pl.String,
    "shape": pl.UInt64,  # of its selectors and argument names
    "names": pl.UInt64,  # of its arguments' names
    "error_class": pl.String,  # empty: it did not fail
    "template": pl.UInt64,  # of its error; 0: it did not fail
    "unknown": pl.String,  # why it is unknown whether it succeeded; null: it is known
    "retry": pl.Boolean,  # after a failed call of the same tool in its request
    "recovered": pl.Boolean,  # a later call of the same tool in its request worked; null: it did not fail
    "flagged": pl.Boolean,  # it reported an implausible value
    "overrides": pl.Boolean,  # the caller replaced assumptions of the tool
    "duration_us": pl.Int64,  # null: not recorded
    "result_bytes": pl.UInt64,  # null: not recorded
}
"""A row per call, in the order in which they happened."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    "offset": pl.UInt64,  # this and the next: of its call
    "call": pl.UInt16,
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
    "offset": pl.UInt64,  # this and the next: of the call
    "call": pl.UInt16,
    "argument": pl.String,
    "field": pl.String,
    "literal": pl.String,  # ``delivered``, ``true``, ``3``; null: seen with another value
}
"""A row per field of the object that an earlier result last showed for an argument's value."""

TEXTS: Final[Mapping[str, Any]] = {"kind": pl.String, "hash": pl.UInt64, "text": pl.String}
"""Texts by hash. Kinds: ``sequence`` (without omitted calls), ``shape`` (JSON of the steps with their
argument names), ``call`` (JSON of ``{"selectors", "arg_keys"}``), ``template`` (of an error), ``names`` (JSON
of a list), ``sources`` (JSON of a list of places, the nearest first)."""


_TEXTS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "requests": {"sequence": "sequence", "shape": "shape"},
    "calls": {"shape": "call", "template": "template", "names": "names"},
    "arguments": {"sources": "sources"},
}
"""The columns whose hashes are in `TEXTS`, with the kind of their texts."""
OFFSET_BITS: Final = 44
"""The offset of a line within its file: 16 terabytes, the largest file of most file systems."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of a file, or of a part of it."""

    requests: pl.LazyFrame
    calls: pl.LazyFrame
    arguments: pl.LazyFrame
    saw: pl.LazyFrame
    texts: pl.LazyFrame

    def collected(self) -> "Facts":
        """The same tables, computed and in memory."""
        return Facts(*(frame.lazy() for frame in pl.collect_all([getattr(self, name) for name in NAMES])))


NAMES: Final = tuple(field.name for field in fields(Facts))
SCHEMAS: Final = dict(zip(NAMES, (REQUESTS, CALLS, ARGUMENTS, SAW, TEXTS), strict=True))


def frame_of(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows, passed as columns: a third of the time that polars takes for rows."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def concatenate(parts: Iterable[pl.LazyFrame], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The rows of all parts; an empty table without parts."""
    return pl.concat([pl.LazyFrame(schema=schema), *parts])


def merge_facts(parts: Iterable[Facts]) -> Facts:
    """Join the parts of a file, given in order; the result does not depend on how the file was split."""
    parts = list(parts)
    rows = Facts(*(concatenate([getattr(part, name) for part in parts], SCHEMAS[name]) for name in NAMES))
    return replace(rows, texts=rows.texts.unique().sort("kind", "hash"))


def split_facts(facts: Facts, n_files: int) -> list[Facts]:
    """Split the facts of several files, whose offsets have the file's number above `OFFSET_BITS`."""
    tables = {name: getattr(facts, name).collect() for name in NAMES if name != "texts"}
    starts = [number << OFFSET_BITS for number in range(n_files + 1)]
    parts = {
        name: _slices(table.with_columns(pl.col("offset") % (1 << OFFSET_BITS)), table["offset"], starts)
        for name, table in tables.items()
    }
    used = pl.concat(
        table.select(
            pl.col("offset").floordiv(1 << OFFSET_BITS).alias("file"),
            kind=pl.lit(kind),
            hash=column,
        )
        for name, columns in _TEXTS_OF.items()
        for column, kind in columns.items()
        for table in [tables[name]]
    )
    texts = used.lazy().unique().join(facts.texts.unique(), on=("kind", "hash")).sort("file", "kind", "hash")
    read = texts.collect()
    parts["texts"] = _slices(read.select(*TEXTS), read["file"], range(n_files + 1))
    return [Facts(*(parts[name][number].lazy() for name in NAMES)) for number in range(n_files)]


def _slices(table: pl.DataFrame, ascending: pl.Series, starts: Sequence[int]) -> list[pl.DataFrame]:
    """The rows from each start up to the next one, by a column in ascending order."""
    bounds = ascending.search_sorted(pl.Series(starts, dtype=ascending.dtype))
    return [table[first:last] for first, last in pairwise(bounds)]
