"""Rows of records -> a rollup's tables: the work that can be done for many rows at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Final

import polars as pl

from coreloop.base.failures import error_class
from coreloop.base.records import digest64, hash_sequence, join_steps
from coreloop.learn.mine.calls import CallShapes
from coreloop.learn.mine.tables import CALLS, GROUPS, IDS, REQUESTS, SAMPLE, TEXTS, Tables
from coreloop.observe.reading.signals import template

DAY_US: Final = 86_400_000_000
ROW: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "group": pl.UInt32,
    "chunk_len": pl.Float64,
    "question": pl.String,
    "session": pl.String,
    "request_id": pl.String,
}
"""A record: ``group`` is the number of its `Group`; the last three columns are as recorded."""
FAILED_CALL: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "call": pl.UInt32,
    "provider": pl.String,
    "error": pl.String,
    "duration_ms": pl.Float64,
}
"""A failed call: ``call`` is the number of its shape."""
GROUP: Final[Mapping[str, Any]] = {
    "category": pl.String,
    "ok_calls": pl.UInt32,
    "provider": pl.String,
    "outcome": pl.Int8,
    "signals": pl.UInt16,
}
Group = tuple[str, tuple[int, ...], str | None, str | None, int, int]
"""The common properties of records: category, `OkCalls` (two fields), provider, outcome and signals."""
OkCalls = tuple[tuple[int, ...], str | None]
"""Numbers of the shapes of a record's successful calls; and the recorded hash if calls were omitted."""
_Text = tuple[str, int, str]
_MAX_CHARS: Final = 1 << 31
_MAX_US: Final = 10**12
_64_BITS: Final = (1 << 64) - 1
_digest: Final = lru_cache(maxsize=16_384)(digest64)  # the same few thousand texts recur every day


@dataclass(frozen=True, slots=True)
class _Sequence:
    """The hashes of a record's successful calls, with the rows for the table of texts."""

    sequence: int
    shape: int
    texts: Sequence[_Text] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Records and failed calls, with the groups and shapes that their numbers refer to.

    Attributes
    ----------
    groups : dict of Group to int
        Their numbers, in order from 0.
    shapes : CallShapes
        Also by number.
    records, failed : list
        The values of `ROW` and of `FAILED_CALL`, row after row: a list of a million tuples would take twice
        the memory and more time.
    replayed : list of str
        Ids of requests that are not mined.
    sampled : list
        Rows of `coreloop.learn.mine.tables.SAMPLE`.
    """

    groups: Mapping[Group, int]
    shapes: CallShapes
    records: list[Any] = field(default_factory=list)
    failed: list[Any] = field(default_factory=list)
    replayed: list[str] = field(default_factory=list)
    sampled: list[tuple[Any, ...]] = field(default_factory=list)


def to_tables(rows: Rows) -> Tables:
    """Convert rows to tables, neither merged nor sorted."""
    records = _frame(rows.records, ROW)
    numbers: dict[OkCalls, int] = {}
    group_rows = [
        (category, numbers.setdefault((ok, recorded), len(numbers)), *others)
        for category, ok, recorded, *others in rows.groups
    ]
    sequences = [_hashed(ok_calls, rows.shapes) for ok_calls in numbers]
    groups = _groups(group_rows, sequences)
    counted = _counted(records).join(groups, on="group")
    failures, templates = _described(_frame(rows.failed, FAILED_CALL))
    ids = pl.concat([records["request_id"].drop_nulls(), pl.Series(rows.replayed, dtype=pl.String)])
    called = [("call", _digest(part.text), part.text) for part in rows.shapes.parts]
    texts = [*chain.from_iterable(sequence.texts for sequence in sequences), *called, *templates]
    return Tables(
        groups=counted.select(_typed(GROUPS)).lazy(),
        requests=_requests(records, groups).lazy(),
        calls=_calls([_count_ok_calls(counted, list(numbers)), failures], rows.shapes).lazy(),
        texts=_columns(texts, TEXTS).lazy(),
        ids=pl.LazyFrame({"id": _as_ints(ids, id_hash, prefixed=False)}, schema=IDS),
        sample=_columns(rows.sampled, SAMPLE).lazy(),
    )


def _frame(values: Sequence[Any], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of the values of rows, with the day of each."""
    columns = {name: values[index :: len(schema)] for index, name in enumerate(schema)}
    return pl.DataFrame(columns, schema=schema).with_columns(
        day=pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32)
    )


