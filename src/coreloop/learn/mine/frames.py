"""A window's requests as polars frames; nothing is converted request by request.

polars takes a tenth of a second to import, so that only what aggregates imports this module.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
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
_GROUPS: Final[dict[str, Any]] = dict.fromkeys(("category", "sequence", "shape"), pl.String)
_FAILED: Final[dict[str, Any]] = {
    **dict.fromkeys(("group", "first", "place"), pl.UInt32),
    **dict.fromkeys(("tool", "shape", "template", "error_class"), pl.String),
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
    def groups(self) -> pl.DataFrame:
        """A row per group: its ``group``, `_GROUPS`, and ``pattern``, a number of its category and sequence.

        ``shape`` is that of its steps; it is empty if calls were omitted.
        """
        steps = list(map(self._steps, self._requests))
        categories = [group.alike.category for group in self._requests]
        columns = (categories, [its.sequence for its in steps], [its.shape for its in steps])
        groups = pl.DataFrame(columns, _GROUPS).with_row_index("group")
        return groups.with_columns(pattern=pl.struct("category", "sequence").rank("dense"))

    @property
    def patterns(self) -> pl.DataFrame:
        """A row per category and sequence."""
        return self.groups.select("pattern", "category", "sequence").unique()

    @cached_property
    def requests(self) -> pl.DataFrame:
        """A row per request: its ``group``, ``file``, ``pattern``, and `_COLUMNS`."""
        rows = requests_frame(self._requests, *_COLUMNS)
        return rows.with_columns(pattern=self.groups["pattern"].gather(rows["group"]))

    @cached_property
    def failed_calls(self) -> pl.DataFrame:
        """A row per failed call: that of its request, what `_FAILED` says, and ``duration_us``.

        ``first`` is where the durations of its file begin, ``place`` its own among the failed calls of the
        request, ``template`` that of the cause.
        """
        durations, firsts, kinds = array("q"), dict[int, int](), list[tuple[Any, ...]]()
        for number, group in enumerate(self._requests):
            failed = group.failed
            if failed and id(group.durations) not in firsts:
                firsts[id(group.durations)] = len(durations)
                durations += group.durations
            for place, call in enumerate(failed):
                cause = self._causes[call.tool, call.template]
                first = firsts[id(group.durations)]
                kinds.append((number, first, place, call.tool, call.shape, cause, call.error_class))
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
    spans = _spans(groups)
    rows = sizes.select(pl.col("group", "file").repeat_by("n").explode())
    return rows.with_columns(_column(spans, name) for name in names)


def _column(spans: Iterable[tuple[Table, Sequence[int]]], name: str) -> pl.Series:
    numbers = array(CODES[name])
    for table, rows in spans:
        numbers += picked(table[name], rows)
    return pl.Series(name, numbers, dtype=_TYPES[numbers.typecode])


def _spans(groups: Iterable[Requests]) -> list[tuple[Table, Sequence[int]]]:
    """The tables and the rows of groups; rows that follow each other are one range."""
    spans: list[tuple[Table, Sequence[int]]] = []
    for one in groups:
        rows = one.rows
        table, last = spans[-1] if spans else (None, ())
        if (
            table is one.table
            and isinstance(rows, range)
            and isinstance(last, range)
            and last.stop == rows.start
        ):
            spans.pop()
            rows = range(last.start, rows.stop)
        spans.append((one.table, rows))
    return spans
