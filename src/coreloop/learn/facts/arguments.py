"""The arguments of calls as rows, with what earlier results showed for them; and the cases they tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.records import digest64
from coreloop.learn.facts.schema import ARGUMENTS, SAW, frame_of
from coreloop.learn.facts.shapes import CallColumns
from coreloop.learn.facts.values import read_values
from coreloop.observe.case_keys import CUSTOMERS, MAX_IDENTIFIERS

_MAX_PATHS: Final = 4
"""Places of a value that are kept, the nearest first."""
_digest: Final = lru_cache(maxsize=16_384)(digest64)


@dataclass(frozen=True, slots=True)
class ReadArguments:
    """The arguments of a batch.

    Attributes
    ----------
    arguments, saw : polars.DataFrame
        The tables of these names.
    cases : polars.DataFrame
        ``offset`` and ``case``: the chosen hashes of the identifiers of each request that has any.
    texts : list
        Rows of `coreloop.learn.facts.schema.TEXTS`.
    """

    arguments: pl.DataFrame
    saw: pl.DataFrame
    cases: pl.DataFrame
    texts: list[tuple[str, int, str]]


def read_arguments(calls: pl.DataFrame, columns: CallColumns, *, case_key: bytes | None) -> ReadArguments:
    """Read the arguments of a batch.

    Parameters
    ----------
    calls : polars.DataFrame
        With offset, call (place in the request), ``part`` and ``index``.
    columns : CallColumns
        The same calls.
    case_key : bytes, optional
        Of the identifiers' hashes; without it, no cases are returned.
    """
    names = pl.Series([part.names for part in columns.parts], dtype=pl.List(pl.String))
    sources, texts = _sources(columns.places.values)
    rows = calls.select(
        "offset", "call", name=names.gather(calls["part"]), of=pl.Series(columns.sources, dtype=pl.UInt32)
    ).explode("name", empty_as_null=False)
    rows = pl.concat([rows, read_values(columns.values, case_key=case_key)], how="horizontal")
    if texts:
        rows = rows.join(sources, on=("of", "name"), how="left", maintain_order="left")
    else:
        rows = rows.with_columns(sources=pl.lit(None, pl.UInt64))
    cases = pl.DataFrame(schema={"offset": pl.UInt64, "case": pl.List(pl.UInt32)})
    if case_key is not None:
        cases = _cases(rows)
    typed = rows.select(pl.col(name).cast(kind) for name, kind in ARGUMENTS.items())
    used = set(typed["sources"].unique())  # not the sources of an argument that was not recorded
    return ReadArguments(typed, _saw(calls, columns), cases, [text for text in texts if text[1] in used])


def _sources(places: Sequence[dict[str, Sequence[str]]]) -> tuple[pl.DataFrame, list[tuple[str, int, str]]]:
    """The hash of each argument's sources by their number; and the texts."""
    rows, texts = [], {}
    for number, by_name in enumerate(places):
        for name, paths in by_name.items():
            text = msgspec.json.encode(paths[:_MAX_PATHS]).decode()
            texts[text] = _digest(text)
            rows.append((number, name, texts[text]))
    schema = {"of": pl.UInt32, "name": pl.String, "sources": pl.UInt64}
    return frame_of(rows, schema), [("sources", number, text) for text, number in texts.items()]


def _cases(arguments: pl.DataFrame) -> pl.DataFrame:
    """As `coreloop.observe.case_keys.RequestIdentifiers` chooses them."""
    each = arguments.lazy().select("offset", "call", "name", case="identifiers").explode("case")
    ranked = (
        each.drop_nulls("case")
        .with_row_index("place")
        .group_by("offset", "case")
        .agg(
            is_customer=pl.col("name").str.to_lowercase().str.contains_any(list(CUSTOMERS)).any(),
            n_calls=pl.col("call").n_unique(),
            place=pl.col("place").min(),
        )
        .sort("is_customer", "n_calls", "place", descending=[True, True, False])
    )
    chosen = ranked.group_by("offset", maintain_order=True).agg(pl.col("case").head(MAX_IDENTIFIERS))
    return chosen.collect()


def _saw(calls: pl.DataFrame, columns: CallColumns) -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for number, states in enumerate(columns.states.values):
        for argument, fields in states.items():
            rows.extend((number, argument, field, _literal(value)) for field, value in fields.items())
    schema = {"of": pl.UInt32, "argument": pl.String, "field": pl.String, "literal": pl.String}
    of_call = frame_of(columns.saw, {"index": pl.UInt32, "of": pl.UInt32})
    seen = of_call.join(frame_of(rows, schema), on="of", maintain_order="left_right")
    return seen.join(calls, on="index", maintain_order="left").select(
        pl.col(name).cast(kind) for name, kind in SAW.items()
    )


def _literal(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
