"""Groups of requests, as a window has them; calls of one session that were recorded one by one are a request.

A server of tools sees no question, so each call is a record. Where sequences, retries and what came before a
call are read, the calls of a session count as one request, as if one record held them. Without sessions,
calls with the same identifiers within minutes are those of one client. The records stay as they are: what
counts records does not ask for this.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate, chain, groupby
from operator import attrgetter, itemgetter, or_
from typing import Final, NamedTuple

import msgspec

from coreloop.base.records import hash_sequence, join_steps
from coreloop.learn.facts.schema import COLUMNS, NO_LENGTH, Alike, Call, Numbers, Part, unpacked
from coreloop.observe.argument_sources import FORGET_S
from coreloop.observe.reading.outcome import RequestOutcome

MAX_CALLS: Final = 100
"""Of a request that is joined; statements read no more of a request."""
MAX_GAP_US: Final = int(FORGET_S * 1_000_000)
"""Between two calls of a request; servers forget where values came from after this time, too."""
_MAX_GAP_WITHOUT_SESSION_US: Final = 5 * 60 * 1_000_000  # chosen: an agent's next call, not the next client's
_SAME: Final = attrgetter("category", "provider", "model", "tools_version", "descriptions")
"""Differs between two calls: the later one begins a request, so that each has one description."""
Table = dict[str, Numbers]
CODES: Final = {**COLUMNS, "outcome": "b", "signals": "H"}
"""Type codes of the columns that requests of a window have."""
Place = tuple[int, int]
"""The number of a file among a window's paths, and the offset of a record in it, in bytes."""


class Steps(NamedTuple):
    """What a request's successful calls are: the hash of their sequence, its text, and JSON of the steps.

    Of a request with omitted calls, only the hash is known.
    """

    sequence: str
    text: str = ""
    shape: str = ""


class Requests(msgspec.Struct, frozen=True, gc=False):
    """Requests of a file that are alike.

    Attributes
    ----------
    file : int
        Index of a path of the window.
    alike : Alike
        What they have in common; its calls are those below.
    calls : tuple of Call
        In order.
    table : dict of str to array
        Has their columns, see `coreloop.learn.facts.schema.COLUMNS`; ``outcome``, a `RequestOutcome`; and
        ``signals``, of a failure, else 0.
    durations : array
        To which ``spent`` points.
    rows : sequence of int
        Their rows in the table.
    shortest : int
        No ``length`` is smaller.
    members : tuple of array
        Of calls that were recorded one by one: the files and the offsets of their records, as many a row of
        the table as there are calls.
    delays : array or None
        Of their failed calls, as ``durations``: microseconds since the first call of the request.
    """

    file: int
    alike: Alike
    calls: tuple[Call, ...]
    table: Table
    durations: Numbers
    rows: Sequence[int]
    shortest: int = 0
    members: tuple[Numbers, Numbers] | None = None
    delays: "memoryview[int] | None" = None

    @property
    def n(self) -> int:
        """How many they are."""
        return len(self.rows)

    def n_of(self, outcome: RequestOutcome) -> int:
        """How many have an outcome."""
        return self.column("outcome").tolist().count(outcome)

    @property
    def failed(self) -> list[Call]:
        """The calls that failed."""
        return [call for call in self.calls if call.error_class]

    def column(self, name: str) -> Numbers:
        """The numbers of a column."""
        return picked(self.table[name], self.rows)

    def put(self, name: str, numbers: "array[int]") -> None:
        """Set the numbers of a column."""
        column = self.table[name]
        if type(self.rows) is range:
            column[self.rows.start : self.rows.stop] = memoryview(numbers)
        else:
            for row, number in zip(self.rows, numbers, strict=True):
                column[row] = number

    def each(self) -> Iterator["Request"]:
        """The requests one by one."""
        columns = map(self.column, ("us", "at", "session", "question", "outcome"))
        for row, us, at, session, question, outcome in zip(self.rows, *columns, strict=True):
            places: tuple[Place, ...] = ((self.file, at),)
            if self.members is not None:
                of_row = slice(row * len(self.calls), (row + 1) * len(self.calls))
                places = tuple(zip(*(numbers[of_row] for numbers in self.members), strict=True))
            yield Request(self, us, session, question, outcome, places)


def packed(code: str, numbers: Iterable[int]) -> Numbers:
    """Numbers as a column."""
    return memoryview(array(code, numbers))


def picked(column: Numbers, rows: Sequence[int]) -> Numbers:
    """The numbers of some rows of a column."""
    if type(rows) is range:
        return column[rows.start : rows.stop]
    return packed(column.format, map(column.__getitem__, rows))


class Request(NamedTuple):
    """A request, its time, hashes of its session and question, its outcome, and the places of its records."""

    group: Requests
    us: int
    session: int
    question: int
    outcome: int
    places: tuple[Place, ...]


def groups_of(file: int, part: Part, interned: dict[Call, Call]) -> Iterator[Requests]:
    """The groups of a part of a file; equal calls of all parts are one object."""
    calls = [interned.setdefault(call, call) for call in part.calls]
    table, durations, end = with_outcomes(part.table()), unpacked("q", part.durations), 0
    for alike, n, shortest in part.groups:
        start, end = end, end + n
        of_group = tuple([calls[number] for number in alike.calls])
        yield Requests(file, alike, of_group, table, durations, range(start, end), shortest)


