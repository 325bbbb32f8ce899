"""The units of a log: a tool in a question of a session, the first time that it was sent."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from coreloop.base.error_classes import TRANSIENT
from coreloop.learn.effect.description_changes import SENT, Windows
from coreloop.learn.effect.estimate import UnitCount
from coreloop.learn.effect.named_failure import NamedFailure, fails_as, places_of
from coreloop.learn.facts.read_lines import DAY_US, NO_QUESTION
from coreloop.learn.mine.frames import IS_FAILURE, requests_frame
from coreloop.learn.mine.requests import Requests
from coreloop.learn.mine.window import Window
from coreloop.learn.statements.logged_calls import read_requests
from coreloop.observe.descriptions_in_force import sent_tools

Failures = Mapping[str, Mapping[str, NamedFailure]]
"""What the lines of a change name, by tool and commit."""
_MAX_REQUESTS: Final = 10_000
"""Read at a time."""
_OUTSIDE: Final = TRANSIENT | {"timeout"}
"""Classes of errors that no argument causes; such a call is no unit, neither failed nor fine."""
_HEAVY: Final = 0.10
"""Share of a period's units above which a customer is a stratum of its own, if they are `_LEAST_HEAVY`."""
_LEAST_HEAVY: Final = 10  # as many as a stratum needs before
_LEAST_WEEKEND: Final = 10  # the same: fewer would all be left out
_TEXTS: Final = dict.fromkeys(("model", "tool", "version"), pl.String)
_FLAGS: Final = dict.fromkeys(("failed", "repaired", "is_unit"), pl.Boolean)
_SCHEMA: Final[dict[str, Any]] = {"group": pl.UInt32, "day": pl.Int64, **_TEXTS, **_FLAGS}


class Log(NamedTuple):
    """The units of a window.

    Attributes
    ----------
    sent : DataFrame
        What models were sent, by ``tool``, ``day`` and ``version``: the description's hash after `SENT`, else
        the version of the tools, else an empty text; ``us``: when first on that day.
    units : DataFrame
        A row each: its ``row`` among the requests, ``tool``, ``day``, ``version``, ``case``, ``model``, and
        whether it ``failed``, was ``repaired`` by a later call, and was ``lost``.
    against : mapping of (str, str) to set of int
        By commit and tool of a change, the rows whose call is against its lines.
    """

    sent: pl.DataFrame
    units: pl.DataFrame
    against: Mapping[tuple[str, str], set[int]]

    def of(self, tools: Collection[str], days: Collection[int]) -> pl.DataFrame:
        """The units of some tools and days."""
        return self.units.filter(pl.col("tool").is_in(list(tools)), pl.col("day").is_in(list(days)))

    def arms(self, tools: Collection[str], tool: str, windows: Windows) -> list[pl.DataFrame]:
        """The units of tools in sessions with one of the tool's old texts, and in those with the new one."""
        units = self.of(tools, windows.after)
        kept = units.filter(pl.col("version").is_in(list(windows.old)), tool=tool)["case"].unique()
        return [units.filter(pl.col("case").is_in(kept.to_list()) == is_old) for is_old in (True, False)]


def count_units(
    periods: Sequence[pl.DataFrame], tool: str, named: Collection[int] | None, hidden: Collection[int]
) -> list[list[UnitCount]]:
    """Count the units of periods by day, session, tool and stratum.

    A stratum is a model on weekends or other days, unless the tool has few units before on either; a customer
    with more than a tenth of a period's units of the tool is one, too.

    Parameters
    ----------
    tool : str
        The changed one.
    named : collection of int or None
        Rows with the failure that its line names, if they failed; None: all failures are.
    hidden : collection of int
        Rows whose failure another line names.
    """
    own, row, failed = pl.col("tool") == tool, pl.col("row"), pl.col("failed")
    is_named = failed & own & (row.is_in(list(named)) if named is not None else True)
    is_hidden = own & row.is_in(list(hidden)) & ~is_named
    is_weekend = (pl.col("day") + 3) % 7 >= 5  # the first day of 1970 was a Thursday
    n_before = [periods[0].filter(own, is_weekend == kind).height for kind in (True, False)]
    if 0 < min(n_before) < _LEAST_WEEKEND:
        is_weekend = pl.lit(False)
    is_heavy = pl.col("case").is_in([case for units in periods for case in _heavy_cases(units.filter(own))])
    stratum = pl.concat_str("model", is_weekend, is_heavy, separator=" ")
    counts = {"n": pl.len(), "named": is_named.sum(), "failed": (failed & ~is_hidden).sum()}
    counts["lost"] = pl.col("lost").sum()
    cells = ("day", "case", "tool")
    tables = (its.group_by(*cells, stratum=stratum).agg(**counts).sort(*cells, "stratum") for its in periods)
    return [[UnitCount(*row) for row in table.iter_rows()] for table in tables]


