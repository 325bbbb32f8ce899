"""The facts of some days: groups of requests with an outcome, their calls with a cause, and sums of both."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from heapq import nsmallest
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

from coreloop.base.date_range import Days
from coreloop.base.error_classes import BITS
from coreloop.base.records import hash_sequence
from coreloop.learn.facts.read_lines import EPOCH_DAY, FileFacts, MineSettings
from coreloop.learn.facts.schema import Call, Group, id_of
from coreloop.learn.mine.causes import causes
from coreloop.learn.mine.requests import Place, Request, Requests, Steps, join_sessions, steps_of
from coreloop.observe.reading.decode import EPOCH, RecordLine, decode_line, read_request
from coreloop.observe.reading.outcome import BY_VERDICT, LOW_CHUNK_LEN, RequestOutcome, Unseen

EVERY_DAY: Final = Days(date.min, date.max)
NO_SEQUENCE: Final = hash_sequence("")
"""Of requests without a successful call: they count for their category, but for no pattern."""
_NEUTRAL: Final = int(RequestOutcome.NEUTRAL)
_FAILURE: Final = int(RequestOutcome.FAILURE)
_SHORT: Final = BITS["chunk_len_low"]
_MULTIPLIER: Final = 0x9E3779B97F4A7C15  # odd, without structure: Fibonacci hashing
_64_BITS: Final = (1 << 64) - 1


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
        The files that were mined.
    settings : MineSettings
        How requests count.
    n_by_day : mapping of int to int
        Records of the days, by day (days since 1970).
    requests : sequence of Requests
        Without those that coreloop made itself; calls of sessions are joined.
    """

    files: Sequence[FileFacts]
    days: Days
    paths: tuple[Path, ...]
    settings: MineSettings
    n_by_day: Mapping[int, int]
    requests: Sequence[Requests]

    def n_records(self) -> int:
        """Records in the window, including neutral records."""
        return sum(self.n_by_day.values())

    def recorded(self) -> Days:
        """From the first to the last day in the window that has a record; without any, the window."""
        days = self.records_by_day()
        return Days(min(days), max(days)) if days else self.days

    def records_by_day(self) -> Counter[date]:
        """Records of each day in the window that has any, including neutral records."""
        return Counter({EPOCH_DAY + timedelta(days=day): n for day, n in self.n_by_day.items()})

    def n_neutral(self) -> int:
        """Requests in the window that count neither as success nor as failure, although both are known."""
        return self._n_of(RequestOutcome.NEUTRAL)

    def _n_of(self, outcome: RequestOutcome) -> int:
        return sum(group.n for group in self.requests if group.outcome == outcome)

    @cached_property
    def calls(self) -> Counter[Call]:
        """How many calls of each kind there are; only those whose end is known count in rates."""
        counts = Counter[Call]()
        for group in self.requests:
            for call in group.calls:
                counts[call] += group.n
        return counts

    @property
    def tools(self) -> frozenset[str]:
        """Names of all called tools, as logged."""
        return frozenset(call.tool for call in self.calls if call.is_known)

    def unseen(self) -> Unseen:
        """What the records of the days do not say."""
        whys = Counter[str]()
        for call, n in self.calls.items():
            if call.unknown is not None:
                whys[call.unknown] += n
        return Unseen.of(
            sum(group.n for group in self.requests),
            sum(group.n * group.alike.omitted for group in self.requests),
            self._n_of(RequestOutcome.UNKNOWN),
            whys,
            sum(group.n for group in self.requests if group.alike.is_undated),
        )

    @cached_property
    def causes(self) -> dict[tuple[str, str], str]:
        """The cause of each tool's templates, see `coreloop.learn.mine.causes`."""
        counts = Counter[tuple[str, str]]()
        for call, n in self.calls.items():
            if call.error_class:
                counts[call.tool, call.template] += n
        shapes = {call.shape for call in self.calls} if counts else ()
        return causes(counts, chain.from_iterable(json.loads(shape)["arg_keys"] for shape in shapes))

    @cached_property
    def _steps(self) -> dict[tuple[Call, ...], Steps]:
        return {}

    def steps(self, requests: Requests) -> Steps:
        """What the successful calls of some requests are."""
        if requests.alike.sequence:
            return Steps(requests.alike.sequence)
        known = self._steps.get(requests.calls)
        if known is None:
            known = self._steps[requests.calls] = steps_of(call for call in requests.calls if call.ok)
        return known

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each known sequence, by its hash."""
        return {known.sequence: known.text for known in map(self.steps, self.requests) if known.shape}

    def drawn(self, groups: Iterable[Requests], n: int) -> list[Request]:
        """Draw ``n`` of the requests of some groups evenly: the same ones each time."""
        groups = list(groups)
        if sum(group.n for group in groups) <= n:
            return [one for group in groups for one in group.each()]
        numbers = [list(map(_number, group.column("us"), group.column("at"))) for group in groups]
        last = nsmallest(n, chain.from_iterable(numbers))[-1]
        drawn = [
            one
            for group, of_group in zip(groups, numbers, strict=True)
            if min(of_group) <= last
            for one, number in zip(group.each(), of_group, strict=True)
            if number <= last
        ]
        return drawn[:n]

    def records(self, places: Iterable[Place]) -> Iterator[tuple[Place, RecordLine]]:
        """Read the records at some places again; those that are gone are left out."""
        for file, group in groupby(sorted(set(places)), key=itemgetter(0)):
            with suppress(OSError), self.paths[file].open("rb") as opened:
                for place in group:
                    line = decode_line(read_request(opened, place[1]), place[1])
                    if isinstance(line, RecordLine):
                        yield place, line

    def question_texts(self, places: Iterable[Place]) -> dict[Place, str]:
        """Texts of the questions at some places; those that are gone are left out."""
        return {place: line.fields.question or "" for place, line in self.records(places)}


def merge(files: Sequence[FileFacts], days: Days) -> Window:
    """The facts of different files without the records of other days."""
    first, last = (days.since - EPOCH_DAY).days, (days.until - EPOCH_DAY).days
    paths, settings = tuple(file.path for file in files), files[0].settings if files else MineSettings()
    replayed = frozenset(map(id_of, settings.replayed))
    requests, n_by_day, calls = list[Requests](), Counter[int](), dict[Call, Call]()
    for number, part in ((number, part) for number, file in enumerate(files) for part in file.parts):
        of_part = [calls.setdefault(call, call) for call in part.calls]
        for group in part.groups:
            if not first <= group.alike.day <= last:
                continue
            rows = _rows_without(replayed, group)
            one = Requests(number, tuple([of_part[at] for at in group.alike.calls]), group, rows)
            n_by_day[group.alike.day] += one.n
            requests.append(one)
    judged = {id_of(request): mark for request, mark in settings.verdicts.items() if mark in BY_VERDICT}
    counted = list[Requests]()
    for one in join_sessions(requests, judged.keys()):
        counted += _by_outcome(one, judged, settings)
    shown = [file for file in files if any(first <= day <= last for day in file.days)]
    return Window(shown, days, paths, settings, +n_by_day, counted)


def _rows_without(ids: frozenset[int], group: Group) -> list[int] | None:
    """The rows that have none of some ids; None if all have none."""
    if not ids or ids.isdisjoint(column := group.column("id")):
        return None
    return [row for row, number in enumerate(column) if number not in ids]


def _by_outcome(group: Requests, judged: Mapping[int, str], settings: MineSettings) -> Iterator[Requests]:
    """Count requests, see `coreloop.observe.reading.outcome` for what decides; no group has no request.

    One that was handed over to a human is neutral, unless there is a verdict. An answer of at least
    ``min_chunk_len`` characters is complete, one below ``min(LOW_CHUNK_LEN, min_chunk_len)`` fails, and one
    in between is neutral. Without the setting, an empty answer fails and any other is complete. An answer of
    unknown length is complete.
    """
    decided, least = group.alike.decided, settings.min_chunk_len
    if not group.alike.is_judged and not settings.handoff.isdisjoint(call.tool for call in group.calls):
        decided = _NEUTRAL
    enough, low = (1, 1) if least is None else (least, min(LOW_CHUNK_LEN, least))
    lengths = group.column("length")
    verdicts = judged.keys() & set(group.column("id")) if judged else ()
    if not verdicts and lengths and min(lengths) >= enough:
        outcome = int(RequestOutcome.SUCCESS) if decided is None else decided
        yield replace(group, outcome=outcome, signals=group.alike.signals if outcome == _FAILURE else 0)
        return
    rows: dict[tuple[int, int], list[int]] = {}
    ids = group.column("id")
    for at, (row, length) in enumerate(zip(group.rows or range(len(lengths)), lengths, strict=True)):
        if verdicts and ids[at] in verdicts:
            outcome = int(BY_VERDICT[judged[ids[at]]])
        elif decided is not None:
            outcome = decided
        else:
            outcome = int(length >= enough) if length >= enough or length < low else _NEUTRAL
        signals = group.alike.signals | _SHORT * (length < low) if outcome == _FAILURE else 0
        rows.setdefault((outcome, signals), []).append(row)
    for (outcome, signals), of_outcome in rows.items():
        yield replace(group, rows=of_outcome, outcome=outcome, signals=signals)


def _number(us: int, at: int) -> int:
    """A request's number in a draw: the same whatever else is in the window."""
    mixed = (us * _MULTIPLIER ^ at) * _MULTIPLIER & _64_BITS
    return (mixed ^ mixed >> 32) * _MULTIPLIER & _64_BITS


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    return EPOCH + timedelta(microseconds=microseconds)
