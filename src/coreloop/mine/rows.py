"""Rows of records -> a rollup's tables: all that can be done for many rows at once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Final

import orjson
import polars as pl

from coreloop.mine.calls import CallShapes
from coreloop.mine.outcome import error_class
from coreloop.mine.signals import template
from coreloop.mine.tables import CALLS, GROUPS, IDS, REQUESTS, TEXTS, Tables
from coreloop.records import digest64, hash_sequence, join_steps

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
"""A record: ``group`` is the number of its `Group`, the three last columns are hashes and ids as recorded."""
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
    "way": pl.UInt32,
    "provider": pl.String,
    "outcome": pl.Int8,
    "signals": pl.UInt16,
}
Group = tuple[str, int, str | None, int, int]
"""What records have in common, by `GROUP`: ``way`` is the number of a `Way`."""
Way = tuple[tuple[int, ...], str | None]
"""Numbers of the shapes of the calls that were ok; and the recorded hash, where calls were omitted."""
_Text = tuple[str, int, str]
_MOST_CHARS: Final = 1 << 31
_MOST_US: Final = 10**12
_64_BITS: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class _Done:
    """A way, with its texts for the table of texts."""

    sequence: int
    shape: int
    texts: Sequence[_Text] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Records and failed calls by `ROW` and `FAILED_CALL`, and what their numbers stand for.

    Attributes
    ----------
    records, failed : sequence of tuple
        The rows.
    groups : sequence of Group
        By number.
    ways : sequence of Way
        By number.
    shapes : CallShapes
        By number, too.
    replayed : sequence of str
        Ids of requests that are not mined.
    """

    records: Sequence[tuple[Any, ...]]
    failed: Sequence[tuple[Any, ...]]
    groups: Sequence[Group]
    ways: Sequence[Way]
    shapes: CallShapes
    replayed: Sequence[str]


def to_tables(rows: Rows) -> Tables:
    """Tables of some rows, neither merged nor sorted."""
    records = _frame(rows.records, ROW)
    done = [_do(way, rows.shapes) for way in rows.ways]
    groups = _groups(rows.groups, done)
    counted = _counted(records).join(groups, on="group")
    failures, templates = _described(_frame(rows.failed, FAILED_CALL))
    ids = pl.concat([records["request_id"].drop_nulls(), pl.Series(rows.replayed, dtype=pl.String)])
    texts = [*chain.from_iterable(one.texts for one in done), *_call_texts(rows.shapes), *templates]
    return Tables(
        groups=counted.select(_typed(GROUPS)).lazy(),
        requests=_requests(records, groups).lazy(),
        calls=_calls([_ok_calls(counted, rows.ways), failures], rows.shapes).lazy(),
        texts=_columns(texts, TEXTS).lazy(),
        ids=pl.LazyFrame({"id": _numbers(ids, id_hash, plain=_PLAIN_ID)}, schema=IDS),
    )


def _frame(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return _columns(rows, schema).with_columns(day=pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32))


