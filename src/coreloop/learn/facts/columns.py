"""Columns of a batch of records -> its facts: the work that can be done for many rows at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.error_classes import error_class
from coreloop.base.records import digest64, hash_sequence, join_steps
from coreloop.learn.facts.arguments import read_arguments
from coreloop.learn.facts.schema import CALLS, REQUESTS, TEXTS, Facts, frame_of
from coreloop.learn.facts.shapes import CallColumns
from coreloop.observe.reading.error_texts import general
from coreloop.observe.reading.own_values import without_own_values

ROW: Final[Mapping[str, Any]] = {
    "ts_us": pl.Int64,
    "offset": pl.UInt64,
    "group": pl.UInt32,
    "chunk_len": pl.Float64,
    "question": pl.String,
    "session": pl.String,
    "request_id": pl.String,
    "n_calls": pl.UInt32,
    "asked": pl.String,
    "recorded_case": pl.String,
    "tools_version": pl.String,
    "descriptions": pl.String,
    "rounds": pl.Float64,
    "duration_ms": pl.Float64,
    "input_tokens": pl.Float64,
    "output_tokens": pl.Float64,
    "cost_usd": pl.Float64,
    "omitted": pl.Float64,
}
"""A record: ``group`` is the number of its `Group`; question (a hash), session and id are as recorded.

``asked`` is the question's text, ``recorded_case`` the hashes without separators."""
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
_VARIABLE: Final = r"""["“][^"”]*["”]|'[^']*'|\S*[\d@/\\]\S*"""
"""Quoted parts, and words with a digit, @, / or backslash: ``"a b"``, ``#w12``; not ``refund``."""
_ALIKE: Final = str.maketrans("123456789", "000000000")
"""Errors that differ only in their digits are classified once, unless they may hold status 429."""
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

    groups: dict[Group, int]
    calls: CallColumns
    records: list[Any] = field(default_factory=list)


def to_facts(columns: Columns, *, case_key: bytes = b"") -> Facts:
    """Convert a batch; its texts may be repeated."""
    values = {name: columns.records[index :: len(ROW)] for index, name in enumerate(ROW)}
    records = pl.DataFrame(values, schema=ROW, strict=False)
    groups, sequences = _groups(columns)
    calls, texts = _calls(records, groups, columns.calls)
    read = read_arguments(calls, columns.calls, case_key=_needed(case_key, records))
    texts.extend(chain(read.texts, *sequences))
    requests = _requests(records, groups, read.cases)
    tables = (requests, calls.select(_typed(CALLS)), read.arguments, read.saw, frame_of(texts, TEXTS))
    return Facts(*(table.lazy() for table in tables))


def _needed(case_key: bytes, records: pl.DataFrame) -> bytes | None:
    """The key, or None if each record has a case or a session."""
    lacking = records["recorded_case"].is_null() & records["session"].is_null()
    return case_key if lacking.any() else None


def _typed(schema: Mapping[str, Any]) -> list[pl.Expr]:
    return [pl.col(name).cast(kind, strict=False) for name, kind in schema.items()]


def _groups(columns: Columns) -> tuple[pl.DataFrame, list[Sequence[_Text]]]:
    """A row per group: `GROUP` with its pattern, sequence and shape; and the texts of these."""
    numbers: dict[OkCalls, int] = {}
    rows: list[tuple[Any, ...]] = [
        (category, numbers.setdefault((ok, recorded), len(numbers)), *others)
        for category, ok, recorded, *others in columns.groups
    ]
    hashed = [_hashed(ok_calls, columns.calls) for ok_calls in numbers]
    named = [(*hashed[row[1]][:2], pattern_of(row[0], hashed[row[1]][0])) for row in rows]
    frame = pl.concat(
        [frame_of(rows, GROUP), frame_of(named, dict.fromkeys(("sequence", "shape", "pattern"), pl.UInt64))],
        how="horizontal",
    )
    filled = frame.with_columns(pl.col("provider", "model").fill_null(""))
    return filled, [texts for _, _, texts in hashed]


@lru_cache(maxsize=16_384)
def pattern_of(category: str, sequence: int) -> int:
    """The hash of a category with a sequence."""
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


