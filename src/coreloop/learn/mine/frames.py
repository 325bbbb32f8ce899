"""A window's requests as polars frames; nothing is converted request by request.

polars takes a tenth of a second to import, so that only what aggregates imports this module.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import polars as pl

from coreloop.learn.mine.requests import CODES, Requests, Steps
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
    group, file = array("I"), array("I")
    columns = {name: array(CODES[name]) for name in names}
    for number, requests in enumerate(groups):
        group += array("I", [number]) * requests.n
        file += array("I", [requests.file]) * requests.n
        for name in names:
            columns[name] += requests.column(name)
    arrays = {"group": group, "file": file, **columns}
    return pl.DataFrame({name: pl.Series(one, dtype=_TYPES[one.typecode]) for name, one in arrays.items()})
