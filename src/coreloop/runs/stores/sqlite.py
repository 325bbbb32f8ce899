"""The store of runs in a SQLite file: one machine, several processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from coreloop.base import sqlite
from coreloop.base.database import SqliteDatabase, sqlite_database
from coreloop.runs.stores.run_lock import held_file
from coreloop.runs.stores.schema import FIRST, SECOND, TABLES
from coreloop.runs.stores.sql import Store

RUNS: Final = sqlite.Schema("runs", (FIRST, SECOND), sqlite.with_tables(TABLES))


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
    """Open a store in a file; it is created or migrated if necessary.

    Parameters
    ----------
    path : Path
        Created with mode 0600, its folder with 0700.

    Raises
    ------
    RunStoreError
        The file is not a store of runs, has a newer version, or cannot be used.
    """
    with sqlite_database(path, RUNS) as database:
        yield SqliteStore(database)
