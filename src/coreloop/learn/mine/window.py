"""The facts of many files -> the groups of a window of days, and queries over them."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.records import digest64
from coreloop.learn.facts.columns import NO_SEQUENCE
from coreloop.learn.facts.counting import (
    CALL_GROUPS,
    DAY_US,
    GROUPS,
    MineSettings,
    count_requests,
    count_unknown,
    group_calls,
    group_requests,
    known_calls,
)
from coreloop.learn.facts.file import EPOCH_DAY, FileFacts
from coreloop.learn.facts.schema import (
    ARGUMENTS,
    CALLS,
    NAMES,
    REQUESTS,
    SAW,
    TEXTS,
    Facts,
    concatenate,
    frame_of,
)
from coreloop.learn.mine.causes import causes
from coreloop.learn.mine.joined_calls import KEY, Sessions, find_sessions
from coreloop.observe.reading.decode import BYTE_ORDER_MARK, Question, decode_question
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

_BATCH_ROWS: Final = 50_000
"""Requests of a batch of files, which a query has in memory together; 250,000 took 140 MB more."""
_MIX: Final = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: consecutive numbers end far apart
IS_COUNTED: Final = pl.col("outcome") >= int(RequestOutcome.FAILURE)
IS_SUCCESS: Final = pl.col("outcome") == int(RequestOutcome.SUCCESS)
IS_FAILURE: Final = pl.col("outcome") == int(RequestOutcome.FAILURE)

_ERROR: Final = ("tool", "template")
_CAUSES: Final = {
    "tool": pl.String,
    "template": pl.UInt64,
    "cause": pl.UInt64,
    "text": pl.String,
    "is_cut": pl.Boolean,
}
_COUNTED: Final = {**REQUESTS, "outcome": pl.Int8, "file": pl.UInt32}

EVERY_DAY: Final = Days(date.min, date.max)
Batch = tuple[Facts, MineSettings]
Query = Callable[[pl.LazyFrame], pl.LazyFrame]


@dataclass(frozen=True)
class Window:
    """The facts of some days.

    Attributes
    ----------
    groups : polars.LazyFrame
        `coreloop.learn.facts.counting.GROUPS` of the days, in memory.
    files : sequence of FileFacts
        The files with records of the days.
    numbers : sequence of int
        Of each of them, its index in ``paths``.
    days : Days
        The days.
    paths : tuple of Path
        The files that were mined.
    sessions : Sessions, optional
        Calls that were recorded one by one and are read as one request.
    """

    groups: pl.LazyFrame
    files: Sequence[FileFacts]
    numbers: Sequence[int]
    days: Days
    paths: tuple[Path, ...]
    sessions: Sessions | None = None

    def with_sessions(self) -> "Window":
        """The same window, with the ``sessions`` of its files."""
        sessions = find_sessions(self.batches, self.texts_of)
        return self if sessions is None else replace(self, sessions=sessions)

    @property
    def requests(self) -> pl.LazyFrame:
        """`all_requests` that have a sequence."""
        return self.all_requests().filter(pl.col("sequence") != NO_SEQUENCE)

    def all_requests(self) -> pl.LazyFrame:
        """`REQUESTS` of the days, with ``outcome``, and ``file``, the index into ``paths``."""
        return concatenate(self._batched_requests(), _COUNTED)

    def keep(self, chosen: Query, best: Query) -> pl.DataFrame:
        """Keep few of many requests: ``best`` of those that ``chosen`` takes from `all_requests`.

        Neighbouring files are asked one after the other, ``best`` of what was kept before and of theirs, so
        that memory does not grow with the log.
        """
        kept = chosen(concatenate((), _COUNTED)).collect()
        for rows in self._batched_requests():
            kept = best(pl.concat([kept.lazy(), chosen(rows)])).collect()
        return kept

    def _batched_requests(self) -> Iterator[pl.LazyFrame]:
        for facts, settings in self.joined:
            requests = count_requests(facts, settings, key=KEY)
            yield requests.select(*_COUNTED).filter(self.in_days())

    @cached_property
    def calls(self) -> pl.LazyFrame:
        """`coreloop.learn.facts.counting.CALL_GROUPS` of the days, by record, with ``file``, in memory."""
        frames = (group_calls(facts, settings, key=KEY) for facts, settings in self.batches)
        groups = _in_memory(frames, {**CALL_GROUPS, "file": pl.UInt32}, of_days(self.days))
        return self.with_causes(groups).collect().lazy()

    def all_calls(self) -> pl.LazyFrame:
        """The known `CALLS` of the days, with ``file`` and templates as recorded, of all requests."""
        return known_calls(self._all("calls", CALLS)).filter(self.in_days())

    def with_causes(self, calls: pl.LazyFrame) -> pl.LazyFrame:
        """Calls whose ``template`` is that of their cause, see `coreloop.learn.mine.causes`.

        A call whose error was cut has the ``error_class`` of the whole text.
        """
        joined = calls.join(self._causes.lazy(), on=_ERROR, how="left", maintain_order="left")
        return joined.with_columns(
            template=pl.coalesce("cause", "template"), error_class=pl.coalesce("whole_class", "error_class")
        ).drop("cause", "text", "whole_class")

    @cached_property
    def _causes(self) -> pl.DataFrame:
        """The ``cause`` (hash and ``text``) of each tool's templates, with the class of one that was cut."""
        key = [*_ERROR, "error_class"]
        failed = self.all_calls().filter(pl.col("template") != 0).group_by(key).len().sort(key).collect()
        texts = _texts_of(self.texts, "template", failed["template"])
        counts = Counter[tuple[str, str]]()
        for tool, number, _, n in failed.iter_rows():
            counts[tool, texts[number]] += n
        lists = self.texts.filter(pl.col("kind") == "names").collect()["text"]
        found = causes(counts, chain.from_iterable(map(json.loads, lists)))
        listed = [
            (tool, number, found[tool, texts[number]]) for tool, number in failed.select(_ERROR).iter_rows()
        ]
        rows = frame_of(
            [(tool, number, digest64(one.text), one.text, one.is_cut) for tool, number, one in listed],
            _CAUSES,
        ).unique(_ERROR, maintain_order=True)
        of_cause = ("tool", "cause")
        whole = failed.join(rows.filter(~pl.col("is_cut")), on=_ERROR, maintain_order="left")
        classes = whole.unique(of_cause, keep="first").select(*of_cause, whole_class="error_class")
        with_class = rows.join(classes, on=of_cause, how="left")
        return with_class.with_columns(whole_class=pl.when("is_cut").then("whole_class")).drop("is_cut")

    def all_arguments(self) -> pl.LazyFrame:
        """`ARGUMENTS` of the files of the days, with ``file``; join them with `all_calls` or requests."""
        return self._all("arguments", ARGUMENTS)

    def all_saw(self) -> pl.LazyFrame:
        """`SAW` of the files of the days, with ``file``."""
        return self._all("saw", SAW)

    def _all(self, name: str, schema: Mapping[str, Any]) -> pl.LazyFrame:
        schema = {**schema, "file": pl.UInt32}
        return concatenate((getattr(facts, name).select(*schema) for facts, _ in self.joined), schema)

    @cached_property
    def batches(self) -> list[Batch]:
        """The tables of neighbouring files together, with ``file``: a plan for each takes twice the time."""
        return batches_of(list(zip(self.numbers, self.files, strict=True)))

    @cached_property
    def joined(self) -> list[Batch]:
        """`batches`, with the calls of ``sessions`` in their requests."""
        sessions = self.sessions
        if sessions is None:
            return self.batches
        return [(sessions.join(facts), settings) for facts, settings in self.batches]

    @cached_property
    def texts(self) -> pl.LazyFrame:
        """`TEXTS`, in memory, each once, since files share most; `texts_of` looks them up."""
        parts = [file.facts.texts for file in self.files]
        if self.sessions is not None:
            parts.append(self.sessions.texts)
        return concatenate(parts, TEXTS).unique().collect().lazy()

    def in_days(self) -> pl.Expr:
        """Whether a row's ``ts_us`` is in the days."""
        since, until = ((day - EPOCH_DAY).days for day in (self.days.since, self.days.until))
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
        counts: Counter[date] = Counter()
        for file in self.files:
            counts.update({EPOCH_DAY + timedelta(days=day): n for day, n in file.days.items()})
        return Counter({day: n for day, n in counts.items() if self.days.since <= day <= self.days.until})

    def n_neutral(self) -> int:
        """Requests in the window that count neither as success nor as failure, although both are known."""
        return self._n_of(RequestOutcome.NEUTRAL)

    def _n_of(self, outcome: RequestOutcome) -> int:
        of_outcome = self.groups.filter(pl.col("outcome") == int(outcome))
        return int(of_outcome.select(pl.col("n").sum()).collect().item())

    @cached_property
    def unknown_calls(self) -> pl.DataFrame:
        """Calls of the days of which it is unknown whether they worked: tool, unknown (why) and n."""
        counts = [
            count_unknown(facts, settings, self.in_days(), key=KEY).collect()
            for facts, settings in self.batches
        ]
        schema = {"tool": CALLS["tool"], "unknown": CALLS["unknown"], "n": pl.UInt32}
        rows = pl.concat([pl.DataFrame(schema=schema), *counts])
        return rows.group_by("tool", "unknown").agg(pl.col("n").sum()).sort("tool", "unknown")

    def unseen(self) -> Unseen:
        """What the records of the days do not say."""
        omitted = int(self.groups.select(pl.col("omitted").sum()).collect().item())
        calls = self.unknown_calls.group_by("unknown").agg(pl.col("n").sum()).sort("unknown")
        return Unseen.of(omitted, self._n_of(RequestOutcome.UNKNOWN), dict(calls.iter_rows()))

    def texts_of(self, kind: str, hashes: Iterable[int]) -> dict[int, str]:
        """Texts of one kind by their hash, of templates also those of causes; unknown hashes are left out."""
        of_causes = self._causes.select("cause", "text").iter_rows() if kind == "template" else ()
        return _texts_of(self.texts, kind, hashes) | dict(of_causes)

    def question_texts(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Texts of the questions of some lines, by file and offset; those that are gone are left out."""
        return {place: question.question or "" for place, question in self.questions(places).items()}

    def questions(self, places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Question]:
        """The questions of some lines, read without the rest of the line; see `question_texts`."""
        found = {}
        for file, group in groupby(sorted(set(places)), key=itemgetter(0)):
            with suppress(OSError), self.paths[file].open("rb") as opened:
                for place in group:
                    opened.seek(place[1])
                    question = decode_question(opened.readline().removeprefix(BYTE_ORDER_MARK))
                    if question is not None:
                        found[place] = question
        return found


def _texts_of(texts: pl.LazyFrame, kind: str, hashes: Iterable[int]) -> dict[int, str]:
    wanted = pl.Series(sorted(set(hashes)), dtype=pl.UInt64)
    found = texts.filter(pl.col("kind") == kind, pl.col("hash").is_in(wanted.implode()))
    return dict(found.select("hash", "text").collect().iter_rows())


def batches_of(files: Sequence[tuple[int, FileFacts]]) -> list[Batch]:
    """Join the tables of neighbouring files, about `_BATCH_ROWS` requests, with the files' numbers."""
    parts: defaultdict[int, list[tuple[int, FileFacts]]] = defaultdict(list)
    n_rows = 0
    for number, file in files:
        parts[n_rows // _BATCH_ROWS].append((number, file))
        n_rows += sum(file.days.values())
    return [(_join(part), part[0][1].settings) for part in parts.values()]


def _join(files: Sequence[tuple[int, FileFacts]]) -> Facts:
    tables = (
        pl.concat(
            getattr(file.facts, name).with_columns(file=pl.lit(number, pl.UInt32)) for number, file in files
        )
        for name in NAMES
    )
    return Facts(*tables)


def _in_memory(frames: Iterable[pl.LazyFrame], schema: Mapping[str, Any], rows: pl.Expr) -> pl.LazyFrame:
    """Some rows of frames, computed one after the other, since each reads many rows."""
    parts = [frame.filter(rows).collect() for frame in frames]
    return pl.concat([pl.DataFrame(schema=schema), *parts]).lazy()


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


def window_of(files: Sequence[FileFacts], days: Days = EVERY_DAY) -> Window:
    """The facts of different files without the records of other days, not grouped, and as recorded."""
    since, until = ((day - EPOCH_DAY).days for day in (days.since, days.until))
    numbered = [
        (number, file) for number, file in enumerate(files) if any(since <= day <= until for day in file.days)
    ]
    return Window(
        groups=pl.LazyFrame(schema=GROUPS),
        files=[file for _, file in numbered],
        numbers=[number for number, _ in numbered],
        days=days,
        paths=tuple(file.path for file in files),
    )


def merge(files: Sequence[FileFacts], days: Days) -> Window:
    """As `window_of`, with the calls of sessions joined, and grouped."""
    window = window_of(files, days).with_sessions()
    frames = (group_requests(facts, settings, key=KEY) for facts, settings in window.joined)
    return replace(window, groups=_in_memory(frames, GROUPS, of_days(days)))


def of_days(days: Days) -> pl.Expr:
    """Whether a row's ``day`` is one of some days."""
    since, until = ((day - EPOCH_DAY).days for day in (days.since, days.until))
    return pl.col("day").is_between(since, until)


def count_calls(window: Window) -> pl.DataFrame:
    """Count a window's calls: tool, day (since 1970), n_failed and n."""
    n_failed = pl.col("n").filter(pl.col("error_class") != "").sum()
    counts = window.calls.group_by("tool", "day").agg(n_failed=n_failed, n=pl.col("n").sum())
    return counts.sort("tool", "day").collect()


def count_sources(window: Window) -> pl.DataFrame:
    """Count where arguments' values came from: tool, name, sources (hash) and n."""
    key = ["tool", "name", "sources"]
    is_value = pl.col("sources").is_not_null() & ~pl.col("kind").is_in(["null", "empty"])
    counts = [
        facts.arguments.filter(is_value)
        .join(facts.calls.filter(window.in_days()), on=(*KEY, "call"))
        .group_by(key)
        .agg(n=pl.len())
        .collect()
        for facts, _ in window.batches
    ]
    schema = {"tool": pl.String, "name": pl.String, "sources": pl.UInt64, "n": pl.UInt32}
    return pl.concat([pl.DataFrame(schema=schema), *counts]).group_by(key).agg(pl.col("n").sum()).sort(key)


def draw_number() -> pl.Expr:
    """A request's number in a draw: the same whatever else is in the window."""
    mixed = pl.col("ts_us").reinterpret(signed=False) ^ (pl.col("offset") * (1 << 20))
    return mixed * pl.lit(_MIX, pl.UInt64)
