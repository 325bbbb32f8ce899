"""The tables of a rollup: counts and texts, merged with other rollups' tables by plain addition.

All sums are of integers, so totals depend neither on the parts nor on their order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import polars as pl

GROUP_KEYS: Final = ("day", "pattern", "category", "sequence", "shape", "provider", "outcome", "signals")
GROUPS: Final[Mapping[str, Any]] = {
    "day": pl.Int32,  # days since 1970, UTC
    "pattern": pl.UInt64,  # of category and sequence
    "category": pl.String,
    "sequence": pl.UInt64,
    "shape": pl.UInt64,  # 0: calls were omitted
    "provider": pl.String,
    "outcome": pl.Int8,
    "signals": pl.UInt16,  # of failures, see `coreloop.observe.reading.signals`; else 0
    "n": pl.UInt32,
    "chunk_len": pl.Int64,  # characters, sum of those that are known
    "n_chunk_len": pl.UInt32,  # how many are known
    "first_us": pl.Int64,  # microseconds since 1970
    "last_us": pl.Int64,
}
"""Counts of records by their common properties: a few hundred rows a day for any number of records."""

REQUESTS: Final[Mapping[str, Any]] = {
    "pattern": pl.UInt64,
    "outcome": pl.Int8,
    "question": pl.UInt64,
    "session": pl.UInt64,  # 0: none recorded
    "ts_us": pl.Int64,
    "offset": pl.UInt64,  # bytes, of the line
}
"""A row per record that has a sequence: the hashes to count distinct values of, and where its line starts."""

CALL_KEYS: Final = ("day", "provider", "tool", "shape", "error_class", "template")
CALLS: Final[Mapping[str, Any]] = {
    "day": pl.Int32,
    "provider": pl.String,
    "tool": pl.String,
    "shape": pl.UInt64,
    "error_class": pl.String,  # empty: the calls were ok
    "template": pl.UInt64,  # 0: the calls were ok
    "n": pl.UInt32,
    "wasted_us": pl.Int64,  # of failed calls, microseconds, sum
    "first_us": pl.Int64,  # this and the next two: of failed calls, else null
    "last_us": pl.Int64,
    "offset": pl.UInt64,  # line of the earliest failed call
}
"""Calls by tool, arguments and error."""

TEXTS: Final[Mapping[str, Any]] = {"kind": pl.String, "hash": pl.UInt64, "text": pl.String}
"""Texts by hash. Kinds: ``sequence`` (without omitted calls), ``shape`` (JSON of the steps with their
argument names), ``call`` (JSON of ``{"selectors", "arg_keys"}``), ``template`` (of an error)."""

MAX_SAMPLED: Final = 768
"""Requests of a file that are stored call by call; smaller files are stored completely."""

SAMPLE: Final[Mapping[str, Any]] = {
    "number": pl.UInt64,  # in the draw, `coreloop.learn.mine.sampling.sample_number`
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "category": pl.String,
    "model": pl.String,
    "provider": pl.String,
    "outcome": pl.Int8,
    "question": pl.UInt64,
    "calls": pl.String,  # JSON of `coreloop.learn.mine.sampling.SampledCall`
}
"""A row per sampled request: those with the smallest numbers of the file."""

IDS: Final[Mapping[str, Any]] = {"id": pl.UInt64}
"""Hashes of the ids of all requests, mined or not: a later verdict may concern any of them."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables, each sorted by its own keys."""

    groups: pl.LazyFrame
    requests: pl.LazyFrame
    calls: pl.LazyFrame
    texts: pl.LazyFrame
    ids: pl.LazyFrame
    sample: pl.LazyFrame

    def collected(self) -> "Tables":
        """The same tables, computed and in memory."""
        return Tables(*(frame.lazy() for frame in pl.collect_all([getattr(self, name) for name in NAMES])))


NAMES: Final = tuple(field.name for field in fields(Tables))
SCHEMAS: Final = dict(zip(NAMES, (GROUPS, REQUESTS, CALLS, TEXTS, IDS, SAMPLE), strict=True))


def concatenate(parts: Iterable[pl.LazyFrame], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The rows of all parts; an empty table without parts."""
    return pl.concat([pl.LazyFrame(schema=schema), *parts])


def merge_tables(parts: Iterable[Tables]) -> Tables:
    """Merge the parts of a file, given in order; the result does not depend on how the file was split."""
    parts = list(parts)
    rows = Tables(*(concatenate([getattr(part, name) for part in parts], SCHEMAS[name]) for name in NAMES))
    earliest = pl.col("offset").filter(pl.col("first_us") == pl.col("first_us").min()).min()
    times = (pl.col("first_us").min(), pl.col("last_us").max())
    groups = rows.groups.group_by(GROUP_KEYS).agg(pl.col("n", "chunk_len", "n_chunk_len").sum(), *times)
    calls = rows.calls.group_by(CALL_KEYS).agg(pl.col("n", "wasted_us").sum(), *times, earliest)
    return Tables(
        groups=groups.sort(GROUP_KEYS),
        requests=rows.requests.sort("pattern", maintain_order=True),  # keeps the order of the lines
        calls=calls.sort(CALL_KEYS),
        texts=rows.texts.unique().sort("kind", "hash"),
        ids=rows.ids.unique().sort("id"),
        sample=rows.sample.sort("number", "offset").head(MAX_SAMPLED),
    )
