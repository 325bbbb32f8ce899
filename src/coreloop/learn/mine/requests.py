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
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from coreloop.base.records import hash_sequence, join_steps
from coreloop.learn.facts.schema import Alike, Call, Group, group_of
from coreloop.observe.argument_sources import FORGET_S
from coreloop.observe.reading.outcome import RequestOutcome

MAX_CALLS: Final = 100
"""Of a request that is joined; statements read no more of a request."""
MAX_GAP_US: Final = int(FORGET_S * 1_000_000)
"""Between two calls of a request; servers forget where values came from after this time, too."""
_MAX_GAP_WITHOUT_SESSION_US: Final = 5 * 60 * 1_000_000  # chosen: an agent's next call, not the next client's


Place = tuple[int, int]
"""The number of a file among a window's paths, and the offset of a record in it, in bytes."""


class Steps(NamedTuple):
    """What a request's successful calls are: the hash of their sequence, its text, and JSON of the steps.

    Of a request with omitted calls, only the hash is known.
    """

    sequence: str
    text: str = ""
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of a file that are alike, and have the same outcome and signals.

    Attributes
    ----------
    file : int
        Index of a path of the window.
    calls : tuple of Call
        In order.
    group : Group
        Has their columns.
    rows : sequence of int or None
        Which of its rows they are; None: all.
    outcome : int
        A `RequestOutcome`.
    signals : int
        Of a failure, else 0.
    members : tuple of bytes
        Of calls that were recorded one by one: the files (32 bits) and the offsets (64) of their records, as
        many a row as there are calls.
    """

    file: int
    calls: tuple[Call, ...]
    group: Group
    rows: Sequence[int] | None = None
    outcome: int = int(RequestOutcome.SUCCESS)
    signals: int = 0
    members: tuple[bytes, bytes] | None = None

    @property
    def alike(self) -> Alike:
        """What they have in common."""
        return self.group.alike

    @property
    def n(self) -> int:
        """How many they are."""
        return self.group.n if self.rows is None else len(self.rows)

    @property
    def is_counted(self) -> bool:
        """Whether they are successes or failures."""
        return self.outcome >= RequestOutcome.FAILURE

    @property
    def is_failure(self) -> bool:
        """Whether they failed."""
        return self.outcome == RequestOutcome.FAILURE

    @property
    def failed(self) -> list[Call]:
        """The calls that failed."""
        return [call for call in self.calls if call.error_class]

    def table(self) -> Iterator[tuple[Any, ...]]:
        """The rows, see `coreloop.learn.facts.schema.Group.rows`."""
        rows = list(self.group.rows())
        return iter(rows if self.rows is None else [rows[row] for row in self.rows])

    def each(self) -> Iterator["Request"]:
        """The requests one by one."""
        columns = map(self.column, ("us", "at", "session", "question"))
        rows = range(self.n) if self.rows is None else self.rows
        files, offsets = map(array, "Iq", self.members or (b"", b""))
        for row, us, at, session, question in zip(rows, *columns, strict=True):
            places: tuple[Place, ...] = ((self.file, at),)
            if self.members is not None:
                of_row = slice(row * len(self.calls), (row + 1) * len(self.calls))
                places = tuple(zip(files[of_row], offsets[of_row], strict=True))
            yield Request(self, us, session, question, places)

    def column(self, name: str) -> "array[int]":
        """The numbers of a column, see `coreloop.learn.facts.schema.COLUMNS`."""
        whole = self.group.column(name)
        if self.rows is None:
            return whole
        width = len(whole) // self.group.n
        return array(whole.typecode, [whole[row * width + at] for row in self.rows for at in range(width)])


class Request(NamedTuple):
    """A request, its time, hashes of its session and question, and the places of its records."""

    group: Requests
    us: int
    session: int
    question: int
    places: tuple[Place, ...]


def steps_of(calls: Iterable[Call]) -> Steps:
    """What the successful of some calls are, immediate repeats once."""
    worked = (call for call in calls if call.ok)
    firsts = [next(same) for _, same in groupby(worked, key=lambda call: call.step)]
    text = join_steps(call.step for call in firsts)
    named = (f'{{"name":{json.dumps(call.tool, ensure_ascii=False)},{call.shape[1:]}' for call in firsts)
    return Steps(hash_sequence(text), text, f"[{','.join(named)}]")


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
        runs = list(_runs(of_day, judged))
        joined = {(one.place, one.row) for run in runs for one in run}
        for place, group in enumerate(of_day):
            rows = [row for row in range(group.n) if (place, row) not in joined]
            if rows:
                kept = rows if group.rows is None else [group.rows[row] for row in rows]
                found.append(replace(group, rows=kept))
        found += _joined(of_day, runs)
    return found


def _runs(groups: Sequence[Requests], judged: Collection[int]) -> Iterator[list[_Lone]]:
    """The calls of a day that belong together, two or more."""
    same = [_same(group) for group in groups]
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
            is_new = one.us - before.us > gap or same[one.place] != same[before.place]
            if is_new or len(run) == MAX_CALLS:
                yield from [run] * (len(run) > 1)
                run = []
            run.append(one)
        yield from [run] * (len(run) > 1)


def _same(group: Requests) -> tuple[Any, ...]:
    """Differs between two calls: the later one begins a request, so that each has one description."""
    alike = group.alike
    return alike.category, alike.provider, alike.model, alike.tools_version, alike.descriptions


def _calls(groups: Sequence[Requests], judged: Collection[int]) -> Iterator[_Lone]:
    for place, group in enumerate(groups):
        columns = map(group.column, ("us", "at", "id", "session", "client"))
        for row, (us, at, id, session, client) in enumerate(zip(*columns, strict=True)):
            if id not in judged:
                yield _Lone((session != 0, session or client), us, group.file, at, place, row)


def _joined(groups: Sequence[Requests], runs: Iterable[Sequence[_Lone]]) -> Iterator[Requests]:
    """The requests that are joined, those that are alike together."""
    rows = [list(group.table()) for group in groups]
    alike: defaultdict[tuple[int, Alike, tuple[Call, ...]], list[Sequence[_Lone]]] = defaultdict(list)
    for run in runs:
        of_run = [groups[one.place] for one in run]
        signals = 0
        for group in of_run:
            signals |= group.alike.signals
        decided = of_run[-1].alike.decided  # as of a request whose last call failed, or worked
        common = msgspec.structs.replace(
            of_run[0].alike, calls=(), decided=decided, signals=signals, is_lone=False
        )
        alike[run[0].file, common, tuple(call for group in of_run for call in group.calls)].append(run)
    for (file, common, calls), of_runs in alike.items():
        members = [one for run in of_runs for one in run]
        first = (rows[run[0].place][run[0].row] for run in of_runs)
        spent = (sum((rows[one.place][one.row][-1] for one in run), ()) for run in of_runs)
        packed = group_of(common, [(*row[:-1], us) for row, us in zip(first, spent, strict=True)])
        places = array("I", (one.file for one in members)), array("q", (one.at for one in members))
        yield Requests(file, calls, packed, members=(places[0].tobytes(), places[1].tobytes()))
