"""The facts of some days: groups of requests with an outcome, their calls with a cause, and sums of both."""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from heapq import nsmallest
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.error_classes import BITS
from coreloop.base.project.definitions import source_files
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.records import digest64, hash_sequence
from coreloop.learn.causes import causes
from coreloop.learn.facts.read_lines import EPOCH_DAY, FileFacts, MineSettings
from coreloop.learn.facts.schema import Call
from coreloop.learn.mine.requests import Place, Request, Requests, Steps, groups_of, join_sessions, steps_of
from coreloop.observe.reading.decode import EPOCH, RecordLine, decode_line, read_request
from coreloop.observe.reading.outcome import BY_VERDICT, LOW_CHUNK_LEN, RequestOutcome, Unseen
from coreloop.observe.shown_states import LITERAL, hash_state

if TYPE_CHECKING:
    from coreloop.learn.mine.frames import Frames

EVERY_DAY: Final = Days(date.min, date.max)
NO_SEQUENCE: Final = hash_sequence("")
"""Of requests without a successful call: they count for their category, but for no pattern."""
_SUCCESS: Final = int(RequestOutcome.SUCCESS)
_NEUTRAL: Final = int(RequestOutcome.NEUTRAL)
_FAILURE: Final = int(RequestOutcome.FAILURE)
_BY_LENGTH: Final = (_FAILURE, _NEUTRAL, _SUCCESS)
_SHORT: Final = BITS["chunk_len_low"]
_MULTIPLIER: Final = 0x9E3779B97F4A7C15  # odd, without structure: Fibonacci hashing
_64_BITS: Final = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
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
        days = [EPOCH_DAY + timedelta(days=day) for day in self.n_by_day]
        return Days(min(days), max(days)) if days else self.days

    def n_of(self, outcome: RequestOutcome) -> int:
        """Requests in the window with an outcome."""
        return sum(group.n_of(outcome) for group in self.requests)

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
            self.n_of(RequestOutcome.UNKNOWN),
            whys,
            sum(group.n for group in self.requests if group.alike.is_undated),
        )

    @cached_property
    def states(self) -> dict[str, str]:
        """The words of the project's source and of coreloop.yaml, by their hashes in records."""
        root, words = self.settings.root, set[str]()
        for path in () if root is None else (*source_files(root), root / FILE_NAME):
            with suppress(OSError):
                text = path.read_text(encoding="utf-8", errors="replace")
                words.update(LITERAL.findall(text), LITERAL.findall(text.lower()))  # an Enum's auto()
        return {hash_state(word, self.settings.case_key): word for word in words}

    @cached_property
    def causes(self) -> dict[tuple[str, str], str]:
        """The cause of each tool's templates, see `coreloop.learn.causes`."""
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
        worked = tuple([call for call in requests.calls if call.ok])
        if worked not in self._steps:
            self._steps[worked] = steps_of(worked)
        return self._steps[worked]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each known sequence, by its hash."""
        return {known.sequence: known.text for known in map(self.steps, self.requests) if known.shape}

    @cached_property
    def frames(self) -> "Frames":
        """The requests as frames of polars, which is imported here."""
        from coreloop.learn.mine.frames import Frames

        return Frames(self.requests, self.steps, self.causes)

    def drawn(
        self, groups: Iterable[Requests], n: int, *, least: RequestOutcome = RequestOutcome.UNKNOWN
    ) -> list[Request]:
        """Draw ``n`` of some groups' requests with an outcome of at least ``least``: the same each time."""
        groups = list(groups)
        numbers = [array("Q", map(_number, group.column("us"), group.column("at"))) for group in groups]
        eligible = (
            number
            for group, of_group in zip(groups, numbers, strict=True)
            for number, outcome in zip(of_group, group.column("outcome"), strict=True)
            if outcome >= least
        )
        last = max(nsmallest(n, eligible), default=0)
        drawn = [
            one
            for group, of_group in zip(groups, numbers, strict=True)
            if min(of_group) <= last
            for one, number in zip(group.each(), of_group, strict=True)
            if number <= last and one.outcome >= least
        ]
        return drawn[:n]

    def question_texts(self, places: Iterable[Place]) -> dict[Place, str]:
        """Texts of the questions at some places; those that are gone are left out."""
        return {place: line.fields.question or "" for place, line in self.records(places)}

    def records(self, places: Iterable[Place]) -> Iterator[tuple[Place, RecordLine]]:
        """Read the records at some places again; those that are gone are left out."""
        for file, group in groupby(sorted(set(places)), key=itemgetter(0)):
            with suppress(OSError), self.paths[file].open("rb") as opened:
                for place in group:
                    line = decode_line(read_request(opened, place[1]), place[1])
                    if isinstance(line, RecordLine):
                        yield place, line