def _heavy_cases(units: pl.DataFrame) -> list[int]:
    least = max(_HEAVY * units.height, _LEAST_HEAVY)
    return units["case"].value_counts().filter(pl.col("count") > least)["case"].to_list()


def new_model(before: pl.DataFrame, after: pl.DataFrame) -> int | None:
    """The first day of a model that had no units before."""
    new = after.filter(~pl.col("model").is_in(before["model"].unique().to_list()))
    return min(new["day"], default=None)


def read_log(window: Window, failures: Failures, *, names: Mapping[str, str], audit_dir: Path) -> Log:
    """Read the units of a window; only the first call of a tool that follows no failed one is a unit.

    Parameters
    ----------
    window : Window
        The days; requests without a date of their own are left out.
    failures : Failures
        What lines name.
    names : mapping of str to str
        Recorded names of tools -> the project's.
    audit_dir : Path
        Holds the descriptions that models were sent.
    """
    groups = [group for group in window.requests if not group.alike.is_undated]
    sets = sorted({group.alike.descriptions or "" for group in groups})
    sent = {(name, tool.name): number for name, number, tool in sent_tools(audit_dir, sets)}
    first = [
        (number, group.alike.day, group.alike.model, *call)
        for number, group in enumerate(groups)
        for call in _first_calls(group, names, sent)
    ]
    rows = pl.DataFrame(first, _SCHEMA, orient="row").join(_requests(groups), on="group")
    columns = ("row", "tool", "day", "version", "case", "model", "failed", "repaired")
    units = first_sent(rows).select(*columns, lost=IS_FAILURE)
    against = _rows_against(units, failures, groups, window, names)
    texts = rows.group_by("tool", "day", "version").agg(pl.col("us").min()).sort("day")
    return Log(texts, units, against)


def first_sent(rows: pl.DataFrame) -> pl.DataFrame:
    """The units among calls: what a session sent again is the same one."""
    sent_again = ("tool", "case", "asked", "once")
    return rows.filter("is_unit").sort("us", "row").unique(sent_again, keep="first", maintain_order=True)


def _first_calls(
    group: Requests, names: Mapping[str, str], sent: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, str, bool, bool, bool]]:
    """The tools of requests, their text, whether the first call failed, was repaired, and is a unit."""
    known = [(names.get(call.tool, call.tool), call) for call in group.calls if call.is_known]
    is_unit, tools = True, set[str]()
    for place, (tool, call) in enumerate(known):
        later = any(other.ok for name, other in known[place + 1 :] if name == tool)
        text = sent.get((group.alike.descriptions or "", call.tool))
        version = f"{SENT}{text}" if text else group.alike.tools_version or ""
        if tool not in tools:
            is_outside = call.error_class in _OUTSIDE
            yield tool, version, not call.ok, not call.ok and later, is_unit and not is_outside
        is_unit = is_unit and call.ok
        tools.add(tool)


def _requests(groups: Sequence[Requests]) -> pl.DataFrame:
    """The ``case`` of each request, what those of one piece of work share, and what it ``asked``.

    A case is the session, the identifiers, the question without what varies, the question, else the request.
    Without a session, a question that is sent again on another day is another unit.
    """
    columns = ("session", "client", "template", "question")
    frame = requests_frame(groups, *columns, "at", "us", "outcome").with_row_index("row")
    known = {name: pl.when(~pl.col(name).is_in([0, NO_QUESTION])).then(name) for name in columns}
    alone = pl.struct("file", "at").hash()
    return frame.with_columns(
        case=pl.coalesce(*known.values(), alone),
        asked=pl.coalesce(known["question"], alone),
        once=pl.when(session=0).then(pl.col("us") // DAY_US).otherwise(0),
    )


def _rows_against(
    units: pl.DataFrame,
    failures: Failures,
    groups: Iterable[Requests],
    window: Window,
    names: Mapping[str, str],
) -> dict[tuple[str, str], set[int]]:
    of_tools = {tool: set(units.filter(tool=tool)["row"]) for tool in failures}
    against = {(sha, tool): set[int]() for tool, changes in failures.items() for sha in changes}
    wanted = set[int]().union(*of_tools.values())
    requests = (one for group in groups for one in group.each())
    chosen = [(row, one) for row, one in enumerate(requests) if row in wanted] if wanted else []
    for first in range(0, len(chosen), _MAX_REQUESTS):
        rows, part = zip(*chosen[first : first + _MAX_REQUESTS], strict=True)
        for row, (request, _) in zip(rows, read_requests(window, part, names), strict=True):
            for (sha, tool), found in against.items():
                place = next(places_of(request, tool), None) if row in of_tools[tool] else None
                if place is not None and fails_as(failures[tool][sha], place):
                    found.add(row)
    return against
