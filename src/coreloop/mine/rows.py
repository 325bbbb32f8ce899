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
    "category": pl.String,
    "way": pl.UInt32,
    "provider": pl.String,
    "outcome": pl.Int8,
    "signals": pl.UInt16,
    "chunk_len": pl.Float64,
    "question": pl.String,
    "session": pl.String,
    "request_id": pl.String,
}
"""A record: ``way`` is the number of its `Way`, the three last columns are hashes and ids as recorded."""
FAILED_CALL: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "call": pl.UInt32,
    "provider": pl.String,
    "error": pl.String,
    "wasted_us": pl.Int64,
}
"""A failed call: ``call`` is the number of its shape."""
Way = tuple[tuple[int, ...], str | None]
"""Numbers of the shapes of the calls that were ok; and the recorded hash, where calls were omitted."""
_Text = tuple[str, int, str]
_MOST_CHARS: Final = 1 << 31
_64_BITS: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class _Done:
    """A way, with its texts for the table of texts."""

    sequence: int
    shape: int
    texts: Sequence[_Text] = ()


def to_tables(
    rows: Sequence[tuple[Any, ...]],
    failed: Sequence[tuple[Any, ...]],
    *,
    ways: Sequence[Way],
    shapes: CallShapes,
    replayed: Sequence[str],
) -> Tables:
    """Tables of some rows by `ROW` and `FAILED_CALL`, neither merged nor sorted.

    Parameters
    ----------
    rows, failed : sequence of tuple
        Records and failed calls.
    ways : sequence of Way
        By number.
    shapes : CallShapes
        By number, too.
    replayed : sequence of str
        Ids of requests that are not mined.
    """
    records = _frame(rows, ROW)
    done = [_do(way, shapes) for way in ways]
    patterns = _patterns(records, done)
    failures, templates = _described(_frame(failed, FAILED_CALL))
    ids = pl.concat([records["request_id"].drop_nulls(), pl.Series(replayed, dtype=pl.String)])
    texts = [*chain.from_iterable(one.texts for one in done), *_call_texts(shapes), *templates]
    return Tables(
        groups=_groups(records).join(patterns, on=_PATTERN).select(_typed(GROUPS)).lazy(),
        requests=_requests(records.join(patterns, on=_PATTERN)).lazy(),
        calls=_calls([_ok_calls(records, ways), failures], shapes).lazy(),
        texts=pl.LazyFrame(texts, schema=TEXTS, orient="row"),
        ids=pl.LazyFrame({"id": _numbers(ids, id_hash, plain=_PLAIN_ID)}, schema=IDS),
    )


def _frame(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    frame = pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)
    return frame.with_columns(day=pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32))


def _typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in schema.items()]


def _groups(records: pl.DataFrame) -> pl.DataFrame:
    chunk_len = pl.col("chunk_len").clip(-_MOST_CHARS, _MOST_CHARS).cast(pl.Int64)
    return records.group_by("day", *_PATTERN, "provider", "outcome", "signals").agg(
        n=pl.len(),
        chunk_len=chunk_len.sum(),
        first_us=pl.col("ts_us").min(),
        last_us=pl.col("ts_us").max(),
    )


def _requests(records: pl.DataFrame) -> pl.DataFrame:
    kept = records.filter(pl.col("sequence") != NO_SEQUENCE)
    numbers = {
        name: _numbers(kept[name], as_int, plain=_PLAIN_HASH).fill_null(0) for name in ("question", "session")
    }
    return kept.with_columns(**numbers).select(_typed(REQUESTS))


def _patterns(records: pl.DataFrame, done: Sequence[_Done]) -> pl.DataFrame:
    """What a category and a way are: pattern, sequence and shape."""
    rows = [
        (category, way, digest64(f"{category}\n{done[way].sequence}"), done[way].sequence, done[way].shape)
        for category, way in records.select(_PATTERN).unique().iter_rows()
    ]
    return pl.DataFrame(rows, schema=_OF_PATTERN, orient="row")


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


def _ok_calls(records: pl.DataFrame, ways: Sequence[Way]) -> pl.DataFrame:
    """Calls that were ok, by number: every record of a way made the same ones."""
    counts: Counter[tuple[int, str, int]] = Counter()
    for day, provider, way, n in records.group_by("day", "provider", "way").len().iter_rows():
        for number in ways[way][0]:
            counts[day, provider, number] += n
    rows = [(day, provider, number, "", 0, n, 0) for (day, provider, number), n in counts.items()]
    return pl.DataFrame(rows, schema=_OF_CALLS, orient="row")


def _described(failed: pl.DataFrame) -> tuple[pl.DataFrame, list[_Text]]:
    """Failed calls with the class and the template of their errors; and the templates.

    Errors that differ in their digits only are looked at once, but for what may hold a status that counts.
    """
    error = pl.col("error")
    same = error.str.replace_all("[1-9]", "0")
    asked = pl.when(error.str.contains("429", literal=True)).then(error).otherwise(same)
    failed = failed.with_columns(asked=asked)
    told = [(text, error_class(text), template(text)) for text in failed["asked"].unique()]
    hashed = [(text, name, digest64(general)) for text, name, general in told]
    described = failed.join(pl.DataFrame(hashed, schema=_OF_ERRORS, orient="row"), on="asked")
    calls = described.with_columns(first_us="ts_us", last_us="ts_us", n=pl.lit(1, pl.UInt32))
    return calls, [("template", digest64(general), general) for _, _, general in told]


def _calls(parts: Sequence[pl.DataFrame], shapes: CallShapes) -> pl.DataFrame:
    rows = [(number, part["name"], digest64(shapes.text(number))) for number, part in enumerate(shapes.parts)]
    named = pl.DataFrame(
        rows, schema={"call": pl.UInt32, "tool": pl.String, "shape": pl.UInt64}, orient="row"
    )
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


_PATTERN: Final = ("category", "way")
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
_OF_SHAPES: Final = {"call": pl.UInt32, "tool": pl.String, "shape": pl.UInt64}
_OF_ERRORS: Final = {"asked": pl.String, "error_class": pl.String, "template": pl.UInt64}
_PLAIN_HASH: Final = r"^[a-z0-9]*:[0-9a-f]{16}$"
_PLAIN_ID: Final = r"^[a-z0-9]*[:-][0-9a-f]{16}$"
NO_SEQUENCE: Final = as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, and for no pattern."""
