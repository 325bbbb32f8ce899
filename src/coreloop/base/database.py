"""The database of a project: one SQLite file, or Postgres, with the tables of all stores.

SQLite is here: one connection, whose threads take turns. `coreloop.base.postgres` has the other one. The
statements of a store are SQL that both understand, with ``?``.
"""

import json
import os
import platform
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar

import msgspec

from coreloop.base import sqlite
from coreloop.base.errors import RunStoreError, WorkspaceError
from coreloop.base.records import encodable

T = TypeVar("T")
JSON: Final = {"json": True}
"""Metadata of a field whose column has JSON."""
FILE: Final = "coreloop.db"
ADDRESS: Final = "CORELOOP_DATABASE_URL"
"""The environment variable with the address of a Postgres database that takes the file's place."""
VERSIONS: Final = """
CREATE TABLE versions (
    name    TEXT PRIMARY KEY,  -- of a store
    version BIGINT NOT NULL    -- of its tables
)
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a store, in SQL that both databases understand; ``;`` and a newline end a statement."""

    name: str
    script: str
    version: int = 1


def stamp(moment: datetime) -> str:
    """Return a time as the tables of runs, jobs and repairs have it; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_column(value: Any) -> Any:
    """Return a value as a column has it: times and days as text, dicts as JSON, no NUL."""
    match value:
        case datetime():
            return stamp(value)
        case date():
            return value.isoformat()
        case bool():
            return int(value)
        case dict():
            return json.dumps(storable(value), sort_keys=True, allow_nan=False, ensure_ascii=False)
    return storable(value)


def storable(value: Any) -> Any:
    """Leave out what a database cannot hold: NUL and lone surrogates, at any depth."""
    match value:
        case str():
            return encodable(value).replace("\0", "")
        case list() | tuple():
            return [storable(item) for item in value]
        case dict():
            return {storable(key): storable(item) for key, item in value.items()}
    return value


def of_row(kind: type[T], row: Sequence[Any]) -> T:
    """Read a row, whose columns are the fields of a dataclass in their order.

    Without `dataclasses.fields`, which collects them anew for each row.
    """
    values = {
        field.name: json.loads(value) if "json" in field.metadata and value is not None else value
        for field, value in zip(kind.__dataclass_fields__.values(), row, strict=True)  # type: ignore[attr-defined]
    }
    return msgspec.convert(values, kind, strict=False)


class Database(ABC):
    """What a store's threads use; its methods raise `RunStoreError` if the database cannot be used."""

    lock_row = ""
    """At the end of a SELECT, so that no other transaction changes the row."""
    take_row = ""
    """As `lock_row`, but rows that another transaction has locked are left out."""
    blob = "BLOB"
    """The type of a column of bytes."""

    def now(self) -> datetime:
        """Return the time, by a clock that all processes on this database share."""
        return datetime.now(UTC)

    @abstractmethod
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement inside `reading` or `writing` of this thread; returns its rows, as sequences."""

    def insert(self, table: str, row: Any, end: str = "") -> list[Any]:
        """Add a row of the fields of a dataclass, inside `writing`."""
        values = [to_column(getattr(row, field.name)) for field in fields(row)]
        return self.rows(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))}) {end}", values)

    def select(self, kind: type[T], statement: str, *parameters: Any) -> list[T]:
        """Read rows as a type."""
        with self.reading():
            return [of_row(kind, row) for row in self.rows(statement, [*map(to_column, parameters)])]

    def change(self, statement: str, *parameters: Any) -> list[Any]:
        """Run one statement in a transaction."""
        with self.writing():
            return self.rows(statement, [*map(to_column, parameters)])

    def create(self, tables: Tables) -> None:
        """Create a store's tables, unless they are there.

        Raises
        ------
        RunStoreError
            They are of another version.
        """
        asked = "SELECT version FROM versions WHERE name = ?", (tables.name,)
        with self.reading():
            found = self.rows(*asked)
        if not found:
            with self.writing():
                if not self.rows(*asked):  # another process was not faster
                    for statement in tables.script.replace("BLOB", self.blob).split(";\n"):
                        self.rows(statement)
                    self.rows("INSERT INTO versions VALUES (?, ?)", (tables.name, tables.version))
        elif found[0][0] != tables.version:
            raise RunStoreError(
                f"the tables of {tables.name} have version {found[0][0]}; "
                f"this coreloop reads {tables.version}"
            )

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
    """A file, see `coreloop.base.postgres.database_at`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._turn = RLock()
        self._connection = connection
        self._level = ""
        self._identity = _identity(path)

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
