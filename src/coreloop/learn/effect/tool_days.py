"""A log by tool, day and case, as queries over facts: what the periods of a change are cut from."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.learn.effect.estimate import DayCount, Stratum
from coreloop.learn.facts.descriptions import sent_tools
from coreloop.learn.facts.read_lines import FileFacts
from coreloop.learn.facts.schema import DAY_US, NO_QUESTION
from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.mine.window import EVERY_DAY, IS_COUNTED, IS_FAILURE, Window, merge
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import read_places

CALL: Final = ("file", "offset", "call")
"""What identifies a call; ``call`` is its place in the request."""
_MAX_REQUESTS: Final = 10_000
"""Read at a time."""
NamedFailure = tuple[Advice, ...]
"""The clauses against one of which a call is counted, failed or not; without any, all failures are."""
_Counts = defaultdict[int, dict[tuple[Stratum, int], tuple[int, int]]]
"""By day, then by stratum (model and category) and case: calls and failures."""
_KEYS: Final = ("tool", "day", "model", "category", "case_of")
_REQUEST: Final = ("file", "offset")


@dataclass(slots=True)
class ToolLog:
    """The calls of one tool.

    Attributes
    ----------
    calls : dict of int to dict
        By day, then by stratum and case: calls, and how many failed.
    against : dict of str to dict
        By the commit of a change, the same of the calls against its lines.
    requests : dict of int to (int, int)
        By day: requests that count, and how many of them failed.
    versions : dict of int to set of str
        By day, the hash of the description that the model was sent, else the version of the tools, else an
        empty text.
    first_us : dict of str to int
        When each hash of a description first occurred, in microseconds since 1970.
    """

    calls: _Counts = field(default_factory=lambda: defaultdict(dict))
    against: dict[str, _Counts] = field(default_factory=dict)
    requests: dict[int, tuple[int, int]] = field(default_factory=dict)
    versions: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    first_us: dict[str, int] = field(default_factory=dict)

    def cases(self, days: Collection[int]) -> set[int]:
        """The cases of some days."""
        return {case for day in days if day in self.calls for _, case in self.calls[day]}

    def by_day(self, commit: str = "") -> dict[int, tuple[int, int]]:
        """Calls and failures of each day: all, or those against the lines of a change."""
        counts = self.against[commit] if commit else self.calls
        return {
            day: (sum(n for n, _ in of_day.values()), sum(failed for _, failed in of_day.values()))
            for day, of_day in counts.items()
        }

    def count(self, days: Collection[int], commit: str = "") -> list[DayCount]:
        """Count the calls of some days by day; failures are all, or those against the lines of a change.

        A case counts at its first day.
        """
        strata: defaultdict[int, defaultdict[Stratum, list[int]]] = defaultdict(
            lambda: defaultdict(lambda: [0, 0])
        )
        cases: dict[int, list[int]] = {}
        for day in sorted(self.calls.keys() & set(days)):
            named = self.against[commit].get(day, {}) if commit else self.calls[day]
            for key, (n, _) in self.calls[day].items():
                stratum, case = key
                failed = named.get(key, (0, 0))[1]
                for counts in (strata[day][stratum], cases.setdefault(case, [0, 0, day])):
                    counts[0] += n
                    counts[1] += failed
        squares: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        for n, failed, day in cases.values():
            for at, value in enumerate((n * n, n * failed, failed * failed)):
                squares[day][at] += value
        return [
            DayCount(day, {stratum: (n, failed) for stratum, (n, failed) in of_day.items()}, *squares[day])
            for day, of_day in strata.items()
        ]


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
    window = merge(files, days)
    calls = window.all_calls().select(*CALL, "tool", "error_class")
    requests, calls_of = pl.collect_all([_requests(window), calls])
    return LoadedLog(window, requests, calls_of.join(requests.select(*_REQUEST, *_KEYS[1:]), on=_REQUEST))


def read_log(
    recorded: LoadedLog,
    failures: Mapping[str, Mapping[str, NamedFailure]],
    *,
    names: Mapping[str, str],
    audit_dir: Path,
) -> Log:
    """Count calls by tool.

    Parameters
    ----------
    recorded : LoadedLog
        The log.
    failures : mapping of str to mapping of str to NamedFailure
        By tool and commit of a change: what else is counted besides all failures.
    names : mapping of str to str
        Recorded names of tools -> the project's.
    audit_dir : Path
        Holds the descriptions that models were sent.
    """
    tool = pl.col("tool").replace(dict(names))
    requests, calls = recorded.requests, recorded.calls.with_columns(tool)
    log: defaultdict[str, ToolLog] = defaultdict(ToolLog)
    for name, day, key, counts in _counted(calls):
        log[name].calls[day][key] = counts
    for name in failures.keys() & log.keys():
        own = calls.filter(pl.col("tool") == name)
        against = calls_against(tuple(failures[name].values()), own, recorded.window, names)
        for commit, rows in zip(failures[name], against, strict=True):
            named = log[name].against[commit] = defaultdict(dict)
            for _, day, key, counts in _counted(rows):
                named[day][key] = counts
    pairs = calls.select(*_REQUEST, "tool").unique().join(requests, on=_REQUEST)
    sums = pairs.group_by("tool", "day").agg(pl.col("is_counted", "is_lost").sum())
    for name, day, n, n_lost in sums.iter_rows():
        log[name].requests[day] = (n, n_lost)
    sent = sent_tools(audit_dir, requests["descriptions"].drop_nulls().unique())
    _add_versions(log, pairs, sent.with_columns(tool))
    return dict(log)


def _counted(calls: pl.DataFrame) -> Iterator[tuple[str, int, tuple[Stratum, int], tuple[int, int]]]:
    """By tool, day, stratum and case: calls, and how many of them failed."""
    counts = calls.group_by(_KEYS).agg(n=pl.len(), failed=(pl.col("error_class") != "").sum())
    for tool, day, model, category, case, n, failed in counts.iter_rows():
        yield tool, day, ((model, category), case), (n, failed)


def _requests(window: Window) -> pl.LazyFrame:
    """The requests that count and have a date, with day and case."""
    dated = window.all_requests().filter(pl.col("undated").is_null())
    return dated.select(
        *_REQUEST,
        "ts_us",
        "model",
        "category",
        "descriptions",
        day=pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32),
        case_of=_case(),
        is_counted=IS_COUNTED,
        is_lost=IS_FAILURE,
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


def _add_versions(log: Mapping[str, ToolLog], pairs: pl.DataFrame, sent: pl.DataFrame) -> None:
    """What the model was sent: the hash of the description where records have it, else the version."""
    versions = pairs.join(sent, on=("descriptions", "tool"), how="left").group_by(
        "tool", "description", pl.when(pl.col("description").is_null()).then("version").alias("version")
    )
    for tool, description, version, days, first_us in versions.agg(
        pl.col("day").unique(), pl.col("ts_us").min()
    ).iter_rows():
        for day in days:
            log[tool].versions[day].add(description or version)
        if description:
            log[tool].first_us[description] = first_us


# --- The failure that a line of a description names: the calls that are against it.


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    advice = [parse_advice(line) for line in lines]
    clauses = tuple(clause for line in advice if line is not None for clause in line.clauses())
    is_complete = None not in advice and all(map(kind_of, clauses))
    return clauses if is_complete else ()


def calls_against(
    failures: Sequence[NamedFailure],
    calls: pl.DataFrame,
    window: Window,
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[pl.DataFrame]:
    """By failure, the calls that are against it; ``names`` are the project's of logged tools."""
    found: list[list[tuple[int, ...]]] = [[] for _ in failures]
    for asked in calls.select(CALL[:2]).unique(maintain_order=True).iter_slices(_MAX_REQUESTS):
        places = read_places(window, asked.lazy(), names)
        own = calls.join(asked, on=CALL[:2], how="semi").select(CALL).rows()
        for rows, failure in zip(found, failures, strict=True):
            rows += [at for at in own if not failure or any(is_against(line, places[at]) for line in failure)]
    schema = {name: calls.schema[name] for name in CALL}
    return [calls.join(pl.DataFrame(rows, schema, orient="row"), on=CALL, how="semi") for rows in found]


def places_against(
    failure: NamedFailure, tool: str, files: Sequence[FileFacts]
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    window = merge(files, EVERY_DAY)
    calls = window.all_calls().filter(pl.col("tool") == tool).select(CALL).collect()
    (against,) = calls_against([failure], calls, window)
    return frozenset(against.select(CALL[1:]).iter_rows())