def _requests(records: pl.DataFrame, groups: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    hashes = {
        "question": _as_ints(records["question"], as_int, prefixed=True).fill_null(0),
        "session": _as_ints(records["session"], as_int, prefixed=True).fill_null(0),
        "id": _as_ints(records["request_id"], id_hash, prefixed=False),
    }
    of_group = groups.drop("ok_calls")[records["group"]]
    rows = pl.concat([records.with_columns(**hashes), of_group], how="horizontal")
    rows = rows.join(cases, on="offset", how="left", maintain_order="left")
    computed = pl.when(pl.col("session") == 0).then("case")
    return rows.with_columns(
        template=_template(),
        case=pl.coalesce(_recorded_case(), computed),
        duration_us=_microseconds(pl.col("duration_ms")),
    ).select(_typed(REQUESTS))


def _template() -> pl.Expr:
    """Hash of a question without what varies from case to case; null without a question."""
    text = pl.col("asked").str.to_lowercase().str.replace_all(_VARIABLE, "*").str.strip_chars()
    return pl.when(text != "").then(text.hash() % (1 << 32))


def _recorded_case() -> pl.Expr:
    hashes = pl.col("recorded_case").str.extract_all(r"[0-9a-f]{8}")
    return hashes.list.eval(pl.element().str.to_integer(base=16, dtype=pl.UInt32))


def _microseconds(milliseconds: pl.Expr) -> pl.Expr:
    return (milliseconds * 1000).clip(0, _MAX_US).round().cast(pl.Int64)


def _calls(
    records: pl.DataFrame, groups: pl.DataFrame, calls: CallColumns
) -> tuple[pl.DataFrame, list[_Text]]:
    """A row per call with ``index`` and ``part``; and the texts of their shapes, errors and names."""
    names = [msgspec.json.encode(part.names).decode() for part in calls.parts]
    shapes = frame_of(
        [
            (part.name, _digest(part.text), _digest(text))
            for part, text in zip(calls.parts, names, strict=True)
        ],
        {"tool": pl.String, "shape": pl.UInt64, "names": pl.UInt64},
    )
    part = pl.Series("part", calls.shapes, dtype=pl.UInt32)
    rows = shapes[part].with_columns(
        part,
        *_of_requests(records, groups),
        duration_us=pl.Series(calls.durations, dtype=pl.Float64, strict=False),
        result_bytes=pl.Series(calls.result_bytes, dtype=pl.Float64, strict=False),
    )
    errors, templates = _errors(calls.failed)
    rows = rows.with_row_index("index").with_columns(
        _microseconds(pl.col("duration_us")).alias("duration_us"),
        flagged=_marks(calls.flagged, rows.height),
        overrides=_marks(calls.overridden, rows.height),
    )
    rows = rows.join(errors, on="index", how="left", maintain_order="left").with_columns(
        pl.col("error_class").fill_null(""), pl.col("template").fill_null(0)
    )
    unknown = frame_of(calls.unknown, {"index": pl.UInt32, "unknown": pl.String})
    rows = rows.join(unknown, on="index", how="left", maintain_order="left")
    texts = [("call", _digest(part.text), part.text) for part in calls.parts]
    texts += [("names", _digest(text), text) for text in set(names)]
    return _with_retries(rows), [*texts, *templates]


def _marks(indexes: Sequence[int], n: int) -> pl.Series:
    return pl.int_range(n, dtype=pl.UInt32, eager=True).is_in(pl.Series(indexes, dtype=pl.UInt32).implode())


def _with_retries(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls with ``retry`` and ``recovered``; only requests with a failed call are looked at."""
    failed = pl.col("error_class") != ""
    same = ("offset", "tool")
    rows = calls.lazy().filter(pl.col("unknown").is_null()).select("index", *same, failed=failed)
    rows = rows.join(rows.filter("failed").select(same).unique(), on=same, how="semi", maintain_order="left")
    retry, recovered = retries(same)
    found = rows.select("index", retry=retry, recovered=recovered).collect()
    joined = calls.join(found, on="index", how="left", maintain_order="left")
    return joined.with_columns(pl.col("retry").fill_null(False))


def retries(same: Sequence[str]) -> tuple[pl.Expr, pl.Expr]:
    """Whether a call is a retry, and whether it was recovered, of rows with ``failed``.

    ``same`` are the columns that calls of one tool in one request have in common.
    """
    failed, ok = pl.col("failed"), ~pl.col("failed")
    retry = (failed.cum_sum() - failed).over(same) > 0
    return retry, pl.when("failed").then(ok.cum_sum(reverse=True).over(same) > 0)


def _of_requests(records: pl.DataFrame, groups: pl.DataFrame) -> list[pl.Series]:
    """Time, offset and provider of the request of each call, and its place in the request."""
    n_calls = records["n_calls"].cast(pl.Int64)
    repeated = (
        records.select(row=pl.int_range(pl.len(), dtype=pl.UInt32), first=n_calls.cum_sum() - n_calls)
        .select(pl.all().repeat_by(n_calls).explode())
        .drop_nulls()
    )
    row = repeated["row"]
    place = pl.int_range(row.len(), eager=True) - repeated["first"]
    provider = groups["provider"].gather(records["group"].gather(row))
    return [records["ts_us"].gather(row), records["offset"].gather(row), provider, place.alias("call")]


def _errors(
    failed: Sequence[tuple[int, str, Mapping[str, msgspec.Raw]]],
) -> tuple[pl.DataFrame, list[_Text]]:
    """The class and the template of each failed call's error; and the templates."""
    rows = []
    for index, error, args in failed:
        masked = without_own_values(error, args)
        name, text = _classify(masked.text if "429" in masked.text else masked.text.translate(_ALIKE))
        rows.append((index, name, masked.filled(text)))
    hashes = {text: _digest(text) for _, _, text in rows}
    schema = {"index": pl.UInt32, "error_class": pl.String, "template": pl.UInt64}
    errors = frame_of([(index, name, hashes[text]) for index, name, text in rows], schema)
    return errors, [("template", number, text) for text, number in hashes.items()]


@lru_cache(maxsize=8192)  # the same errors recur every day
def _classify(error: str) -> tuple[str, str]:
    return error_class(error), general(error)


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
