"""Where runs are kept: what a store does, and the store of a workspace."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from coreloop.base.errors import RunStoreError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.runs.amounts import Amount
from coreloop.runs.caller import driving_run
from coreloop.runs.events import Created, Event, StepCommitted
from coreloop.runs.folder import FOLDER, kept_sessions
from coreloop.runs.stores.accounts import RunRow
from coreloop.runs.stores.sql import Numbered
from coreloop.runs.stores.sqlite import sqlite_store

FILE_NAME: Final = "runs.db"


class Store(Protocol):
    """Runs and their events. Several threads and processes may use it at once.

    Every method raises `RunStoreError` if the database cannot be used, and `RunNotFoundError` for a run that
    it does not have.

    Attributes
    ----------
    parent : str
        The run whose driver started this process, which pays for the runs that it creates; "" without one.
    address : str
        Of the Postgres database that has the project's stores; "" for files.
    """

    parent: str
    address: str

    def create(self, created: Created, *events: Event) -> None:
        """Add a run, with the first of its events; a run of this id that exists stays as it is."""

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

    def read(self, run_id: str, *, after: int = 0) -> Iterator[Numbered]:
        """Read a run's events in order, those behind a number."""

    def step(self, run_id: str, key: str) -> StepCommitted | None:
        """Return the committed step of a key, or None."""

    def spent_on(self, day: date) -> Amount:
        """Return what all runs have spent and reserved on a day (UTC), forgotten runs included."""

    def newest(self, run_ids: Collection[str]) -> dict[str, int]:
        """Return the number of the newest event of runs; without those that the store does not have."""

    def runs(self, *, kind: str = "", status: str = "", limit: int = ...) -> list[RunRow]:
        """List the runs of a kind and a status ("" for all), the newest first."""

    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Hold a run, so that no other process works on it; released when the process dies.

        Raises
        ------
        RunBusyError
            Another process, or another handle of this one, holds the run. The message names it.
        """

    def forget(self, run_id: str) -> None:
        """Remove a run whole, so that its content cannot be restored from the file.

        Raises
        ------
        RunBusyError
            A process works on the run.
        """

    def untouched_since(self, timestamp: datetime) -> list[str]:
        """List the runs without an event since a time."""

    def derived(self, run_id: str) -> list[str]:
        """List the runs that a run started or that answer it again, and what is derived from these."""

    def damage(self) -> Iterator[str]:
        """Yield what is wrong with the rows, a line each; nothing if all is as it was written."""

    def reflexion(self, kind: str) -> bytes | None:
        """Return what the runs of a kind learnt, JSON that the store does not read; None at first."""

    def change_reflexion(self, kind: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Replace what the runs of a kind learnt by what a function makes of it; returns the new JSON.

        No other process changes it between the call and the write.
        """


@contextmanager
def open_store(workspace: Workspace, *, environ: Mapping[str, str] = os.environ) -> Iterator[Store]:
    """Open the store of a workspace; it is created if necessary.

    Parameters
    ----------
    workspace : Workspace
        Of the project.
    environ : mapping
        ``CORELOOP_DATABASE_URL`` is the address of a Postgres database. Without it, the store is the SQLite
        file ``runs.db`` in `Workspace.runs_dir`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    MissingExtraError
        Postgres needs an extra.
    """
    from coreloop.runs.published import publish

    if address := environ.get("CORELOOP_DATABASE_URL"):
        from coreloop.runs.stores.postgres import postgres_store

        with postgres_store(address) as postgres:
            postgres.parent, postgres.publish = driving_run(environ), partial(publish, workspace.root)
            postgres.address = address
            yield postgres
        return
    path = workspace.runs_dir / FILE_NAME
    if not is_written(path):
        require_none_lost(workspace)
    workspace.keep_private(workspace.runs_dir)
    with sqlite_store(path) as store:
        if not store.runs(limit=1):
            require_none_lost(workspace)
        store.parent, store.publish = driving_run(environ), partial(publish, workspace.root)
        yield store


def is_written(path: Path) -> bool:
    """Whether the file of a store exists and is not empty, as something that truncated it leaves it."""
    return path.exists() and path.stat().st_size > 0


def require_none_lost(workspace: Workspace) -> None:
    """Refuse a file without runs where a run has left its state, which goes before its run does.

    Raises
    ------
    RunStoreError
        The message says what to restore.
    """
    if lost := kept_sessions(workspace.root):
        path, folder = workspace.runs_dir / FILE_NAME, workspace.root / FOLDER / "sessions"
        raise RunStoreError(
            "{path}: was removed or emptied: {folder} has the state of {runs}, and the "
            "store has none. Restore a backup: move data/runs away, then dartlab-coreloop "
            "runs restore BACKUP. Set CORELOOP_DATABASE_URL if the runs are in Postgres; "
            "to begin without them, move that folder away",
            path=path,
            folder=folder,
            runs=number_of(len(lost), "run"),
        )
