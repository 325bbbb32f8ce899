"""The tables of facts, which are joined with other parts of the same file by plain concatenation.

Numbers stay numbers: what a setting decides (a complete answer's length, a verdict, a handover) is left to
the queries. No table holds an argument's value or a user's words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import polars as pl

REQUESTS: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,  # microseconds since 1970
    "offset": pl.UInt64,  # bytes, of the line
    "id": pl.UInt64,  # hash of its id; null: none recorded
    "session": pl.UInt64,  # 0: none recorded
    "question": pl.UInt64,
    "category": pl.String,
    "model": pl.String,
    "provider": pl.String,
    "pattern": pl.UInt64,  # of category and sequence
    "sequence": pl.UInt64,  # of the steps of the successful calls
    "shape": pl.UInt64,  # of these steps with their argument names; 0: calls were omitted
    "chunk_len": pl.Float64,  # characters of the answer
    "decided": pl.Int8,  # outcome by verdict, mark or error; null: the length of the answer decides
    "judged": pl.Boolean,  # whether the record holds a verdict
    "signals": pl.UInt16,  # see `coreloop.observe.reading.signals`, without a short answer
    "case": pl.UInt64,  # null: none recorded
}
"""A row per record, in the order of the lines."""

CALLS: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,  # this and the next two: of its request
    "offset": pl.UInt64,
    "provider": pl.String,
    "tool": pl.String,
    "shape": pl.UInt64,  # of its selectors and argument names
    "error_class": pl.String,  # empty: it succeeded
    "template": pl.UInt64,  # of its error; 0: it succeeded
    "duration_us": pl.Int64,  # null: not recorded
    "names": pl.UInt64,  # of its arguments' names
    "values": pl.List(pl.UInt32),  # by argument, see `coreloop.learn.facts.values`
    "buckets": pl.List(pl.Int16),  # by argument; null: no number
    "sources": pl.UInt64,  # of the earlier places of its values; 0: not recorded
}
"""A row per call, in the order in which they happened."""

TEXTS: Final[Mapping[str, Any]] = {"kind": pl.String, "hash": pl.UInt64, "text": pl.String}
"""Texts by hash. Kinds: ``sequence`` (without omitted calls), ``shape`` (JSON of the steps with their
argument names), ``call`` (JSON of ``{"selectors", "arg_keys"}``), ``template`` (of an error), ``names`` (JSON
of a list), ``sources`` (JSON of a list of places by argument)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of a file, or of a part of it."""

    requests: pl.LazyFrame
    calls: pl.LazyFrame
    texts: pl.LazyFrame

    def collected(self) -> "Facts":
        """The same tables, computed and in memory."""
        return Facts(*(frame.lazy() for frame in pl.collect_all([getattr(self, name) for name in NAMES])))


NAMES: Final = tuple(field.name for field in fields(Facts))
SCHEMAS: Final = dict(zip(NAMES, (REQUESTS, CALLS, TEXTS), strict=True))


def concatenate(parts: Iterable[pl.LazyFrame], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The rows of all parts; an empty table without parts."""
    return pl.concat([pl.LazyFrame(schema=schema), *parts])


def merge_facts(parts: Iterable[Facts]) -> Facts:
    """Join the parts of a file, given in order; the result does not depend on how the file was split."""
    parts = list(parts)
    rows = Facts(*(concatenate([getattr(part, name) for part in parts], SCHEMAS[name]) for name in NAMES))
    return Facts(rows.requests, rows.calls, rows.texts.unique().sort("kind", "hash"))
