"""Where runs are kept: the store of a workspace, in a SQLite file or in Postgres."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from coreloop.base.database import SqliteDatabase, sqlite_database
from coreloop.base.project.workspace import Workspace
from coreloop.runs.person_or_agent import driving_run
from coreloop.runs.stores.run_lock import held_file
from coreloop.runs.stores.schema import RUNS
from coreloop.runs.stores.sql import Store

__all__ = ["SqliteStore", "Store", "open_store", "sqlite_store"]


@contextmanager
def open_store(workspace: Workspace, *, environ: Mapping[str, str] = os.environ) -> Iterator[Store]:
    """Open the store of a workspace; it is created if necessary.

    Parameters
    ----------
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
    workspace.keep_private(workspace.runs_dir)
    with sqlite_store(workspace.runs_dir / "runs.db") as store:
        store.parent, store.publish = driving_run(environ), partial(publish, workspace.root)
        yield store


class SqliteStore(Store):
    """A store in a file, see `sqlite_store`."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self._file = database

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Hold a run by a file in ``held/`` beside the database."""
        with self._database.reading():
            self._newest(run_id)
        with held_file(self._file.path.parent / "held" / f"{run_id}.lock", run_id):
            yield


@contextmanager
def sqlite_store(path: Path) -> Iterator[SqliteStore]:
    """Open a store in a file; it is created if necessary.

    Parameters
    ----------
    path : Path
        Created with mode 0600, its folder with 0700.

    Raises
    ------
    RunStoreError
        The file is not a store of runs, has another version, or cannot be used.
    """
    with sqlite_database(path, RUNS) as database:
        yield SqliteStore(database)
