"""A log by tool, day and case, as queries over facts: what the periods of a change are cut from."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.learn.effect.day_counts import DayCount, Stratum
from coreloop.learn.effect.named_failure import (
    CALL,
    NamedFailure,
    calls_against,
)
from coreloop.learn.facts.counting import DAY_US
from coreloop.learn.facts.descriptions import sent_tools
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.mine.joined_calls import NO_QUESTION
from coreloop.learn.mine.window import EVERY_DAY, Window, window_of
from coreloop.observe.reading.outcome import RequestOutcome

_Key = tuple[Stratum, int]
"""Model and category, case."""
_KEYS: Final = ("tool", "day", "model", "category", "case_of")
_REQUEST: Final = ("file", "offset")


@dataclass(slots=True)
class RequestSums:
    """Sums over the requests of a day that call a tool; ``n_counted`` leaves out neutral ones."""

    n: int = 0
    n_counted: int = 0
    n_lost: int = 0
    n_calls: int = 0
    n_timed: int = 0
    seconds: float = 0.0
    n_metered: int = 0
    tokens: int = 0


@dataclass(slots=True)
class ToolLog:
    """The calls of one tool.

    Attributes
    ----------
    calls : dict of int to dict
        By day, then by stratum and case: calls, then failures, all and those of each named failure.
    requests : dict of int to RequestSums
        By day.
    against : dict of (int, int) to list of int
        By day and number of a named failure: calls against its lines, and how many of them failed.
    versions : dict of int to set of str
        By day, the hash of the description that the model was sent, else the version of the tools, else an
        empty text.
    first_us : dict of str to int
        When each hash of a description first occurred, in microseconds since 1970.
    """

    calls: defaultdict[int, dict[_Key, list[int]]] = field(default_factory=lambda: defaultdict(dict))
    requests: defaultdict[int, RequestSums] = field(default_factory=lambda: defaultdict(RequestSums))
    against: defaultdict[tuple[int, int], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0])
    )
    versions: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    first_us: dict[str, int] = field(default_factory=dict)

    def cases(self, days: Collection[int]) -> set[int]:
        """The cases of some days."""
        return {case for day in days if day in self.calls for _, case in self.calls[day]}

    def n_failed(self, days: Collection[int]) -> int:
        """All failures of some days."""
        return sum(counts[1] for day in days if day in self.calls for counts in self.calls[day].values())

    def count(self, days: Collection[int], *, failure: int = 0) -> list[DayCount]:
        """Count the calls of some days by day, for one of the failures; a case counts at its first day."""
        strata: defaultdict[int, dict[Stratum, tuple[int, int]]] = defaultdict(dict)
        cases: dict[int, tuple[int, int, int]] = {}
        rows = (
            (day, key, counts)
            for day in sorted(days)
            if day in self.calls
            for key, counts in self.calls[day].items()
        )
        for day, (stratum, case), counts in rows:
            n, failed = counts[0], counts[1 + failure]
            earlier = strata[day].get(stratum, (0, 0))
            strata[day][stratum] = (earlier[0] + n, earlier[1] + failed)
            first, case_n, case_failed = cases.get(case, (day, 0, 0))
            cases[case] = (first, case_n + n, case_failed + failed)
        squares: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        for day, n, failed in cases.values():
            for at, value in enumerate((n * n, n * failed, failed * failed)):
                squares[day][at] += value
        return [DayCount(day, strata[day], *squares[day]) for day in sorted(strata)]


Log = Mapping[str, ToolLog]
"""The calls by tool, as the project names it."""


@dataclass(frozen=True, slots=True)
class LoadedLog:
    """The requests and calls of a log, in memory.

    Attributes
    ----------
    window : Window
        Has the arguments.
    requests : polars.DataFrame
        A row per request that counts.
    calls : polars.DataFrame
        `CALL`, ``tool`` as recorded, ``error_class``, and what groups are counted by, of its request.
    """

    window: Window
    requests: pl.DataFrame
    calls: pl.DataFrame

    @property
    def tools(self) -> frozenset[str]:
        """The names of all called tools, as recorded."""
        return frozenset(self.calls["tool"].unique())


def read_recorded(files: Sequence[FileFacts], days: Days = EVERY_DAY) -> LoadedLog:
    """Read the requests and calls of some days."""
    window = window_of(files, days).with_sessions()
    calls = window.all_calls().select(*CALL, "tool", "error_class")
    requests, calls_of = pl.collect_all([_requests(window), calls])
    return LoadedLog(window, requests, calls_of.join(requests.select(*_REQUEST, *_KEYS[1:]), on=_REQUEST))


def read_log(
    recorded: LoadedLog,
    failures: Mapping[str, Sequence[NamedFailure]],
    *,
    names: Mapping[str, str],
    audit_dir: Path,
) -> Log:
    """Count calls by tool.

    Parameters
    ----------
    recorded : LoadedLog
        The log.
    failures : mapping of str to sequence of NamedFailure
        By tool: what else is counted besides all failures.
    names : mapping of str to str
        Recorded names of tools -> the project's.
    audit_dir : Path
        Holds the descriptions that models were sent.
    """
    tool = pl.col("tool").replace(dict(names))
    requests, calls = recorded.requests, recorded.calls.with_columns(tool)
    log: defaultdict[str, ToolLog] = defaultdict(ToolLog)
    counts = calls.group_by(_KEYS).agg(n=pl.len(), failed=(pl.col("error_class") != "").sum())
    for name, day, model, category, case, n, failed in counts.iter_rows():
        named = len(failures.get(name, ()))
        log[name].calls[day][(model, category), case] = [n, failed, *[0] * named]
    wanted = [name for name in failures if name in log]
    for name in wanted:
        own = calls.filter(pl.col("tool") == name)
        _add_named(log[name], calls_against(failures[name], own, recorded.window, names))
    pairs = _add_requests(log, calls.lazy(), requests)
    sent = sent_tools(audit_dir, requests["descriptions"].drop_nulls().unique())
    _add_versions(log, pairs, sent.lazy().with_columns(tool))
    return dict(log)


def _requests(window: Window) -> pl.LazyFrame:
    """The requests that count, with day, case and what a request used."""
    outcome = pl.col("outcome")
    return window.all_requests().select(
        *_REQUEST,
        "ts_us",
        "model",
        "category",
        "descriptions",
        day=pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32),
        case_of=_case(),
        is_counted=outcome >= int(RequestOutcome.FAILURE),
        is_lost=outcome == int(RequestOutcome.FAILURE),
        seconds=pl.col("duration_us") / 1e6,
        tokens=pl.col("input_tokens") + pl.col("output_tokens"),
        version=pl.col("tools_version").fill_null(""),
    )


def _case() -> pl.Expr:
    """What requests of one piece of work share: session, identifiers, question; else the request itself."""
    return pl.coalesce(
        pl.when(pl.col("session") != 0).then("session"),
        pl.when(pl.col("case").is_not_null()).then(
            pl.col("case").cast(pl.List(pl.String)).list.join(",").hash()
        ),
        pl.col("template"),
        pl.when(pl.col("question") != NO_QUESTION).then("question"),
        pl.struct("file", "offset").hash(),
    )


def _add_named(log: ToolLog, named: Sequence[pl.DataFrame]) -> None:
    failed = pl.col("error_class") != ""
    for at, against in enumerate(named, start=1):
        counts = against.group_by(_KEYS).agg(n=pl.len(), failed=failed.sum())
        for _, day, model, category, case, n, n_failed in counts.iter_rows():
            log.calls[day][(model, category), case][1 + at] = n_failed
            sums = log.against[day, at]
            sums[0] += n
            sums[1] += n_failed


def _add_requests(log: dict[str, ToolLog], calls: pl.LazyFrame, requests: pl.DataFrame) -> pl.LazyFrame:
    """Add the requests of each tool, and return them: a row per request and tool."""
    by_request = calls.group_by(*_REQUEST, "tool").agg(of_tool=pl.len())
    pairs = by_request.with_columns(n_calls=pl.col("of_tool").sum().over(_REQUEST))
    pairs = pairs.join(requests.lazy(), on=_REQUEST).collect().lazy()
    sums = pairs.group_by("tool", "day").agg(
        pl.len(),
        pl.col("is_counted", "is_lost", "n_calls").sum(),
        pl.col("seconds").count().alias("n_timed"),
        pl.col("seconds").sum(),
        pl.col("tokens").count().alias("n_metered"),
        pl.col("tokens").sum(),
    )
    for tool, day, *values in sums.collect().iter_rows():
        log[tool].requests[day] = RequestSums(*values)
    return pairs


def _add_versions(log: dict[str, ToolLog], pairs: pl.LazyFrame, sent: pl.LazyFrame) -> None:
    """What the model was sent: the hash of the description where records have it, else the version."""
    versions = pairs.join(sent, on=("descriptions", "tool"), how="left").group_by(
        "tool", "description", pl.when(pl.col("description").is_null()).then("version").alias("version")
    )
    for tool, description, version, days, first_us in (
        versions.agg(pl.col("day").unique(), pl.col("ts_us").min()).collect().iter_rows()
    ):
        for day in days:
            log[tool].versions[day].add(description or version)
        if description:
            log[tool].first_us[description] = first_us
