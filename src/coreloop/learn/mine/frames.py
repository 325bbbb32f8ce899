"""A window's requests as polars frames; nothing is converted request by request.

polars takes a tenth of a second to import, so that only what aggregates imports this module.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import polars as pl

from coreloop.learn.mine.requests import CODES, Requests, Steps, Table, picked
from coreloop.observe.reading.outcome import RequestOutcome

IS_COUNTED: Final = pl.col("outcome") >= int(RequestOutcome.FAILURE)
IS_FAILURE: Final = pl.col("outcome") == int(RequestOutcome.FAILURE)
IS_SUCCESS: Final = pl.col("outcome") == int(RequestOutcome.SUCCESS)
_TYPES: Final = {"b": pl.Int8, "H": pl.UInt16, "i": pl.Int32, "I": pl.UInt32, "q": pl.Int64, "Q": pl.UInt64}
_COLUMNS: Final = ("us", "at", "session", "question", "length", "spent", "outcome", "signals")
_GROUPS: Final[dict[str, Any]] = {
    "group": pl.UInt32,  # place among the window's
    "pattern": pl.UInt32,  # number of its category and sequence
    "shape": pl.String,  # of the steps; empty: calls were omitted
}
_PATTERNS: Final[dict[str, Any]] = {"pattern": pl.UInt32, "category": pl.String, "sequence": pl.String}
_FAILED: Final[dict[str, Any]] = {
    "group": pl.UInt32,
    "place": pl.UInt32,  # among the failed calls of a request
    "tool": pl.String,
    "shape": pl.String,
    "template": pl.String,  # of the cause
    "error_class": pl.String,
    "first": pl.UInt32,  # where the durations of its file begin
}


class Frames:
    """The requests of a window, their groups and patterns, and their failed calls.

    Parameters
    ----------
    requests : sequence of Requests
        The window's.
    steps : callable
        What the successful calls of some requests are.
    causes : mapping of (str, str) to str
        By tool and template.
    """

    def __init__(
        self,
        requests: Sequence[Requests],
        steps: Callable[[Requests], Steps],
        causes: Mapping[tuple[str, str], str],
    ) -> None:
        self._requests, self._steps, self._causes = requests, steps, causes

    @cached_property
    def patterns(self) -> pl.DataFrame:
        """A row per category and sequence: `_PATTERNS`."""
        rows = [(number, *named) for named, number in self._numbers.items()]
        return pl.DataFrame(rows, _PATTERNS, orient="row")

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], int]:
        named = {(group.alike.category, self._steps(group).sequence) for group in self._requests}
        return {one: number for number, one in enumerate(sorted(named))}

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row per group: `_GROUPS`."""
        steps = list(map(self._steps, self._requests))
        categories = (group.alike.category for group in self._requests)
        patterns = [self._numbers[one, its.sequence] for one, its in zip(categories, steps, strict=True)]
        columns = (range(len(steps)), patterns, [its.shape for its in steps])
        return pl.DataFrame(dict(zip(_GROUPS, columns, strict=True)), _GROUPS)

    @cached_property
    def requests(self) -> pl.DataFrame:
        """A row per request: its ``group``, ``file``, ``pattern``, and `_COLUMNS`."""
        rows = requests_frame(self._requests, *_COLUMNS)
        return rows.with_columns(pattern=self.groups["pattern"].gather(rows["group"]))

    @cached_property
    def failed_calls(self) -> pl.DataFrame:
        """A row per failed call: that of its request, what `_FAILED` says, and ``duration_us``."""
        durations, firsts, kinds = array("q"), dict[int, int](), list[tuple[Any, ...]]()
        for number, group in enumerate(self._requests):
            failed = group.failed
            if failed and id(group.durations) not in firsts:
                firsts[id(group.durations)] = len(durations)
                durations += group.durations
            for place, call in enumerate(failed):
                cause = self._causes[call.tool, call.template]
                first = firsts[id(group.durations)]
                kinds.append((number, place, call.tool, call.shape, cause, call.error_class, first))
        rows = self.requests.join(pl.DataFrame(kinds, _FAILED, orient="row"), on="group")
        took = pl.Series(durations, dtype=pl.Int64).gather(rows["first"] + rows["spent"] + rows["place"])
        return rows.with_columns(duration_us=took)


def requests_frame(groups: Iterable[Requests], *names: str) -> pl.DataFrame:
    """A row per request: its ``group``'s place, its ``file``, and columns of its table."""
    groups = list(groups)
    sizes = pl.DataFrame(
        {"group": range(len(groups)), "file": [one.file for one in groups], "n": [one.n for one in groups]},
        {"group": pl.UInt32, "file": pl.UInt32, "n": pl.UInt32},
    )
    spans = list(_spans(groups))
    rows = sizes.select(pl.col("group", "file").repeat_by("n").explode())
    return rows.with_columns(_column(spans, name) for name in names)


def _column(spans: Iterable[tuple[Table, Sequence[int]]], name: str) -> pl.Series:
    numbers = array(CODES[name])
    for table, rows in spans:
        numbers += picked(table[name], rows)
    return pl.Series(name, numbers, dtype=_TYPES[numbers.typecode])


def _spans(groups: Iterable[Requests]) -> Iterator[tuple[Table, Sequence[int]]]:
    """The tables and the rows of groups; rows that follow each other are one range."""
    table: Table | None = None
    start = stop = 0
    for group in groups:
        rows = group.rows
        if type(rows) is range and group.table is table and rows.start == stop:
            stop = rows.stop
            continue
        if table is not None:
            yield table, range(start, stop)
        table = None
        if type(rows) is range:
            table, start, stop = group.table, rows.start, rows.stop
        else:
            yield group.table, rows
    if table is not None:
        yield table, range(start, stop)
