"""What a rollup holds: tables of counts and texts that merge with any other rollup's by plain addition.

Every sum is of whole numbers, so neither the parts nor their order change a total.
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
    "signals": pl.UInt16,  # of failures, see `coreloop.mine.signals`; else 0
    "n": pl.UInt32,
    "chunk_len": pl.Int64,  # characters, sum of those that are known
    "n_chunk_len": pl.UInt32,  # how many are known
    "first_us": pl.Int64,  # microseconds since 1970
    "last_us": pl.Int64,
}
"""Records by what they have in common: a few hundred rows a day, whatever the number of records."""

REQUESTS: Final[Mapping[str, Any]] = {
    "pattern": pl.UInt64,
    "outcome": pl.Int8,
    "question": pl.UInt64,
    "session": pl.UInt64,  # 0: none recorded
    "ts_us": pl.Int64,
    "offset": pl.UInt64,  # bytes, of the line
}
"""A row per record that has a sequence: what must be told apart, and where its text lies."""

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
    "first_us": pl.Int64,  # of failed calls, as what follows; else null
    "last_us": pl.Int64,
    "offset": pl.UInt64,  # of the earliest one's line
}
"""Calls by tool, arguments and error."""

TEXTS: Final[Mapping[str, Any]] = {"kind": pl.String, "hash": pl.UInt64, "text": pl.String}
"""What hashes stand for. Kinds: ``sequence`` (of which no call was omitted), ``shape`` (JSON of the steps
with their argument names), ``call`` (JSON of ``{"selectors", "arg_keys"}``), ``template`` (of an error)."""

MOST_SAMPLED: Final = 768
"""Requests of a file that are kept call by call; up to so many, all of them."""

SAMPLE: Final[Mapping[str, Any]] = {
    "number": pl.UInt64,  # in the draw, `coreloop.mine.sampling.sample_number`
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "category": pl.String,
    "model": pl.String,
    "provider": pl.String,
    "outcome": pl.Int8,
    "question": pl.UInt64,
    "keywords": pl.String,  # of coreloop.yaml's, those that the question holds, one a line
    "calls": pl.String,  # JSON of `coreloop.mine.sampling.SampledCall`
}
"""A row per request in the sample, those with the smallest numbers of the file."""

IDS: Final[Mapping[str, Any]] = {"id": pl.UInt64}
"""Hashes of the ids of all requests, those that are not mined too: on which a later verdict may fall."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables, each in an order of its own."""

    groups: pl.LazyFrame
    requests: pl.LazyFrame
    calls: pl.LazyFrame
    texts: pl.LazyFrame
    ids: pl.LazyFrame
    sample: pl.LazyFrame

    def collected(self) -> "Tables":
        """The same, computed and in memory."""
        return Tables(*(frame.lazy() for frame in pl.collect_all([getattr(self, name) for name in NAMES])))


NAMES: Final = tuple(field.name for field in fields(Tables))
SCHEMAS: Final = dict(zip(NAMES, (GROUPS, REQUESTS, CALLS, TEXTS, IDS, SAMPLE), strict=True))


def side_by_side(parts: Iterable[pl.LazyFrame], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The rows of all parts; of none, an empty table."""
    return pl.concat([pl.LazyFrame(schema=schema), *parts])


def merged(parts: Iterable[Tables]) -> Tables:
    """One rollup of the parts of a file, in the file's order; the same whatever the parts were."""
    every = list(parts)
    whole = Tables(*(side_by_side([getattr(one, name) for one in every], SCHEMAS[name]) for name in NAMES))
    earliest = pl.col("offset").filter(pl.col("first_us") == pl.col("first_us").min()).min()
    times = (pl.col("first_us").min(), pl.col("last_us").max())
    groups = whole.groups.group_by(GROUP_KEYS).agg(pl.col("n", "chunk_len", "n_chunk_len").sum(), *times)
    calls = whole.calls.group_by(CALL_KEYS).agg(pl.col("n", "wasted_us").sum(), *times, earliest)
    return Tables(
        groups=groups.sort(GROUP_KEYS),
        requests=whole.requests.sort("pattern", maintain_order=True),  # and so of the lines, as the parts are
        calls=calls.sort(CALL_KEYS),
        texts=whole.texts.unique().sort("kind", "hash"),
        ids=whole.ids.unique().sort("id"),
        sample=whole.sample.sort("number", "offset").head(MOST_SAMPLED),
    )