def _columns(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows, passed as columns: a third of the time that polars takes for rows."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def _typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in schema.items()]


def _counted(records: pl.DataFrame) -> pl.DataFrame:
    """Counts and sums of the records of each day and group."""
    chunk_len = pl.col("chunk_len").clip(-_MAX_CHARS, _MAX_CHARS).cast(pl.Int64)
    return records.group_by("day", "group").agg(
        n=pl.len(),
        chunk_len=chunk_len.sum(),
        n_chunk_len=chunk_len.count(),
        first_us=pl.col("ts_us").min(),
        last_us=pl.col("ts_us").max(),
    )


def _groups(groups: Sequence[tuple[Any, ...]], sequences: Sequence[_Sequence]) -> pl.DataFrame:
    """A row per group: `GROUP`, with its pattern, sequence and shape."""
    frame = _columns(groups, GROUP).with_columns(pl.col("provider").fill_null("")).with_row_index("group")
    patterns = []
    for category, number in frame.select("category", "ok_calls").unique().iter_rows():
        sequence, shape = sequences[number].sequence, sequences[number].shape
        patterns.append((category, number, _digest(f"{category}\n{sequence}"), sequence, shape))
    return frame.join(_columns(patterns, _OF_PATTERN), on=["category", "ok_calls"], maintain_order="left")


def _requests(records: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    of_group = groups.select(pl.col("pattern", "sequence", "outcome").gather(records["group"]))
    requests = pl.concat([records, of_group], how="horizontal").filter(pl.col("sequence") != NO_SEQUENCE)
    hashes = {
        name: _as_ints(requests[name], as_int, prefixed=True).fill_null(0) for name in ("question", "session")
    }
    return requests.with_columns(**hashes).select(_typed(REQUESTS))


def _hashed(ok_calls: OkCalls, shapes: CallShapes) -> _Sequence:
    """Hashes and texts of successful calls; the recorded hash alone if calls were omitted."""
    numbers, recorded = ok_calls
    if recorded is not None:
        return _Sequence(as_int(recorded), 0)
    steps = shapes.steps
    firsts = [next(same) for _, same in groupby(numbers, key=steps.__getitem__)]
    sequence = join_steps(steps[number] for number in firsts)
    shape = f"[{','.join(shapes.parts[number].json for number in firsts)}]"
    hashes = as_int(hash_sequence(sequence)), _digest(shape)
    return _Sequence(*hashes, [("sequence", hashes[0], sequence), ("shape", hashes[1], shape)])


def _count_ok_calls(counted: pl.DataFrame, ok_calls: Sequence[OkCalls]) -> pl.DataFrame:
    """Successful calls by number: all records with the same `OkCalls` made the same calls."""
    counts: Counter[tuple[int, str, int]] = Counter()
    for day, provider, index, n in (
        counted.group_by("day", "provider", "ok_calls").agg(pl.col("n").sum()).iter_rows()
    ):
        for number in ok_calls[index][0]:
            counts[day, provider, number] += n
    rows = [(day, provider, number, "", 0, n, 0) for (day, provider, number), n in counts.items()]
    return _columns(rows, _OF_CALLS)


def _described(failed: pl.DataFrame) -> tuple[pl.DataFrame, list[_Text]]:
    """Failed calls with the class and the template of their errors; and the templates.

    Errors that differ only in their digits are classified once, unless they may hold status 429.
    """
    error = pl.col("error")
    without_digits = error.str.replace_all("[1-9]", "0")
    text = pl.when(error.str.contains("429", literal=True)).then(error).otherwise(without_digits)
    failed = failed.with_columns(error_text=text)
    classified = [(text, *_classify(text)) for text in failed["error_text"].unique()]
    hashes = {general: _digest(general) for general in {general for _, _, general in classified}}
    errors = _columns([(text, name, hashes[general]) for text, name, general in classified], _OF_ERRORS)
    wasted_us = (pl.col("duration_ms").fill_null(0) * 1000).clip(0, _MAX_US).round().cast(pl.Int64)
    calls = failed.join(errors, on="error_text").with_columns(
        pl.col("provider").fill_null(""),
        wasted_us=wasted_us,
        first_us="ts_us",
        last_us="ts_us",
        n=pl.lit(1, pl.UInt32),
    )
    return calls, [("template", number, general) for general, number in hashes.items()]


@lru_cache(maxsize=8192)  # the same errors recur every day
def _classify(error: str) -> tuple[str, str]:
    return error_class(error), template(error)


def _calls(parts: Sequence[pl.DataFrame], shapes: CallShapes) -> pl.DataFrame:
    rows = [(number, part.name, _digest(part.text)) for number, part in enumerate(shapes.parts)]
    named = _columns(rows, {"call": pl.UInt32, "tool": pl.String, "shape": pl.UInt64})
    counted = pl.concat([pl.DataFrame(schema=CALLS), *parts], how="diagonal").drop("tool", "shape")
    return counted.join(named, on="call").select(_typed(CALLS))


def _as_ints(texts: pl.Series, fallback: Callable[[str], int], *, prefixed: bool) -> pl.Series:
    """Recorded hashes as 64 bits; nulls stay null.

    polars reads the hashes that end in 16 hex digits (after a colon if ``prefixed``), ``fallback`` all
    others; where both apply, the results are equal.
    """
    numbers = texts.str.tail(16).str.to_integer(base=16, dtype=pl.UInt64, strict=False)
    is_plain = numbers.is_not_null()
    if prefixed:
        is_plain &= texts.str.tail(17).str.starts_with(":")
    others = texts.filter(~is_plain).unique().drop_nulls()
    if others.is_empty():
        return numbers
    converted = pl.Series([fallback(text) for text in others], dtype=pl.UInt64)
    replaced = texts.replace_strict(others, converted, default=None, return_dtype=pl.UInt64)
    return pl.select(pl.when(is_plain).then(numbers).otherwise(replaced)).to_series()


def as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; a hash in another notation is hashed again."""
    try:
        digits = int(recorded[-16:], 16) if recorded[-17:-16] in {":", ""} else _digest(recorded)
        return digits & _64_BITS
    except ValueError:
        return _digest(recorded)


def id_hash(request_id: str) -> int:
    """A request's id as in `coreloop.learn.mine.tables.IDS`; a collision only costs time."""
    try:
        return int(request_id[-16:], 16) & _64_BITS
    except ValueError:
        return _digest(request_id)


_OF_PATTERN: Final = {
    "category": pl.String,
    "ok_calls": pl.UInt32,
    "pattern": pl.UInt64,
    "sequence": pl.UInt64,
    "shape": pl.UInt64,
}
_OF_CALLS: Final = {
    "day": pl.Int32,
    "provider": pl.String,
    "call": pl.UInt32,
    "error_class": pl.String,
    "template": pl.UInt64,
    "n": pl.UInt32,
    "wasted_us": pl.Int64,
}
_OF_ERRORS: Final = {"error_text": pl.String, "error_class": pl.String, "template": pl.UInt64}
NO_SEQUENCE: Final = as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, but for no pattern."""
