"""Where runs are kept: the store of a workspace, in a SQLite file or in Postgres."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple
from datetime import date, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from coreloop.base.database import Database, SqliteDatabase, stamp
from coreloop.base.errors import RunError, RunNotFoundError
from coreloop.base.postgres import PostgresDatabase, database_at, project_database
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.base.waiting import wait_until
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.clock import is_ulid
from coreloop.runs.decide import over_limit
from coreloop.runs.events import Event, decode_event, encode_event, spent
from coreloop.runs.fold import follow
from coreloop.runs.person_or_agent import driving_run
from coreloop.runs.state import AGENT, State
from coreloop.runs.stores.accounts import CLEARED, DURABLE, RUNS, RunRow, utc_day
from coreloop.runs.stores.holds import busy, held_file, held_session, hold_file

Numbered = tuple[int, Event]
"""An event and its seq in its run, from 1."""
_BOOKED: Final = (happened.Settled, happened.StepCommitted, happened.StepFailed)
_CHANGES_STATUS: Final = (happened.Said, happened.Ended)
_PUBLISHED: Final = (
    happened.Created,
    happened.Opened,
    happened.Narrowed,
    happened.IterationCommitted,
    *_CHANGES_STATUS,
)
_LIST: Final = """
SELECT * FROM runs WHERE (? = '' OR kind = ?) AND (? = '' OR status = ?){words} ORDER BY run_id DESC LIMIT ?
"""
_EVENTS: Final = """
SELECT seq, event FROM events WHERE run_id = ? AND seq > ? ORDER BY seq
"""
_ADD_TO_DAY: Final = """
INSERT INTO days (day, microusd, tokens) VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE
SET microusd = days.microusd + excluded.microusd, tokens = days.tokens + excluded.tokens
RETURNING microusd
"""


Publish = Callable[[Sequence[Event], int], None]
"""Writes what others read of a run, inside the commit: `coreloop.runs.agent.session_file.publish`."""


Hold = Callable[[str], AbstractContextManager[bool]]
"""Holds a run as long as the process lives; yields False if another process does."""


class Store:
    """Runs and their events in a database. Several threads and processes may use it at once.

    Every method raises `RunStoreError` if the database cannot be used, and `RunNotFoundError` for a run that
    it does not have.

    Attributes
    ----------
    parent : str
        The run whose driver started this process, which pays for the runs that it creates; "" without one.
    address : str
        Of the Postgres database that has the project's stores; "" for files.
    """

    parent = ""
    publish: Publish | None = None

    def __init__(self, database: Database, hold: Hold, *, address: str = "") -> None:
        self._database = database
        self._hold = hold
        self.address = address

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Hold a run, so that no other process works on it; released when the process dies.

        Raises
        ------
        RunBusyError
            Another process, or another handle of this one, holds the run. The message names it.
        """
        with self._database.reading():
            self._newest(run_id)
        with self._hold(run_id) as is_held:
            if not is_held:  # its holder writes its name just after it has locked the run
                raise busy(run_id, wait_until(partial(self._owner, run_id), within_s=0.5, pause_s=0.01))
            yield

    def create(self, created: happened.Created, *events: Event) -> None:
        """Add a run, with the first of its events; a run of this id that exists stays as it is."""
        names = ("run_id", "kind", "mode", "question", "parent", "origin")
        shared: dict[str, Any] = {name: getattr(created, name) for name in names}
        row = RunRow(created_at=created.at, updated_at=created.at, **shared)
        with self._database.writing():
            if self._database.insert("runs", row, "ON CONFLICT (run_id) DO NOTHING RETURNING run_id"):
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
        with self._database.writing(is_durable=any(isinstance(event, DURABLE) for event in events)):
            if self._newest(run_id, self._database.lock_row) == after:
                self._insert(run_id, events, after=after)
                self._account(run_id, events, per_day)
                self._tell(run_id, events)
                return []
        return list(self.read(run_id, after=after))

    def read(self, run_id: str, *, after: int = 0) -> Iterator[Numbered]:
        """Read a run's events in order, those behind a number."""
        with self._database.reading():
            self._newest(run_id)
            rows = self._database.rows(_EVENTS, (run_id, after))
        for seq, data in rows:
            yield seq, _decoded(run_id, data)

    def step(self, run_id: str, key: str) -> happened.StepCommitted | None:
        """Return the committed step of a key, or None."""
        with self._database.reading():
            self._newest(run_id)
            event = self._by_step(run_id, key)
        return event if isinstance(event, happened.StepCommitted) else None

    def _by_step(self, run_id: str, step: str) -> Event | None:
        rows = self._database.rows(
            "SELECT event FROM events WHERE run_id = ? AND step = ?", (run_id, _digest(step))
        )
        return next((_decoded(run_id, data) for (data,) in rows), None)

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

    def runs(self, *words: str, kind: str = "", status: str = "", limit: int = 1_000_000) -> list[RunRow]:
        """List the runs of a kind and a status ("" for all) with words in small letters, the newest first."""
        statement = _LIST.format(words=" AND lower(question) LIKE ?" * len(words))
        having = (f"%{word}%" for word in words)
        return self._database.select(RunRow, statement, kind, kind, status, status, *having, limit)

    def forget(self, run_id: str) -> None:
        """Remove a run whole, so that its content cannot be restored from the file.

        Raises
        ------
        RunBusyError
            A process works on the run.
        """
        with self.hold(run_id), self._database.writing():
            self._database.rows("DELETE FROM runs WHERE run_id = ?", (run_id,))
        self._database.erase(*CLEARED)

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

    def _owner(self, run_id: str) -> str:
        opened = (event.owner for _, event in self.read(run_id) if isinstance(event, happened.Opened))
        return "".join([*opened][-1:])

    def _tell(self, run_id: str, events: Sequence[Event]) -> None:
        """Publish what is being committed, if it is of interest outside the process that works on the run."""
        if self.publish is None or not any(isinstance(event, _PUBLISHED) for event in events):
            return
        ((kind,),) = self._database.rows("SELECT kind FROM runs WHERE run_id = ?", (run_id,))
        if kind == AGENT or any(isinstance(event, _CHANGES_STATUS) for event in events):
            self.publish([event for _, event in self.read(run_id)], len(events))

    def _newest(self, run_id: str, lock: str = "") -> int:
        statement = f"SELECT newest FROM runs WHERE run_id = ?{lock}"
        rows = self._database.rows(statement, (run_id,)) if is_ulid(run_id) else []
        if not rows:
            raise _unknown(run_id)
        return int(rows[0][0])

    def _insert(self, run_id: str, events: Sequence[Event], *, after: int) -> None:
        for seq, event in enumerate(events, start=after + 1):
            step = None
            if isinstance(event, happened.StepCommitted):
                step = _digest(event.key)
            elif isinstance(event, happened.Reserved):
                step = _digest(f"reserved {event.reservation}")
            row = (run_id, seq, encode_event(event), step)
            self._database.rows("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        self._database.rows(
            "UPDATE runs SET newest = ?, updated_at = ? WHERE run_id = ?",
            (after + len(events), stamp(events[-1].at), run_id),
        )

    def _account(self, run_id: str, events: Sequence[Event], per_day: int | None) -> None:
        (row,) = self._database.rows(
            "SELECT status, stop_reason, iteration, microusd, tokens FROM runs WHERE run_id = ?", (run_id,)
        )
        status, reason, iteration, *known = row
        state = State(status=status, stop_reason=reason, iteration=iteration, spent=Amount(*known))
        for event in events:
            follow(state, event)
        self._database.rows(
            "UPDATE runs SET status = ?, stop_reason = ?, iteration = ?, microusd = ?, tokens = ? "
            "WHERE run_id = ?",
            (state.status, state.stop_reason, state.iteration, *astuple(state.spent), run_id),
        )
        days = self._spend(run_id, events)
        of_children = (spent(event) for event in events if isinstance(event, happened.ChildSpent))
        charged = sum([*days.values(), *of_children], NOTHING)
        if charged != NOTHING:
            self._charge_parent(run_id, charged, events[-1].at)
        limited = {
            utc_day(event.at) for event in events if isinstance(event, happened.Reserved) and event.microusd
        }
        for day, change in sorted(days.items()):  # in one order, or two transactions wait for each other
            ((today,),) = self._database.rows(_ADD_TO_DAY, (day, change.microusd, change.tokens))
            if per_day is not None and day in limited and today > per_day:
                raise over_limit("usd_per_day", per_day, today - change.microusd, change.microusd)

    def _charge_parent(self, run_id: str, charged: Amount, at: datetime) -> None:
        """Add what a run spent and reserved to the run that pays for it, if there is one."""
        rows = self._database.rows(
            "SELECT parent.run_id, parent.newest FROM runs JOIN runs AS parent "
            f"ON parent.run_id = runs.parent WHERE runs.run_id = ?{self._database.lock_row}",
            (run_id,),
        )
        for parent, newest in rows:
            event = happened.ChildSpent(
                at=at, run_id=run_id, microusd=charged.microusd, tokens=charged.tokens
            )
            self._insert(parent, [event], after=newest)
            self._account(parent, [event], None)

    def _spend(self, run_id: str, events: Iterable[Event]) -> dict[str, Amount]:
        """Return what each day gains."""
        days = dict[str, Amount]()
        for event in events:
            if isinstance(event, _BOOKED):
                ended = self._by_step(run_id, f"reserved {event.reservation}")
                reserved = ended if isinstance(ended, happened.Reserved) else None
            elif isinstance(event, happened.Reserved):
                reserved = None
            else:
                continue
            day, freed = utc_day((reserved or event).at), spent(reserved) if reserved else NOTHING
            days[day] = days.get(day, NOTHING) + spent(event) - freed
        return {day: change for day, change in days.items() if change != NOTHING}


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def _decoded(run_id: str, data: bytes) -> Event:
    try:
        return decode_event(data)
    except RunError as error:
        raise RunError(f"{run_id}: {error}") from error


