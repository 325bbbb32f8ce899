"""Columns of a batch of records -> its facts: the work that can be done for many rows at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.failures import error_class
from coreloop.base.records import digest64, hash_sequence, join_steps
from coreloop.learn.facts.schema import CALLS, REQUESTS, TEXTS, Facts
from coreloop.learn.facts.shapes import CallColumns
from coreloop.learn.facts.values import read_values
from coreloop.observe.reading.signals import template

ROW: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "group": pl.UInt32,
    "chunk_len": pl.Float64,
    "question": pl.String,
    "session": pl.String,
    "request_id": pl.String,
    "n_calls": pl.UInt32,
}
"""A record: ``group`` is the number of its `Group`; question, session and id are as recorded."""
GROUP: Final[Mapping[str, Any]] = {
    "category": pl.String,
    "ok_calls": pl.UInt32,
    "provider": pl.String,
    "model": pl.String,
    "decided": pl.Int8,
    "judged": pl.Boolean,
    "signals": pl.UInt16,
}
Group = tuple[str, tuple[int, ...], str | None, str | None, str | None, int | None, bool, int]
"""The common properties of records: category, `OkCalls` (two fields), and the others of `GROUP`."""
OkCalls = tuple[tuple[int, ...], str | None]
"""Numbers of the shapes of a record's successful calls; and the recorded hash if calls were omitted."""
_Text = tuple[str, int, str]
_MAX_US: Final = 10**12
_64_BITS: Final = (1 << 64) - 1
_digest: Final = lru_cache(maxsize=16_384)(digest64)  # the same few thousand texts recur every day


@dataclass(frozen=True, slots=True)
class Columns:
    """Records and their calls.

    Attributes
    ----------
    groups : dict of Group to int
        Their numbers, in order from 0.
    calls : CallColumns
        Of all records, in order.
    records : list
        The values of `ROW`, row after row: a list of a million tuples would take twice the memory and more
        time.
    """

    groups: Mapping[Group, int]
    calls: CallColumns
    records: list[Any] = field(default_factory=list)


def to_facts(columns: Columns) -> Facts:
    """Convert a batch; its texts may be repeated."""
    values = {name: columns.records[index :: len(ROW)] for index, name in enumerate(ROW)}
    records = pl.DataFrame(values, schema=ROW)
    groups, sequences = _groups(columns)
    calls, texts = _calls(records, groups, columns.calls)
    texts.extend(chain.from_iterable(sequences))
    return Facts(_requests(records, groups).lazy(), calls.lazy(), _frame(texts, TEXTS).lazy())


def _frame(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows, passed as columns: a third of the time that polars takes for rows."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)


def _typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in schema.items()]


def _groups(columns: Columns) -> tuple[pl.DataFrame, list[Sequence[_Text]]]:
    """A row per group: `GROUP` with its pattern, sequence and shape; and the texts of these."""
    numbers: dict[OkCalls, int] = {}
    rows: list[tuple[Any, ...]] = [
        (category, numbers.setdefault((ok, recorded), len(numbers)), *others)
        for category, ok, recorded, *others in columns.groups
    ]
    hashed = [_hashed(ok_calls, columns.calls) for ok_calls in numbers]
    named = [(*hashed[row[1]][:2], _pattern(row[0], hashed[row[1]][0])) for row in rows]
    frame = pl.concat(
        [_frame(rows, GROUP), _frame(named, dict.fromkeys(("sequence", "shape", "pattern"), pl.UInt64))],
        how="horizontal",
    )
    filled = frame.with_columns(pl.col("provider", "model").fill_null(""))
    return filled, [texts for _, _, texts in hashed]


@lru_cache(maxsize=16_384)
def _pattern(category: str, sequence: int) -> int:
    return digest64(f"{category}\n{sequence}")


def _hashed(ok_calls: OkCalls, calls: CallColumns) -> tuple[int, int, Sequence[_Text]]:
    """Hashes of sequence and shape with their texts; the recorded hash alone if calls were omitted."""
    numbers, recorded = ok_calls
    if recorded is not None:
        return as_int(recorded), 0, ()
    steps = calls.steps
    firsts = [next(same) for _, same in groupby(numbers, key=steps.__getitem__)]
    sequence = join_steps(steps[number] for number in firsts)
    shape = f"[{','.join(calls.parts[number].json for number in firsts)}]"
    hashes = as_int(hash_sequence(sequence)), _digest(shape)
    return *hashes, [("sequence", hashes[0], sequence), ("shape", hashes[1], shape)]