def merge(files: Sequence[FileFacts], days: Days) -> Window:
    """The facts of different files without the records of other days."""
    first, last = (days.since - EPOCH_DAY).days, (days.until - EPOCH_DAY).days
    paths, settings = tuple(file.path for file in files), files[0].settings if files else MineSettings()
    replayed = frozenset(map(digest64, settings.replayed))
    requests, n_by_day, interned = list[Requests](), Counter[int](), dict[Call, Call]()
    parts = ((number, part) for number, file in enumerate(files) for part in file.parts)
    for group in chain.from_iterable(groups_of(number, part, interned) for number, part in parts):
        if first <= group.alike.day <= last:
            one = _without(replayed, group)
            n_by_day[group.alike.day] += one.n
            requests += [one] * (one.n > 0)
    judged = {digest64(request): mark for request, mark in settings.verdicts.items() if mark in BY_VERDICT}
    joined = join_sessions(requests, judged.keys())
    _decide(joined, settings, judged)
    shown = [file for file in files if any(first <= day <= last for day in file.days)]
    return Window(shown, days, paths, settings, +n_by_day, joined)


def _without(ids: frozenset[int], group: Requests) -> Requests:
    """The requests that have none of some ids."""
    if not ids or ids.isdisjoint(column := group.column("id")):
        return group
    rows = [row for row, number in zip(group.rows, column, strict=True) if number not in ids]
    return msgspec.structs.replace(group, rows=rows)


def _decide(groups: Iterable[Requests], settings: MineSettings, judged: Mapping[int, str]) -> None:
    """Set the outcome of requests, and the signals of failures; see `coreloop.observe.reading.outcome`.

    One that was handed over to a human is neutral, unless there is a verdict. An answer of at least
    ``min_chunk_len`` characters is complete, one below ``min(LOW_CHUNK_LEN, min_chunk_len)`` fails, and one
    in between is neutral. Without the setting, an empty answer fails and any other is complete. An answer of
    unknown length is complete.
    """
    least, handoff = settings.min_chunk_len, settings.handoff
    enough, low = (1, 1) if least is None else (least, min(LOW_CHUNK_LEN, least))
    for group in groups:
        decided = group.alike.decided
        if handoff and not group.alike.is_judged and any(call.tool in handoff for call in group.calls):
            decided = _NEUTRAL
        elif decided is None and group.shortest >= enough:
            decided = _SUCCESS
        verdicts = list(map(judged.get, group.column("id"))) if judged else []
        if decided == _SUCCESS and not any(verdicts):
            continue  # as the table has it
        lengths, outcomes = group.column("length"), array("b", [decided or 0]) * group.n
        if decided is None:
            outcomes = array("b", [_BY_LENGTH[(length >= low) + (length >= enough)] for length in lengths])
        for row, verdict in enumerate(verdicts):
            if verdict is not None:
                outcomes[row] = BY_VERDICT[verdict]
        signals = [
            group.alike.signals | _SHORT * (length < low) if outcome == _FAILURE else 0
            for outcome, length in zip(outcomes, lengths, strict=True)
        ]
        group.put("outcome", outcomes)
        group.put("signals", array("H", signals))


def _number(us: int, at: int) -> int:
    """A request's number in a draw: the same whatever else is in the window."""
    mixed = (us * _MULTIPLIER ^ at) * _MULTIPLIER & _64_BITS
    return (mixed ^ mixed >> 32) * _MULTIPLIER & _64_BITS


def moment(microseconds: int) -> datetime:
    """Microseconds since 1970 as a time, UTC."""
    return EPOCH + timedelta(microseconds=microseconds)