def _columns(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows; polars takes columns in a third of the time that it takes for rows."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def _typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in schema.items()]


def _counted(records: pl.DataFrame) -> pl.DataFrame:
    """Records of a day and a group: how many, and what is summed of them."""
    chunk_len = pl.col("chunk_len").clip(-_MOST_CHARS, _MOST_CHARS).cast(pl.Int64)
    return records.group_by("day", "group").agg(
        n=pl.len(),
        chunk_len=chunk_len.sum(),
        first_us=pl.col("ts_us").min(),
        last_us=pl.col("ts_us").max(),
    )


def _groups(groups: Sequence[Group], done: Sequence[_Done]) -> pl.DataFrame:
    """A row per group: `GROUP`, and its pattern, sequence and shape."""
    frame = _columns(groups, GROUP).with_columns(pl.col("provider").fill_null("")).with_row_index("group")
    patterns = [
        (category, way, digest64(f"{category}\n{done[way].sequence}"), done[way].sequence, done[way].shape)
        for category, way in frame.select("category", "way").unique().iter_rows()
    ]
    return frame.join(_columns(patterns, _OF_PATTERN), on=["category", "way"], maintain_order="left")


def _requests(records: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    of_group = groups.select(pl.col("pattern", "sequence", "outcome").gather(records["group"]))
    kept = pl.concat([records, of_group], how="horizontal").filter(pl.col("sequence") != NO_SEQUENCE)
    numbers = {
        name: _numbers(kept[name], as_int, plain=_PLAIN_HASH).fill_null(0) for name in ("question", "session")
    }
    return kept.with_columns(**numbers).select(_typed(REQUESTS))


def _do(way: Way, shapes: CallShapes) -> _Done:
    """Texts and hashes of a way; of one of which calls were omitted, the recorded hash alone."""
    numbers, recorded = way
    if recorded is not None:
        return _Done(as_int(recorded), 0)
    steps = shapes.steps
    sequence = join_steps(steps[number] for number in numbers)
    firsts = (next(same) for _, same in groupby(numbers, key=steps.__getitem__))
    shape = orjson.dumps([shapes.parts[number] for number in firsts]).decode()
    hashes = as_int(hash_sequence(sequence)), digest64(shape)
    return _Done(*hashes, [("sequence", hashes[0], sequence), ("shape", hashes[1], shape)])


def _call_texts(shapes: CallShapes) -> Iterator[_Text]:
    for number in range(len(shapes.parts)):
        text = shapes.text(number)
        yield "call", digest64(text), text


def _ok_calls(counted: pl.DataFrame, ways: Sequence[Way]) -> pl.DataFrame:
    """Calls that were ok, by number: every record of a way made the same ones."""
    counts: Counter[tuple[int, str, int]] = Counter()
    for day, provider, way, n in (
        counted.group_by("day", "provider", "way").agg(pl.col("n").sum()).iter_rows()
    ):
        for number in ways[way][0]:
            counts[day, provider, number] += n
    rows = [(day, provider, number, "", 0, n, 0) for (day, provider, number), n in counts.items()]
    return _columns(rows, _OF_CALLS)


def _described(failed: pl.DataFrame) -> tuple[pl.DataFrame, list[_Text]]:
    """Failed calls with the class and the template of their errors; and the templates.

    Errors that differ in their digits only are looked at once, but for what may hold a status that counts.
    """
    error = pl.col("error")
    same = error.str.replace_all("[1-9]", "0")
    asked = pl.when(error.str.contains("429", literal=True)).then(error).otherwise(same)
    failed = failed.with_columns(asked=asked)
    told = [(text, error_class(text), template(text)) for text in failed["asked"].unique()]
    hashes = {general: digest64(general) for general in {general for _, _, general in told}}
    errors = _columns([(text, name, hashes[general]) for text, name, general in told], _OF_ERRORS)
    wasted_us = (pl.col("duration_ms").fill_null(0) * 1000).clip(0, _MOST_US).round().cast(pl.Int64)
    calls = failed.join(errors, on="asked").with_columns(
        pl.col("provider").fill_null(""),
        wasted_us=wasted_us,
        first_us="ts_us",
        last_us="ts_us",
        n=pl.lit(1, pl.UInt32),
    )
    return calls, [("template", number, general) for general, number in hashes.items()]


def _calls(parts: Sequence[pl.DataFrame], shapes: CallShapes) -> pl.DataFrame:
    rows = [(number, part["name"], digest64(shapes.text(number))) for number, part in enumerate(shapes.parts)]
    named = _columns(rows, {"call": pl.UInt32, "tool": pl.String, "shape": pl.UInt64})
    counted = pl.concat([pl.DataFrame(schema=CALLS), *parts], how="diagonal").drop("tool", "shape")
    return counted.join(named, on="call").select(_typed(CALLS))


def _numbers(texts: pl.Series, otherwise: Callable[[str], int], *, plain: str) -> pl.Series:
    """Recorded hashes as 64 bits, null where there is none.

    Those of the form ``plain`` are read by polars, all others by ``otherwise``; both give the same.
    """
    numbers = texts.str.tail(16).str.to_integer(base=16, dtype=pl.UInt64, strict=False)
    is_plain = texts.str.contains(plain)
    odd = texts.filter(~is_plain).unique().drop_nulls()
    if odd.is_empty():
        return numbers
    read = pl.Series([otherwise(text) for text in odd], dtype=pl.UInt64)
    replaced = texts.replace_strict(odd, read, default=None, return_dtype=pl.UInt64)
    return pl.select(pl.when(is_plain).then(numbers).otherwise(replaced)).to_series()


def as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; one that is written otherwise is hashed itself."""
    try:
        digits = int(recorded[-16:], 16) if recorded[-17:-16] in {":", ""} else digest64(recorded)
        return digits & _64_BITS
    except ValueError:
        return digest64(recorded)


def id_hash(request_id: str) -> int:
    """A request's id as it stands in `coreloop.mine.tables.IDS`; a shared one only costs time."""
    try:
        return int(request_id[-16:], 16) & _64_BITS
    except ValueError:
        return digest64(request_id)


_OF_PATTERN: Final = {
    "category": pl.String,
    "way": pl.UInt32,
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
_OF_ERRORS: Final = {"asked": pl.String, "error_class": pl.String, "template": pl.UInt64}
_PLAIN_HASH: Final = r"^[a-z0-9]*:[0-9a-f]{16}$"
_PLAIN_ID: Final = r"^[a-z0-9]*[:-][0-9a-f]{16}$"
NO_SEQUENCE: Final = as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, and for no pattern."""