def steps_of(worked: Iterable[Call]) -> Steps:
    """What some successful calls are, immediate repeats once."""
    firsts = [next(same) for _, same in groupby(worked, key=lambda call: call.step)]
    text = join_steps(call.step for call in firsts)
    named = (f'{{"name":{json.dumps(call.tool, ensure_ascii=False)},{call.shape[1:]}' for call in firsts)
    return Steps(hash_sequence(text), text, f"[{','.join(named)}]")


def with_outcomes(table: Table) -> Table:
    """A table whose requests count as successes, until `coreloop.learn.mine.window` decides."""
    n = len(table["us"])
    return {**table, "outcome": packed("b", b"\1" * n), "signals": packed("H", bytes(2 * n))}


class _Lone(NamedTuple):
    """A call that was recorded alone: its client, its group and its row in it."""

    client: tuple[bool, int]
    us: int
    file: int
    at: int
    place: int
    row: int


def join_sessions(groups: Iterable[Requests], judged: Collection[int]) -> list[Requests]:
    """Join the calls that are recorded alone, without a question, and with a session or identifiers.

    They are joined in the order of their time, up to `MAX_CALLS` and with gaps up to `MAX_GAP_US`; at
    midnight UTC a new request begins, so that a day counts alike whichever days are read with it. Calls of
    one session that are in several files are joined; one that is recorded later lengthens its request, which
    has the place of its first. ``judged`` are the ids of requests that stay alone.
    """
    found, lone = list[Requests](), defaultdict[int, list[Requests]](list)
    for group in groups:
        (lone[group.alike.day] if group.alike.is_lone else found).append(group)
    for of_day in lone.values():
        runs = [run for run in _runs(of_day, judged) if len(run) > 1]
        joined = {(one.place, one.row) for run in runs for one in run}
        for place, group in enumerate(of_day):
            rows = [row for at, row in enumerate(group.rows) if (place, at) not in joined]
            if rows:
                found.append(msgspec.structs.replace(group, rows=rows))
        found += _joined(of_day, runs)
    return found


def _runs(groups: Sequence[Requests], judged: Collection[int]) -> Iterator[list[_Lone]]:
    """The calls of a day that belong together."""
    same = [_SAME(group.alike) for group in groups]
    calls = sorted(_calls(groups, judged))
    for client, of_client in groupby(calls, key=itemgetter(0)):
        rest = list(of_client)
        # what is asked about for longer than a client works is the same for many: a tenant, a stock
        if not client[0] and rest[-1].us - rest[0].us > MAX_GAP_US:
            continue
        gap = MAX_GAP_US if client[0] else _MAX_GAP_WITHOUT_SESSION_US
        run = rest[:1]
        for one in rest[1:]:
            before = run[-1]
            if one.us - before.us > gap or same[one.place] != same[before.place] or len(run) == MAX_CALLS:
                yield run
                run = []
            run.append(one)
        yield run


def _calls(groups: Sequence[Requests], judged: Collection[int]) -> Iterator[_Lone]:
    for place, group in enumerate(groups):
        columns = map(group.column, ("us", "at", "id", "session", "client"))
        for row, (us, at, id, session, client) in enumerate(zip(*columns, strict=True)):
            if id not in judged:
                yield _Lone((session != 0, session or client), us, group.file, at, place, row)


def _joined(groups: Sequence[Requests], runs: Iterable[Sequence[_Lone]]) -> Iterator[Requests]:
    """The requests that are joined, those that are alike together."""
    alike: defaultdict[tuple[int, Alike, tuple[Call, ...]], list[Sequence[_Lone]]] = defaultdict(list)
    for run in runs:
        of_run = [groups[one.place] for one in run]
        decided = of_run[-1].alike.decided  # as of a request whose last call failed, or worked
        signals = reduce(or_, (group.alike.signals for group in of_run))
        first = of_run[0].alike
        common = msgspec.structs.replace(first, calls=(), decided=decided, signals=signals, is_lone=False)
        alike[run[0].file, common, tuple(call for group in of_run for call in group.calls)].append(run)
    tables = [{name: group.column(name) for name in COLUMNS} for group in groups]
    took_us = [picked(group.durations, group.column("spent")) if group.failed else None for group in groups]
    for (file, common, calls), of_runs in alike.items():
        members = [one for run in of_runs for one in run]
        of_members = packed("I", (one.file for one in members)), packed("q", (one.at for one in members))
        spent = [[us[one.row] for one in run if (us := took_us[one.place])] for run in of_runs]
        table = {
            name: packed(code, [tables[run[0].place][name][run[0].row] for run in of_runs])
            for name, code in COLUMNS.items()
        }
        delays = packed("q", [one.us - run[0].us for run in of_runs for one in run if took_us[one.place]])
        durations, rows = packed("q", chain.from_iterable(spent)), range(len(of_runs))
        table["spent"] = packed("I", accumulate(map(len, spent[:-1]), initial=0))
        table = with_outcomes(table)
        yield Requests(file, common, calls, table, durations, rows, NO_LENGTH, of_members, delays)
