"""The facts of some days: their requests with an outcome, their calls with a cause, and sums of both."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.error_classes import BITS
from coreloop.base.records import digest64
from coreloop.learn.facts.read_lines import EPOCH_DAY, FileFacts, MineSettings, count_days
from coreloop.learn.facts.schema import DAY_US, KEY, NAMES, Facts, as_int, frame_of, merge_facts, texts_of
from coreloop.learn.mine.causes import causes
from coreloop.learn.mine.joined_calls import join_sessions
from coreloop.observe.reading.decode import BYTE_ORDER_MARK, EPOCH, RecordLine, decode_line
from coreloop.observe.reading.outcome import BY_VERDICT, LOW_CHUNK_LEN, RequestOutcome, Unseen

IS_COUNTED: Final = pl.col("outcome") >= int(RequestOutcome.FAILURE)
IS_SUCCESS: Final = pl.col("outcome") == int(RequestOutcome.SUCCESS)
IS_FAILURE: Final = pl.col("outcome") == int(RequestOutcome.FAILURE)
IS_FAILED: Final = pl.col("error_class") != ""
"""Of a call."""
_ERROR: Final = ("tool", "template")
_CAUSES: Final = {"tool": pl.String, "template": pl.UInt64, "cause": pl.UInt64, "text": pl.String}
EVERY_DAY: Final = Days(date.min, date.max)


@dataclass(frozen=True)
class Window:
    """The facts of some days.

    Attributes
    ----------
    files : sequence of FileFacts
        The files with records of the days.
    days : Days
        The days.
    paths : tuple of Path
        The files that were mined; ``file`` in the tables is the index of one.
    facts : Facts
        Of these files, without requests that coreloop made itself; calls of sessions are joined.
    settings : MineSettings
        How requests count.
    n_by_day : mapping of int to int
        Records of these files by day (days since 1970).
    """

    files: Sequence[FileFacts]
    days: Days
    paths: tuple[Path, ...]
    facts: Facts
    settings: MineSettings
    n_by_day: Mapping[int, int]

    def all_requests(self) -> pl.LazyFrame:
        """`REQUESTS` of the days, with ``outcome``."""
        return count_requests(self.facts, self.settings).filter(self.in_days())

    def all_calls(self) -> pl.LazyFrame:
        """The known `CALLS` of the days, with templates as recorded: only they count in rates."""
        return self.facts.calls.filter(IS_FAILED | pl.col("unknown").is_null(), self.in_days())

    def with_causes(self, calls: pl.LazyFrame) -> pl.LazyFrame:
        """Calls whose ``template`` is that of their cause, see `coreloop.learn.mine.causes`."""
        joined = calls.join(self._causes.lazy(), on=_ERROR, how="left", maintain_order="left")
        return joined.with_columns(template=pl.coalesce("cause", "template")).drop("cause", "text")

    @cached_property
    def _causes(self) -> pl.DataFrame:
        """The ``cause`` (hash and ``text``) of each tool's templates."""
        failed = self.all_calls().filter(pl.col("template") != 0).group_by(_ERROR).len().collect()
        texts = texts_of(self._texts, "template", failed["template"])
        counts = {(tool, texts[number]): n for tool, number, n in failed.iter_rows()}
        lists = self._texts.filter(pl.col("kind") == "names").collect()["text"]
        by_error = causes(counts, chain.from_iterable(map(json.loads, lists)))
        rows = [
            (tool, number, by_error[tool, texts[number]])
            for tool, number in failed.select(_ERROR).iter_rows()
        ]
        return frame_of([(tool, number, digest64(text), text) for tool, number, text in rows], _CAUSES)

    @cached_property
    def _texts(self) -> pl.LazyFrame:
        return self.facts.texts.collect().lazy()

    def in_days(self) -> pl.Expr:
        """Whether a row's ``ts_us`` is in the days."""
        since, until = _numbers_of(self.days)
        return pl.col("ts_us").is_between(since * DAY_US, (until + 1) * DAY_US, closed="left")

    def n_records(self) -> int:
        """Records in the window, including neutral records."""
        return self.records_by_day().total()

    def recorded(self) -> Days:
        """From the first to the last day in the window that has a record; without any, the window."""
        days = self.records_by_day()
        return Days(min(days), max(days)) if days else self.days

    def records_by_day(self) -> Counter[date]:
        """Records of each day in the window that has any, including neutral records."""
        since, until = _numbers_of(self.days)
        of_days = {day: n for day, n in self.n_by_day.items() if since <= day <= until}
        return Counter({EPOCH_DAY + timedelta(days=day): n for day, n in of_days.items()})

    def n_neutral(self) -> int:
        """Requests in the window that count neither as success nor as failure, although both are known."""
        return self._n_of(RequestOutcome.NEUTRAL)

    def _n_of(self, outcome: RequestOutcome) -> int:
        of_outcome = self.all_requests().filter(pl.col("outcome") == int(outcome))
        return int(of_outcome.select(pl.len()).collect().item())

    @cached_property
    def unknown_calls(self) -> pl.DataFrame:
        """Calls of the days of which it is unknown whether they worked: tool, unknown (why) and n."""
        rows = self.facts.calls.filter(~IS_FAILED, pl.col("unknown").is_not_null(), self.in_days())
        return rows.group_by("tool", "unknown").agg(n=pl.len()).sort("tool", "unknown").collect()

    def unseen(self) -> Unseen:
        """What the records of the days do not say."""
        totals = self.all_requests().select(pl.len(), pl.col("omitted", "undated").sum().cast(pl.UInt32))
        n_requests, omitted, undated = totals.collect().row(0)
        rows = self.facts.calls.filter(pl.col("unknown").is_not_null(), self.in_days())
        calls = dict(rows.group_by("unknown").agg(pl.len()).sort("unknown").collect().iter_rows())
        return Unseen.of(n_requests, omitted, self._n_of(RequestOutcome.UNKNOWN), calls, undated)

    def texts_of(self, kind: str, hashes: Iterable[int]) -> dict[int, str]:
        """Texts of one kind by their hash, of templates also those of causes; unknown hashes are left out."""
        of_causes = self._causes.select("cause", "text").iter_rows() if kind == "template" else ()
        return texts_of(self._texts, kind, hashes) | dict(of_causes)

    def question_texts(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Texts of the questions of some lines, by file and offset; those that are gone are left out."""
        found = {}
        for file, group in groupby(sorted(set(places)), key=itemgetter(0)):
            with suppress(OSError), self.paths[file].open("rb") as opened:
                for place in group:
                    opened.seek(place[1])
                    line = decode_line(opened.readline().removeprefix(BYTE_ORDER_MARK))
                    if isinstance(line, RecordLine):
                        found[place] = line.fields.question or ""
        return found


def merge(files: Sequence[FileFacts], days: Days) -> Window:
    """The facts of different files without the records of other days."""
    since, until = _numbers_of(days)
    paths, settings = tuple(file.path for file in files), files[0].settings if files else MineSettings()
    numbered = [
        (number, file) for number, file in enumerate(files) if any(since <= day <= until for day in file.days)
    ]
    facts = _without_replays(_joined(numbered), settings)
    n_by_day = Counter[int]()
    for of_file in count_days(facts.requests).values():
        n_by_day.update(of_file)
    joined = join_sessions(facts, settings.verdicts)
    return Window([file for _, file in numbered], days, paths, joined, settings, n_by_day)


def _joined(files: Sequence[tuple[int, FileFacts]]) -> Facts:
    """The tables of files, with the given numbers: a plan for each file takes twice the time."""
    shared: defaultdict[int, list[tuple[int, FileFacts]]] = defaultdict(list)
    for number, file in files:
        shared[id(file.facts)].append((number, file))
    return merge_facts(_numbered(part) for part in shared.values())


def _numbered(files: Sequence[tuple[int, FileFacts]]) -> Facts:
    """The tables that some files share, with other numbers of the files, and without those of others."""
    facts = files[0][1].facts
    numbers = {file.number: number for number, file in files}
    file = pl.col("file").replace_strict(numbers, default=None, return_dtype=pl.UInt32)
    tables = {name: getattr(facts, name).with_columns(file) for name in NAMES if name != "texts"}
    return replace(facts, **{name: table.drop_nulls("file") for name, table in tables.items()})


def _without_replays(facts: Facts, settings: MineSettings) -> Facts:
    """Facts without the requests that coreloop made itself, for servers that do not record their origin."""
    if not settings.replayed:
        return facts
    own = facts.requests.filter(pl.col("id").is_in([*map(as_int, settings.replayed)])).select(KEY)
    tables = {name: getattr(facts, name).join(own, on=KEY, how="anti") for name in ("requests", "calls")}
    return replace(facts, **tables)


def count_requests(facts: Facts, settings: MineSettings) -> pl.LazyFrame:
    """The requests that count, each with its ``outcome``; ``signals`` only of failures.

    See `coreloop.observe.reading.outcome` for what decides; a request that was handed over to a human is
    neutral, unless there is a verdict.
    """
    requests = facts.requests
    outcome = pl.coalesce("decided", _by_length(settings.min_chunk_len))
    if settings.handoff:
        handed = facts.calls.filter(pl.col("tool").is_in(sorted(settings.handoff))).select(KEY).unique()
        requests = requests.join(handed.with_columns(handed=True), on=KEY, how="left", maintain_order="left")
        is_handed = pl.col("handed").fill_null(False) & ~pl.col("judged")
        outcome = pl.when(is_handed).then(int(RequestOutcome.NEUTRAL)).otherwise(outcome)
    if settings.verdicts:
        outcome = pl.coalesce(_by_verdict(settings.verdicts), outcome)
    short = (
        pl.when(_is_short(settings.min_chunk_len).fill_null(False)).then(BITS["chunk_len_low"]).otherwise(0)
    )
    signals = pl.when(IS_FAILURE).then(pl.col("signals") | short.cast(pl.UInt16)).otherwise(0)
    return requests.with_columns(outcome=outcome.cast(pl.Int8)).with_columns(signals=signals.cast(pl.UInt16))


def _by_verdict(verdicts: Mapping[str, str]) -> pl.Expr:
    by_id = {
        as_int(request): int(BY_VERDICT[mark]) for request, mark in verdicts.items() if mark in BY_VERDICT
    }
    if not by_id:
        return pl.lit(None, pl.Int8)
    return pl.col("id").replace_strict(by_id, default=None, return_dtype=pl.Int8)


def _by_length(min_chunk_len: int | None) -> pl.Expr:
    """The outcome of an answer by its length.

    One of at least ``min_chunk_len`` characters is complete, one below ``min(LOW_CHUNK_LEN, min_chunk_len)``
    fails, and one in between is neutral. Without the setting, an empty answer fails and any other is
    complete. An answer of unknown length is complete.
    """
    length = pl.col("chunk_len")
    enough = length > 0 if min_chunk_len is None else length >= min_chunk_len
    short = pl.when(_is_short(min_chunk_len)).then(int(RequestOutcome.FAILURE))
    return (
        pl.when(length.is_null() | enough)
        .then(int(RequestOutcome.SUCCESS))
        .otherwise(short.otherwise(int(RequestOutcome.NEUTRAL)))
    )


def _is_short(min_chunk_len: int | None) -> pl.Expr:
    length = pl.col("chunk_len")
    return length <= 0 if min_chunk_len is None else length < min(LOW_CHUNK_LEN, min_chunk_len)


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    return EPOCH + timedelta(microseconds=microseconds)


def _numbers_of(days: Days) -> tuple[int, int]:
    """The first and the last day since 1970."""
    return (days.since - EPOCH_DAY).days, (days.until - EPOCH_DAY).days


def count_calls(window: Window) -> pl.DataFrame:
    """Count a window's calls: tool, day (since 1970), n_failed and n."""
    day = pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32)
    counts = window.all_calls().group_by("tool", day=day).agg(n_failed=IS_FAILED.sum(), n=pl.len())
    return counts.sort("tool", "day").collect()


def count_sources(window: Window) -> pl.DataFrame:
    """Count where arguments' values came from: tool, name, sources (hash) and n."""
    by = ("tool", "name", "sources")
    is_value = pl.col("sources").is_not_null() & ~pl.col("kind").is_in(["null", "empty"])
    calls = window.facts.calls.filter(window.in_days())
    rows = window.facts.arguments.filter(is_value).join(calls, on=(*KEY, "call"))
    return rows.group_by(by).agg(n=pl.len()).sort(by).collect()


def draw_number() -> pl.Expr:
    """A request's number in a draw: the same whatever else is in the window."""
    return pl.struct("ts_us", "offset").hash()