def _requests(records: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    hashes = {
        "question": _as_ints(records["question"], as_int, prefixed=True).fill_null(0),
        "session": _as_ints(records["session"], as_int, prefixed=True).fill_null(0),
        "id": _as_ints(records["request_id"], id_hash, prefixed=False),
    }
    of_group = groups.drop("ok_calls")[records["group"]]
    rows = pl.concat([records.with_columns(**hashes), of_group], how="horizontal")
    return rows.with_columns(case=pl.lit(None, pl.UInt64)).select(_typed(REQUESTS))


def _calls(
    records: pl.DataFrame, groups: pl.DataFrame, calls: CallColumns
) -> tuple[pl.DataFrame, list[_Text]]:
    """A row per call; and the texts of their shapes, errors, names and sources."""
    names = [msgspec.json.encode(part.names).decode() for part in calls.parts]
    shapes = _frame(
        [
            (part.name, _digest(part.text), _digest(text), len(part.names))
            for part, text in zip(calls.parts, names, strict=True)
        ],
        {"tool": pl.String, "shape": pl.UInt64, "names": pl.UInt64, "n_values": pl.UInt32},
    )
    places = [0, *(_digest(text) for text in list(calls.places)[1:])]
    numbers = pl.Series(calls.shapes, dtype=pl.UInt32)
    durations = pl.Series(calls.durations, dtype=pl.Float64, strict=False)
    rows = shapes[numbers].with_columns(
        _of_requests(records, groups),
        duration_us=(durations * 1000).clip(0, _MAX_US).round().cast(pl.Int64),
        sources=pl.Series(places, dtype=pl.UInt64).gather(pl.Series(calls.sources, dtype=pl.UInt32)),
    )
    errors, templates = _errors(calls.failed)
    rows = rows.with_row_index("call").with_columns(_arguments(rows["n_values"], calls.values))
    rows = rows.join(errors, on="call", how="left", maintain_order="left").with_columns(
        pl.col("error_class").fill_null(""), pl.col("template").fill_null(0)
    )
    texts = [("call", _digest(part.text), part.text) for part in calls.parts]
    texts += [("names", _digest(text), text) for text in set(names)]
    texts += [("sources", _digest(text), text) for text in list(calls.places)[1:]]
    return rows.select(_typed(CALLS)), [*texts, *templates]


def _of_requests(records: pl.DataFrame, groups: pl.DataFrame) -> list[pl.Series]:
    """Time, offset and provider of the request of each call."""
    repeated = pl.int_range(records.height, dtype=pl.UInt32, eager=True).rename("row").to_frame()
    row = repeated.select(pl.col("row").repeat_by(records["n_calls"]).explode())["row"].drop_nulls()
    provider = groups["provider"].gather(records["group"].gather(row))
    return [records["ts_us"].gather(row), records["offset"].gather(row), provider]


def _arguments(n_values: pl.Series, values: Sequence[Any]) -> list[pl.Series]:
    """The values and buckets of each call's arguments, as lists."""
    call = n_values.to_frame("n").with_row_index("call")
    of_value = call.select(pl.col("call").repeat_by("n").explode()).drop_nulls()
    read = pl.concat([of_value, read_values(values)], how="horizontal")
    lists = read.group_by("call", maintain_order=True).agg("value", "bucket")
    joined = call.join(lists, on="call", how="left", maintain_order="left")
    return [joined["value"].alias("values"), joined["bucket"].alias("buckets")]


def _errors(failed: Sequence[tuple[int, str]]) -> tuple[pl.DataFrame, list[_Text]]:
    """The class and the template of each failed call's error; and the templates.

    Errors that differ only in their digits are classified once, unless they may hold status 429.
    """
    error = pl.col("error")
    text = pl.when(error.str.contains("429", literal=True)).then(error)
    rows = _frame(failed, {"call": pl.UInt32, "error": pl.String}).with_columns(
        text=text.otherwise(error.str.replace_all("[1-9]", "0"))
    )
    classified = [(text, *_classify(text)) for text in rows["text"].unique()]
    hashes = {general: _digest(general) for _, _, general in classified}
    schema = {"text": pl.String, "error_class": pl.String, "template": pl.UInt64}
    errors = _frame([(text, name, hashes[general]) for text, name, general in classified], schema)
    templates = [("template", number, general) for general, number in hashes.items()]
    return rows.join(errors, on="text").select("call", "error_class", "template"), templates


@lru_cache(maxsize=8192)  # the same errors recur every day
def _classify(error: str) -> tuple[str, str]:
    return error_class(error), template(error)


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
    """A request's id as in `coreloop.learn.facts.schema.REQUESTS`."""
    try:
        return int(request_id[-16:], 16) & _64_BITS
    except ValueError:
        return _digest(request_id)


NO_SEQUENCE: Final = as_int(hash_sequence(""))
"""Records without a successful call: they count for their category, but for no pattern."""
