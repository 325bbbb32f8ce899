"""The store of runs in a SQLite file: one machine, several processes."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop import sqlite
from coreloop.errors import RunStoreError, UsageError, WorkspaceError
from coreloop.files import replacing
from coreloop.runs.stores.hold import held_file
from coreloop.runs.stores.schema import FIRST, TABLES
from coreloop.runs.stores.sql import SqlStore


def _create(connection: sqlite3.Connection, _now: datetime) -> None:
    sqlite.run_script(connection, FIRST)


def _is_own(connection: sqlite3.Connection) -> bool:
    return set(sqlite.tables(connection)) >= TABLES


RUNS: Final = sqlite.Schema("runs", (_create,), _is_own)


class SqliteStore(SqlStore):
    """A store in a file, see `sqlite_store`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._path = path
        self._connection = connection
        self._level = ""
        self._identity = _identity(path)

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Hold a run by a file in ``held/`` beside the database."""
        with self._reading():
            self._newest(run_id)
        with held_file(self._path.parent / "held" / f"{run_id}.lock", run_id):
            yield

    def backup(self, path: Path) -> None:
        """Copy the database into a new file, mode 0600, while others write."""
        if path.exists():
            raise UsageError(f"{path}: exists; name a new file for the backup")
        with (
            self._reading(),
            _file_errors(path),
            replacing(path) as copy,
            closing(sqlite.connect(copy)) as connection,
        ):
            sqlite.overwrite(connection, self._connection, path)
            connection.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it

    def _rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        return self._connection.execute(statement, parameters).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._turn, _store_errors(self._path):
            self._require_file()
            yield

    @contextmanager
    def _writing(self, *, is_durable: bool = True) -> Iterator[None]:
        with self._reading():
            self._synchronize("FULL" if is_durable else "NORMAL")
            with sqlite.transaction(self._connection):
                yield

    def _require_file(self) -> None:
        """Refuse a file that was removed: SQLite would go on writing to it without an error."""
        if _identity(self._path) != self._identity:
            raise RunStoreError(
                f"{self._path}: was removed or replaced while it was in use; the run's last steps are lost. "
                "Restore the file, and keep what removes it away from the data folder"
            )

    def _synchronize(self, level: str) -> None:
        """Choose whether a commit waits for the disk: 3,800 or 15,900 events/s (benchmarks/runs.py)."""
        if level != self._level:
            self._connection.execute(f"PRAGMA synchronous = {level}")
            self._level = level

    def _erase(self) -> None:
        """Empty the WAL; deleted rows in the database's file are zeroes already."""
        with self._reading():
            if not sqlite.empty_wal(self._connection):
                raise RunStoreError(
                    f"{self._path}: the rows are removed, but a reader keeps them in the WAL; run this again"
                )


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
    with ExitStack() as stack:
        with _store_errors(path):
            connection = stack.enter_context(sqlite.writer(path, RUNS, now=datetime.now(UTC), threads=True))
        yield SqliteStore(path, connection)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        with sqlite.sqlite_errors(path):
            yield
    except WorkspaceError as error:
        raise RunStoreError(str(error)) from error


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunStoreError(f"{path}: cannot be written ({error.strerror or error})") from error
