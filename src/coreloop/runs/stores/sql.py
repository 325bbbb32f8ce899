"""A store of runs in a database: the statements that SQLite and Postgres share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from hashlib import sha256
from typing import Any, Final, Protocol

from coreloop.base.database import Database, stamp
from coreloop.base.errors import BudgetError, RunError, RunNotFoundError
from coreloop.base.text import printable
from coreloop.runs.amounts import NOTHING, Amount, left
from coreloop.runs.events import (
    CONTROL,
    VERSION,
    Charged,
    ChildSpent,
    Created,
    Ended,
    Event,
    IterationCommitted,
    Narrowed,
    Opened,
    Reserved,
    Settled,
    StepCommitted,
    StepFailed,
    decode_event,
    encode_event,
    spent,
)
from coreloop.runs.stores.accounts import Progress, RunRow, is_durable, utc_day
from coreloop.runs.stores.schema import CLEARED
from coreloop.runs.ulid import is_ulid

Numbered = tuple[int, Event]
"""An event and its seq in its run, from 1."""
_CHANGES_STATUS: Final = (*CONTROL, Ended)
_PUBLISHED: Final = (Created, Opened, Narrowed, IterationCommitted, *_CHANGES_STATUS)
_AT_ONCE: Final = 1000
_LIST: Final = """
SELECT runs.run_id, status, stop_reason, iteration, microusd, tokens, updated_at, version, event
FROM runs JOIN events ON events.run_id = runs.run_id AND seq = 1
WHERE (? = '' OR kind = ?) AND (? = '' OR status = ?) ORDER BY runs.run_id DESC LIMIT ?
"""
_EVENTS: Final = """
SELECT seq, version, event FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?
"""
_ADD_TO_DAY: Final = """
INSERT INTO days (day, microusd, tokens) VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE
SET microusd = days.microusd + excluded.microusd, tokens = days.tokens + excluded.tokens
RETURNING microusd
"""


class Publish(Protocol):
    """Writes what other programs read of a run, inside the commit: `coreloop.runs.published.publish`."""

    def __call__(self, events: Sequence[Event], *, new: int) -> None:
        """Write it."""


class Store(ABC):
    """Runs and their events in a database. Several threads and processes may use it at once.

    Every method raises `RunStoreError` if the database cannot be used, and `RunNotFoundError` for a run that
    it does not have. Subclasses hold runs in the way of their database.

    Attributes
    ----------
    parent : str
        The run whose driver started this process, which pays for the runs that it creates; "" without one.
    address : str
        Of the Postgres database that has the project's stores; "" for files.
    """

    parent = ""
    address = ""
    publish: Publish | None = None

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Hold a run, so that no other process works on it; released when the process dies.

        Raises
        ------
        RunBusyError
            Another process, or another handle of this one, holds the run. The message names it.
        """

    def create(self, created: Created, *events: Event) -> None:
        """Add a run, with the first of its events; a run of this id that exists stays as it is."""
        with self._database.writing():
            is_new = self._database.rows(
                "INSERT INTO runs VALUES (?, ?, 0, 'running', NULL, 0, 0, 0, ?, ?, ?) "
                "ON CONFLICT (run_id) DO NOTHING RETURNING run_id",
                (created.run_id, created.kind, stamp(created.at), created.parent, created.origin),
            )
            if is_new:
                self._insert(created.run_id, [created, *events], after=0)
                self._tell(created.run_id, [created, *events])

    def append(
        self, run_id: str, events: Sequence[Event], *, after: int, per_day: int | None = None
    ) -> list[Numbered]:
        """Add events behind the newest: all of them or none.

        Parameters
        ----------
        run_id : str
            Of the events.
        events : sequence of Event
            At least one. They get the numbers behind ``after``.
        after : int
            The newest event that the caller knows.
        per_day : int or None
            Millionths of a US dollar that all runs may have spent and reserved in a day (UTC) afterwards.

        Returns
        -------
        list of (int, Event)
            Events of other processes behind ``after``: nothing was added then. Empty after success.

        Raises
        ------
        BudgetError
            A reservation would pass ``per_day``; nothing was added.
        """
        with self._database.writing(is_durable=is_durable(events)):
            if self._newest(run_id, self._database.lock_row) == after:
                self._insert(run_id, events, after=after)
                self._account(run_id, events, per_day)
                self._tell(run_id, events)
                return []
        return list(self.read(run_id, after=after))

    def read(self, run_id: str, *, after: int = 0) -> Iterator[Numbered]:
        """Read a run's events in order, those behind a number."""
        with self._database.reading():
            newest = self._newest(run_id)
        while after < newest:
            with self._database.reading():
                rows = self._database.rows(_EVENTS, (run_id, after, min(_AT_ONCE, newest - after)))
            if not rows:
                raise _unknown(run_id)  # another process has just forgotten it
            for seq, version, data in rows:
                yield seq, _decoded(run_id, version, data)
            after = rows[-1][0]

    def step(self, run_id: str, key: str) -> StepCommitted | None:
        """Return the committed step of a key, or None."""
        with self._database.reading():
            self._newest(run_id)
            rows = self._database.rows(
                "SELECT version, event FROM events WHERE run_id = ? AND step = ?", (run_id, _digest(key))
            )
        events = [_decoded(run_id, version, data) for version, data in rows]
        return next((event for event in events if isinstance(event, StepCommitted)), None)

    def spent_on(self, day: date) -> Amount:
        """Return what all runs have spent and reserved on a day (UTC), forgotten runs included."""
        with self._database.reading():
            rows = self._database.rows("SELECT microusd, tokens FROM days WHERE day = ?", (day.isoformat(),))
        return Amount(*rows[0]) if rows else NOTHING

    def newest(self, run_ids: Collection[str]) -> dict[str, int]:
        """Return the number of the newest event of runs; without those that the store does not have."""
        if not run_ids:
            return {}
        marks = ", ".join("?" * len(run_ids))
        with self._database.reading():
            rows = self._database.rows(
                f"SELECT run_id, newest FROM runs WHERE run_id IN ({marks})", tuple(run_ids)
            )
        return dict(rows)

    def runs(self, *, kind: str = "", status: str = "", limit: int = 1_000_000) -> list[RunRow]:
        """List the runs of a kind and a status ("" for all), the newest first."""
        with self._database.reading():
            rows = self._database.rows(_LIST, (kind, kind, status, status, limit))
        return [_run_row(*row) for row in rows]

    def forget(self, run_id: str) -> None:
        """Remove a run whole, so that its content cannot be restored from the file.

        Raises
        ------
        RunBusyError
            A process works on the run.
        """
        self._forget(run_id)
        self._database.erase(*CLEARED)

    def untouched_since(self, timestamp: datetime) -> list[str]:
        """List the runs without an event since a time."""
        with self._database.reading():
            rows = self._database.rows(
                "SELECT run_id FROM runs WHERE updated_at < ? ORDER BY run_id", (stamp(timestamp),)
            )
        return [run_id for (run_id,) in rows]

    def derived(self, run_id: str) -> list[str]:
        """List the runs that a run started or that answer it again, and what is derived from these."""
        found = [run_id]
        for each in found:
            with self._database.reading():
                rows = self._database.rows(
                    "SELECT run_id FROM runs WHERE parent = ? OR origin = ? ORDER BY run_id", (each, each)
                )
            found += [derived for (derived,) in rows if derived not in found]
        return found[1:]

    def reflexion(self, kind: str) -> bytes | None:
        """Return what the runs of a kind learnt, JSON that the store does not read; None at first."""
        with self._database.reading():
            rows = self._database.rows("SELECT reflexion FROM reflexions WHERE kind = ?", (kind,))
        return bytes(rows[0][0]) if rows else None

    def change_reflexion(self, kind: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Replace what the runs of a kind learnt by what a function makes of it; returns the new JSON.

        No other process changes it between the call and the write.
        """
        with self._database.writing():
            self._database.rows(
                "INSERT INTO reflexions (kind, reflexion) VALUES (?, ?) ON CONFLICT (kind) DO NOTHING",
                (kind, b""),
            )
            ((before,),) = self._database.rows(
                f"SELECT reflexion FROM reflexions WHERE kind = ?{self._database.lock_row}", (kind,)
            )
            changed = change(bytes(before) or None)
            self._database.rows("UPDATE reflexions SET reflexion = ? WHERE kind = ?", (changed, kind))
        return changed

    def _tell(self, run_id: str, events: Sequence[Event]) -> None:
        """Publish what is being committed, if it is of interest outside the process that works on the run."""
        if self.publish is None or not any(isinstance(event, _PUBLISHED) for event in events):
            return
        _, created = next(self.read(run_id))
        drives_itself = isinstance(created, Created) and created.drives_itself
        if drives_itself or any(isinstance(event, _CHANGES_STATUS) for event in events):
            self.publish([event for _, event in self.read(run_id)], new=len(events))

    def _newest(self, run_id: str, lock: str = "") -> int:
        statement = f"SELECT newest FROM runs WHERE run_id = ?{lock}"
        rows = self._database.rows(statement, (run_id,)) if is_ulid(run_id) else []
        if not rows:
            raise _unknown(run_id)
        return int(rows[0][0])

    def _insert(self, run_id: str, events: Sequence[Event], *, after: int) -> None:
        for seq, event in enumerate(events, start=after + 1):
            step = _digest(event.key) if isinstance(event, StepCommitted) else None
            data = encode_event(event)
            row = (run_id, seq, VERSION, data, step)
            self._database.rows("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
        self._database.rows(
            "UPDATE runs SET newest = ?, updated_at = ? WHERE run_id = ?",
            (after + len(events), stamp(events[-1].at), run_id),
        )

    def _account(self, run_id: str, events: Sequence[Event], per_day: int | None) -> None:
        ((*columns,),) = self._database.rows(
            "SELECT status, stop_reason, iteration FROM runs WHERE run_id = ?", (run_id,)
        )
        progress = Progress(*columns)
        progress.follow(events)
        total, days = self._spend(run_id, events)
        self._database.rows(
            "UPDATE runs SET status = ?, stop_reason = ?, iteration = ?, microusd = microusd + ?, "
            "tokens = tokens + ? WHERE run_id = ?",
            (progress.status, progress.stop_reason, progress.iteration, total.microusd, total.tokens, run_id),
        )
        charged = sum(days.values(), NOTHING)
        if charged != NOTHING:
            self._charge_parent(run_id, charged, events[-1].at)
        limited = {utc_day(event.at) for event in events if isinstance(event, Reserved) and event.microusd}
        for day, change in sorted(days.items()):  # in one order, or two transactions wait for each other
            ((today,),) = self._database.rows(_ADD_TO_DAY, (day, change.microusd, change.tokens))
            if per_day is not None and day in limited and today > per_day:
                raise _day_is_spent(today - change.microusd, change.microusd, per_day)

    def _charge_parent(self, run_id: str, charged: Amount, at: datetime) -> None:
        """Add what a run spent and reserved to the run that pays for it, if there is one."""
        rows = self._database.rows(
            "SELECT parent.run_id, parent.newest FROM runs JOIN runs AS parent "
            f"ON parent.run_id = runs.parent WHERE runs.run_id = ?{self._database.lock_row}",
            (run_id,),
        )
        for parent, newest in rows:
            event = ChildSpent(at=at, run_id=run_id, microusd=charged.microusd, tokens=charged.tokens)
            self._insert(parent, [event], after=newest)
            self._database.rows(
                "UPDATE runs SET microusd = microusd + ?, tokens = tokens + ? WHERE run_id = ?",
                (charged.microusd, charged.tokens, parent),
            )
            self._charge_parent(parent, charged, at)

    def _spend(self, run_id: str, events: Iterable[Event]) -> tuple[Amount, dict[str, Amount]]:
        """Change the reservations; returns what was settled, and what each day gains."""
        total, days = NOTHING, dict[str, Amount]()
        for event in events:
            day = utc_day(event.at)
            if isinstance(event, Reserved):
                row = (run_id, event.reservation, day, event.microusd, event.tokens)
                self._database.rows("INSERT INTO reservations VALUES (?, ?, ?, ?, ?)", row)
                days[day] = days.get(day, NOTHING) + spent(event)
            elif isinstance(event, Charged):
                day, covered = self._cover(run_id, event) or (day, NOTHING)
                total += spent(event)
                days[day] = days.get(day, NOTHING) + spent(event) - covered
            elif isinstance(event, Settled | StepCommitted | StepFailed):
                day, reserved = self._unreserve(run_id, event.reservation) or (day, NOTHING)
                total += spent(event)
                days[day] = days.get(day, NOTHING) + spent(event) - reserved
        return total, {day: change for day, change in days.items() if change != NOTHING}

    def _cover(self, run_id: str, charged: Charged) -> tuple[str, Amount] | None:
        """Take what a call has spent from its reservation; returns its day, and how much that was."""
        rows = self._database.rows(
            "SELECT day, microusd, tokens FROM reservations WHERE run_id = ? AND reservation = ?",
            (run_id, charged.reservation),
        )
        for day, *reserved in rows:
            rest = left(Amount(*reserved), spent(charged))
            self._database.rows(
                "UPDATE reservations SET microusd = ?, tokens = ? WHERE run_id = ? AND reservation = ?",
                (rest.microusd, rest.tokens, run_id, charged.reservation),
            )
            return day, Amount(*reserved) - rest
        return None

    def _unreserve(self, run_id: str, reservation: str) -> tuple[str, Amount] | None:
        rows = self._database.rows(
            "DELETE FROM reservations WHERE run_id = ? AND reservation = ? RETURNING day, microusd, tokens",
            (run_id, reservation),
        )
        return (rows[0][0], Amount(rows[0][1], rows[0][2])) if rows else None

    def _forget(self, run_id: str) -> None:
        with self.hold(run_id), self._database.writing():
            self._database.rows("DELETE FROM runs WHERE run_id = ?", (run_id,))


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def _decoded(run_id: str, version: int, data: bytes) -> Event:
    try:
        return decode_event(data, version=version)
    except RunError as error:
        raise RunError(f"{run_id}: {error}") from error


def _run_row(
    run_id: str,
    status: Any,
    stop_reason: str | None,
    iteration: int,
    microusd: int,
    tokens: int,
    updated_at: str,
    version: int,
    data: bytes,
) -> RunRow:
    changed = datetime.fromisoformat(updated_at)
    try:
        created = _decoded(run_id, version, data)
        problem = "it does not begin with its creation"
    except RunError as error:
        created, problem = None, str(error)
    if not isinstance(created, Created):  # it must not hide the other runs
        created = Created(at=changed, run_id=run_id, kind="", question=f"({problem})")
    return RunRow(
        run_id,
        created.kind,
        created.mode,
        created.question,
        status,
        stop_reason,
        iteration,
        Amount(microusd, tokens),
        created.at,
        changed,
    )


def _unknown(run_id: str) -> RunNotFoundError:
    return RunNotFoundError(f"no run {printable(run_id[:40])}; `dartlab-coreloop runs list` shows the runs")


def _day_is_spent(today: int, wanted: int, per_day: int) -> BudgetError:
    used, more, limit = (Amount(value).usd for value in (today, wanted, per_day))
    return BudgetError(
        f"all runs have used {used:.4f} USD today (UTC); a call for up to {more:.4f} USD "
        f"would exceed its daily limit of {limit:.4f} USD",
        reason="usd_per_day",
    )
