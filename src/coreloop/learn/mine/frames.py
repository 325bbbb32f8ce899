"""A window's requests as polars frames; nothing is converted request by request.

polars takes a tenth of a second to import, so that only what aggregates imports this module.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
_GROUPS: Final[dict[str, Any]] = {"category": pl.String, "sequence": pl.String, "shape": pl.Categorical}
_KINDS: Final = dict.fromkeys(("tool", "shape", "template", "error_class"), pl.String)
"""Of failed calls; the template is that of the cause."""


@dataclass(frozen=True, eq=False)
class Frames:
    """The requests of a window, their groups and patterns, and their failed calls.

    Attributes
    ----------
    members : sequence of Requests
        The window's.
    steps : callable
        What the successful calls of some requests are.
    causes : mapping of (str, str) to str
        By tool and template.
    """

    members: Sequence[Requests]
    steps: Callable[[Requests], Steps]
    causes: Mapping[tuple[str, str], str]

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row per group: its ``group``, `_GROUPS`, and ``pattern``, a number of its category and sequence.

        ``shape`` is JSON of its steps; null: calls were omitted.
        """
        steps = list(map(self.steps, self.members))
        categories = [group.alike.category for group in self.members]
        columns = (categories, [its.sequence for its in steps], [its.shape or None for its in steps])
        groups = pl.DataFrame(columns, _GROUPS).with_row_index("group")
        return groups.with_columns(pattern=pl.struct("category", "sequence").rank("dense"))

    @property
    def patterns(self) -> pl.LazyFrame:
        """A row per category and sequence, with its usual ``shape``; null if all requests omit calls."""
        sizes = self.requests.lazy().filter(IS_COUNTED).group_by("group").len()
        known = self.groups.lazy().filter(pl.col("shape").is_not_null()).join(sizes, on="group")
        shapes = known.group_by("pattern", "shape").agg(pl.col("len").sum())
        frequent = shapes.sort("len", "shape", descending=[True, False]).group_by("pattern").first()
        patterns = self.groups.lazy().select("pattern", "category", "sequence").unique()
        return patterns.join(frequent.drop("len"), on="pattern", how="left")

    @cached_property
    def requests(self) -> pl.DataFrame:
        """A row per request: its ``group``, ``file``, ``pattern``, and `_COLUMNS`."""
        rows = requests_frame(self.members, *_COLUMNS)
        return rows.with_columns(pattern=self.groups["pattern"].gather(rows["group"]))

    @cached_property
    def failed_calls(self) -> pl.DataFrame:
        """A row per failed call: that of its request, `_KINDS`, and ``duration_us``."""
        durations, delays = array("q"), array("q")
        firsts, kinds = dict[int, int](), dict[tuple[str, ...], int]()
        columns = {name: array("I") for name in ("group", "kind", "from")}
        for number, group in enumerate(self.members):
            failed = group.failed
            if failed and id(group.durations) not in firsts:
                firsts[id(group.durations)] = len(durations)
                durations.frombytes(group.durations.tobytes())
                of_calls = group.delays
                delays.frombytes(bytes(group.durations.nbytes) if of_calls is None else of_calls.tobytes())
            for place, call in enumerate(failed):
                kind = (call.tool, call.shape, self.causes[call.tool, call.template], call.error_class)
                columns["group"].append(number)
                columns["kind"].append(kinds.setdefault(kind, len(kinds)))
                columns["from"].append(firsts[id(group.durations)] + place)
        of_groups = pl.DataFrame({name: pl.Series(one, dtype=pl.UInt32) for name, one in columns.items()})
        named = pl.DataFrame(list(kinds), _KINDS, orient="row").with_row_index("kind")
        requests = self.requests.lazy().select("group", "file", "us", "at", "spent")
        rows = requests.join(of_groups.lazy(), on="group").collect()
        schema = {"duration_us": pl.Int64, "delay": pl.Int64}
        took = pl.DataFrame({"duration_us": durations, "delay": delays}, schema)
        rows = rows.hstack(took[rows["from"] + rows["spent"]])
        return rows.with_columns(pl.col("us") + pl.col("delay")).join(named, on="kind")


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
        numbers.frombytes(picked(table[name], rows).tobytes())
    return pl.Series(name, numbers, dtype=_TYPES[numbers.typecode])


def _spans(groups: Iterable[Requests]) -> list[tuple[Table, Sequence[int]]]:
    """The tables and the rows of groups; rows that follow each other are one range."""
    spans: list[tuple[Table, Sequence[int]]] = []
    for one in groups:
        rows = one.rows
        table, last = spans[-1] if spans else (None, ())
        if table is one.table and type(rows) is range and type(last) is range and last.stop == rows.start:
            rows = range(last.start, rows.stop)
            spans.pop()
        spans.append((one.table, rows))
    return spans
