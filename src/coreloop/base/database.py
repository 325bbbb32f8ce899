"""A database for a store of a project; SQLite here: one connection, whose threads take turns.

`coreloop.base.postgres` has the other one. A store's statements are SQL that both understand, with ``?``.
"""

import os
import platform
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from coreloop.base import sqlite
from coreloop.base.errors import RunStoreError, WorkspaceError


def stamp(moment: datetime) -> str:
    """Return a time as the tables of runs, jobs and repairs have it; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


class Database(ABC):
    """What a store's threads use; its methods raise `RunStoreError` if the database cannot be used."""

    lock_row = ""
    """At the end of a SELECT, so that no other transaction changes the row."""
    take_row = ""
    """As `lock_row`, but rows that another transaction has locked are left out."""

    def now(self) -> datetime:
        """Return the time, by a clock that all processes on this database share."""
        return datetime.now(UTC)

    @abstractmethod
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement inside `reading` or `writing` of this thread; returns its rows, as sequences."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Let this thread use a connection, and translate the database's errors."""

    @abstractmethod
    def writing(self, *, is_durable: bool = True) -> AbstractContextManager[None]:
        """As `reading`, in a transaction; the changes survive a power loss if they must."""

    @abstractmethod
    def erase(self, *tables: str) -> None:
        """Remove what deleted rows of tables left behind."""


class SqliteDatabase(Database):
    """A file, see `sqlite_database`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._turn = RLock()
        self._connection = connection
        self._level = ""
        self._identity = _identity(path)

    def backup(self, path: Path) -> None:
        """Copy the database into a new file, mode 0600, while others write."""
        with self.reading(), closing(sqlite.connect(path, make=True)) as connection:
            sqlite.overwrite(connection, self._connection, path)
            connection.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it

    def damage(self, schema: sqlite.Schema) -> list[str]:
        """Return what is wrong with the file."""
        with self.reading():
            return sqlite.damage(self._connection, schema)

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement."""
        return self._connection.execute(statement, parameters).fetchall()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take the turn, and translate SQLite's errors."""
        with self._turn, store_errors(self.path):
            self._require_file()
            yield

    @contextmanager
    def writing(self, *, is_durable: bool = True) -> Iterator[None]:
        """Take the turn and the file, for which other processes wait."""
        with self.reading():
            self._synchronize("FULL" if is_durable else "NORMAL")
            with sqlite.transaction(self._connection):
                yield

    def _require_file(self) -> None:
        """Refuse a file that was removed: SQLite would go on writing to it without an error."""
        if _identity(self.path) != self._identity:
            raise RunStoreError(
                f"{self.path}: was removed or replaced while it was in use; what was written last is "
                "lost. Restore the file, and keep what removes it away from the data folder"
            )

    def _synchronize(self, level: str) -> None:
        """Choose whether a commit waits for the disk: 3,800 or 15,900 events/s (benchmarks/runs.py)."""
        if level != self._level:
            self._connection.execute(f"PRAGMA synchronous = {level}")
            self._level = level

    def erase(self, *tables: str) -> None:
        """Empty the WAL; deleted rows in the database's file are zeroes already."""
        with self.reading():
            if not sqlite.empty_wal(self._connection):
                raise RunStoreError(
                    f"{self.path}: the rows are removed, but a reader keeps them in the WAL; run this again"
                )


@contextmanager
def sqlite_database(path: Path, schema: sqlite.Schema) -> Iterator[SqliteDatabase]:
    """Open a file; it is created or migrated if necessary.

    Parameters
    ----------
    path : Path
        Created with mode 0600, its folder with 0700.

    Raises
    ------
    RunStoreError
        The file has other tables, a newer version, or cannot be used.
    """
    with ExitStack() as stack:
        with store_errors(path):
            connection = stack.enter_context(sqlite.writer(path, schema, threads=True))
        yield SqliteDatabase(path, connection)


def this_process() -> str:
    """Name this process for people."""
    return f"process {os.getpid()} on {platform.node() or 'this machine'}"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Translate what can be wrong with a file of a store into `RunStoreError`."""
    try:
        with sqlite.sqlite_errors(path):
            yield
    except WorkspaceError as error:
        raise RunStoreError(str(error)) from error
