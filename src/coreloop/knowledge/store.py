"""The knowledge database as a file: opening it for reading or writing, transactions, what can go wrong."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop.errors import WorkspaceError
from coreloop.knowledge.schema import VERSION, is_knowledge, migrate, tables, version
from coreloop.records import encodable

BUSY_TIMEOUT_S: Final = 30.0
"""How long a process waits for another one that is writing."""
_PAUSE_S: Final = 0.02
# The functions that statements call here take anything, so nothing but Ctrl-C can come out of one.
_INTERRUPTED: Final = "user-defined function raised exception"
_ABSENT: Final = "does not exist; `backfill-blog --confirm` makes it"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read it; the file stays as it is.

    A database of an older version is read through a copy in memory that is migrated.

    Raises
    ------
    WorkspaceError
        There is no such file, it is no knowledge database, or one of a newer version.
    """
    if not path.exists():
        raise WorkspaceError(_ABSENT, path=path)
    with translated(path), closing(connect(path)) as connection:
        check(connection, path)
        if version(connection) == VERSION:
            connection.execute("PRAGMA query_only = ON")
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy)
            _prepare(copy)
            with transaction(copy):
                migrate(copy, now=datetime.now(UTC))
            yield copy


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to write to it; it is made, or migrated, where that is needed.

    Several processes may do so at once: each waits for the others' transactions.

    Raises
    ------
    WorkspaceError
        It is no knowledge database, one of a newer version, cannot be written, or another process has been
        writing for longer than `BUSY_TIMEOUT_S`.
    """
    with translated(path), closing(connect(path, make=True)) as connection:
        check(connection, path)
        use_wal(connection)
        if version(connection) < VERSION:
            with transaction(connection):
                check(connection, path)
                migrate(connection, now=datetime.now(UTC))
        yield connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; other writers wait."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of SQLite that a user can cause or meet, as one that names the file and what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        what = f"{busy()}; run this again" if is_busy(error) else f"cannot be used ({error})"
        raise WorkspaceError(what, path=path) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:  # a broken constraint is a bug
            raise
        raise WorkspaceError(f"is no sound SQLite database ({error})", path=path) from error


def connect(path: Path, *, make: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode, with the pragmas that every one has; nothing is checked."""
    try:
        if make:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        uri = f"{path.absolute().as_uri()}?mode=rw"
    except OSError as error:
        raise WorkspaceError(f"cannot be opened ({error.strerror})", path=path) from error
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not ours to read or to change; an empty one is ours to fill.

    Raises
    ------
    WorkspaceError
        It holds other tables, or is of a newer version.
    """
    is_empty = not tables(connection) and version(connection) == 0
    if not is_empty and not is_knowledge(connection):
        raise WorkspaceError("is an SQLite database, but none of knowledge; name another file", path=path)
    if version(connection) > VERSION:
        raise WorkspaceError(f"has schema version {version(connection)}; upgrade coreloop", path=path)


def use_wal(connection: sqlite3.Connection) -> None:
    """Let readers go on while one process writes."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself here: two processes that open a new file at once meet.
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Bring all of the WAL into the file and cut it to nothing; whether no reader stood in the way."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    # SQLite waits for readers and writers, but not for another process that is doing the same.
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_S)
    return True


def storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as SQLite takes it: lists and mappings as JSON, half characters replaced."""
    return {name: _storable(value) for name, value in row.items()}


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether an error says that another process stood in the way."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def busy() -> str:
    """What a user is told then."""
    return f"another process has been using it for {BUSY_TIMEOUT_S:.0f} s"


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda text: text.decode("utf-8", "replace")  # another writer's may be anything
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # no clear text in a temporary file


def _storable(value: Any) -> Any:
    if isinstance(value, list | tuple | Mapping):
        parts = dict(value) if isinstance(value, Mapping) else value
        value = json.dumps(parts, ensure_ascii=False)
    return encodable(value) if isinstance(value, str) else value
