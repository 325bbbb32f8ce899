"""Groups of requests as polars frames; nothing is converted request by request.

polars takes a fifth of a second to import, so that only what aggregates imports this module.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import polars as pl

from coreloop.learn.facts.schema import COLUMNS
from coreloop.learn.mine.requests import Requests
from coreloop.learn.mine.window import Window
from coreloop.observe.reading.outcome import RequestOutcome

IS_FAILURE: Final = pl.col("outcome") == int(RequestOutcome.FAILURE)
IS_SUCCESS: Final = pl.col("outcome") == int(RequestOutcome.SUCCESS)
_GROUPS: Final[Mapping[str, Any]] = {
    "group": pl.UInt32,  # place in the list of groups
    "pattern": pl.UInt32,  # number of the category and sequence
    "category": pl.String,
    "sequence": pl.String,
    "shape": pl.String,  # of the steps; empty: calls were omitted
    "outcome": pl.Int8,
    "signals": pl.UInt32,
    "n": pl.UInt32,
    "first_us": pl.Int64,
    "last_us": pl.Int64,
}


def groups_frame(window: Window, groups: Sequence[Requests]) -> pl.DataFrame:
    """A row per group: `_GROUPS`."""
    rows, patterns = [], dict[tuple[str, str], int]()
    for number, group in enumerate(groups):
        steps, us = window.steps(group), group.column("us")
        of_group = (group.outcome, group.signals, group.n, min(us), max(us))
        named = group.alike.category, steps.sequence
        pattern = patterns.setdefault(named, len(patterns))
        rows.append((number, pattern, *named, steps.shape, *of_group))
    columns = zip(*rows, strict=True) if rows else ((),) * len(_GROUPS)
    return pl.DataFrame(dict(zip(_GROUPS, columns, strict=True)), schema=_GROUPS)


def requests_frame(groups: Iterable[Requests], *names: str) -> pl.DataFrame:
    """A row per request: the ``group``'s place, its ``file``, and columns of `COLUMNS`."""
    columns = {name: array(COLUMNS[name]) for name in names}
    group, file = array("I"), array("I")
    for number, requests in enumerate(groups):
        for name in names:
            columns[name] += requests.column(name)
        group += array("I", [number]) * requests.n
        file += array("I", [requests.file]) * requests.n
    return _frame({"group": group, "file": file, **columns})


def failed_calls(window: Window) -> pl.DataFrame:
    """A row per failed call: tool, shape, template (its cause), error_class, file, us, at and duration_us."""
    numbers = dict[tuple[str, ...], int]()
    columns = {name: array(code) for name, code in zip(_FAILED, "IIqqq", strict=True)}
    for group in window.requests:
        failed = group.failed
        spent = group.column("spent") if failed else array("q")
        for place, call in enumerate(failed):
            kind = (call.tool, call.shape, window.causes[call.tool, call.template], call.error_class)
            number = numbers.setdefault(kind, len(numbers))
            columns["kind"] += array("I", [number]) * group.n
            columns["file"] += array("I", [group.file]) * group.n
            columns["us"] += group.column("us")
            columns["at"] += group.column("at")
            columns["duration_us"] += spent[place :: len(failed)]
    kinds = pl.DataFrame(list(numbers), schema=_KINDS, orient="row").with_row_index("kind")
    return _frame(columns).join(kinds, on="kind", how="left", maintain_order="left").drop("kind")


_KINDS: Final = dict.fromkeys(("tool", "shape", "template", "error_class"), pl.String)
_FAILED: Final = ("kind", "file", "us", "at", "duration_us")
_TYPES: Final = {"q": pl.Int64, "Q": pl.UInt64, "i": pl.Int32, "I": pl.UInt32}


def _frame(columns: Mapping[str, "array[int]"]) -> pl.DataFrame:
    """A frame of arrays, whose buffers are copied whole."""
    return pl.DataFrame(
        {name: pl.Series(column, dtype=_TYPES[column.typecode]) for name, column in columns.items()}
    )