def _unknown(run_id: str) -> RunNotFoundError:
    return RunNotFoundError(f"no run {printable(run_id[:40])}; `dartlab-coreloop runs list` shows the runs")


@contextmanager
def open_store(workspace: Workspace, *, environ: Mapping[str, str] = os.environ) -> Iterator[Store]:
    """Open the store of a workspace; it is created if necessary.

    Parameters
    ----------
    environ : mapping
        ``CORELOOP_DATABASE_URL`` is the address of a Postgres database. Without it, the store is in the
        SQLite file ``coreloop.db`` in `Workspace.runs_dir`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    MissingExtraError
        Postgres needs an extra.
    """
    from coreloop.runs.agent.session_file import publish

    workspace.keep_private(workspace.runs_dir)
    with project_database(workspace.runs_dir, RUNS, environ) as database, _opened(database) as store:
        store.parent, store.publish = driving_run(environ), partial(publish, workspace.root)
        yield store


@contextmanager
def store_at(place: Path | str) -> Iterator[Store]:
    """Open a store at a path or an address, as `coreloop.base.postgres.database_at` does."""
    with database_at(place, RUNS) as database, _opened(database) as store:
        yield store


@contextmanager
def _opened(database: Database) -> Iterator[Store]:
    if isinstance(database, PostgresDatabase):
        yield Store(database, partial(held_session, database.address), address=database.address)
        return
    assert isinstance(database, SqliteDatabase)
    folder = database.path.parent
    yield Store(database, lambda run_id: held_file(hold_file(folder, run_id)))
