"""SQLite databases as files: who may open one, its version, transactions, and what can go wrong.

Nothing here knows what a database is for. Errors of sqlite3 become a `WorkspaceError` here and nowhere else.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.errors import WorkspaceError

BUSY_TIMEOUT_S: Final = 30.0
"""How long a process waits for another one that is writing."""
_PAUSE_S: Final = 0.02
_NEARLY_FULL_BYTES: Final = 1 << 20
# A function that is given to SQLite must take anything: then nothing but Ctrl-C can come out of one.
_INTERRUPTED: Final = "user-defined function raised exception"


@dataclass(frozen=True, slots=True)
class Schema:
    """What a kind of database holds, and how an older one gets there.

    Attributes
    ----------
    name : str
        What it is of, for a message: ``knowledge``.
    migrations : tuple of callable
        The first makes version 1 of an empty file, the second version 2 of version 1, and so on. Each is
        called with the connection, inside a transaction, and the time.
    is_own : callable
        Whether a database that is not empty is of this kind, of whatever version.
    """

    name: str
    migrations: tuple[Callable[[sqlite3.Connection, datetime], None], ...]
    is_own: Callable[[sqlite3.Connection], bool]

    @property
    def version(self) -> int:
        """The newest version, which is the one that this program reads."""
        return len(self.migrations)


@contextmanager
def reader(path: Path, schema: Schema, *, now: datetime) -> Iterator[sqlite3.Connection]:
    """Open a database to read it; the file stays as it is.

    A database of an older version is read through a copy in memory that is migrated.

    Parameters
    ----------
    path : Path
        Is there.
    schema : Schema
        What it holds.
    now : datetime
        With a zone; for migrations.

    Raises
    ------
    WorkspaceError
        It is another kind of database, or one of a newer version.
    """
    with sqlite_errors(path), closing(connect(path)) as connection:
        check_schema(connection, path, schema)
        if version(connection) == schema.version:
            connection.execute("PRAGMA query_only = ON")
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy)
            _prepare(copy)
            with transaction(copy):
                migrate(copy, schema, now=now)
            yield copy


@contextmanager
def writer(path: Path, schema: Schema, *, now: datetime, wal: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a database to write to it; it is made, or migrated, where that is needed.

    Several processes may do so at once: each waits for the others' transactions.

    Parameters
    ----------
    path : Path
        Made with mode 0600, its folder with 0700.
    schema : Schema
        What it holds.
    now : datetime
        With a zone; for migrations.
    wal : bool
        Let readers go on while one process writes.

    Raises
    ------
    WorkspaceError
        It is another kind of database, one of a newer version, cannot be written, or another process has been
        writing for longer than `BUSY_TIMEOUT_S`.
    """
    with sqlite_errors(path), closing(connect(path, make=True)) as connection:
        check_schema(connection, path, schema)
        if wal:
            use_wal(connection)
        if version(connection) < schema.version:
            with transaction(connection):
                check_schema(connection, path, schema)
                migrate(connection, schema, now=now)
        keep_private(path)
        yield connection


def keep_private(path: Path) -> bool:
    """Close a database that is written to other users; whether it is closed then.

    Another user's stays as it is. Files beside it, its WAL for example, follow it.
    """
    if not hasattr(os, "geteuid"):
        return True
    for file in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
        with suppress(OSError):  # not there, or a file system without modes
            status = file.stat()
            if status.st_uid == os.geteuid() and status.st_mode & 0o077:
                file.chmod(status.st_mode & 0o700)
    return not path.stat().st_mode & 0o077


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; other writers wait.

    They wait from its start on, not from its first write: no timeout covers a read that becomes a write.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite that a user can cause or meet, as one that names the file and what to do.

    A broken constraint, a wrong statement and the like are bugs, and pass.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise WorkspaceError(_told(error, path), path=path) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        raise WorkspaceError(f"is no sound SQLite database ({error})", path=path) from error


def connect(path: Path, *, make: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode, with the pragmas that every one has; nothing is checked."""
    try:
        if path.exists() and not path.is_file():
            raise WorkspaceError("cannot be opened (it is not a regular file)", path=path)
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


def check_schema(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Refuse a file that is not ours to read or to change; an empty one is ours to fill.

    Raises
    ------
    WorkspaceError
        It holds other tables, or is of a newer version.
    """
    is_empty = not tables(connection) and version(connection) == 0
    if not is_empty and not schema.is_own(connection):
        what = f"is an SQLite database, but none of {schema.name}; name another file"
        raise WorkspaceError(what, path=path)
    if version(connection) > schema.version:
        raise WorkspaceError(f"has schema version {version(connection)}; upgrade coreloop", path=path)


def migrate(connection: sqlite3.Connection, schema: Schema, *, now: datetime) -> None:
    """Bring a database to the newest version, inside the caller's transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction; the database passes `check_schema`.
    schema : Schema
        What it is to hold.
    now : datetime
        With a zone; stands in for a time that an old row does not tell.
    """
    for number, step in enumerate(schema.migrations, start=1):
        if version(connection) < number:
            step(connection, now)
            connection.execute(f"PRAGMA user_version = {number}")


def run_script(connection: sqlite3.Connection, script: str) -> None:
    r"""Run the statements of a script, each ended by ``;\n``, inside the caller's transaction.

    `sqlite3.Connection.executescript` would commit it.
    """
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def version(connection: sqlite3.Connection) -> int:
    """The schema version; 0 for a new file and for one that no migration has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> list[str]:
    """Names of the tables that are not SQLite's own."""
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return [row[0] for row in connection.execute(listed)]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Names of a table's columns; none where there is no such table."""
    return [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def quoted_name(name: str) -> str:
    """A table's name as SQL has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def use_wal(connection: sqlite3.Connection) -> None:
    """Let readers go on while one process writes."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself here: two processes that open a new file at once meet.
            if not _is_busy(error) or time.monotonic() > deadline:
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


def overwrite(connection: sqlite3.Connection, source: sqlite3.Connection, path: Path) -> None:
    """Make a database a copy of another one; other processes may have it open, and then see the copy.

    Raises
    ------
    WorkspaceError
        Another process has been writing to the database, ``path``, for longer than `BUSY_TIMEOUT_S`.
    """
    last = time.monotonic() + BUSY_TIMEOUT_S

    def stop(status: int, _remaining: int, _total: int) -> None:
        # Called after every step of a backup, which would else wait for another writer without end.
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > last:
            raise WorkspaceError(f"{busy()}; run this again", path=path)

    source.backup(connection, progress=stop)


def busy() -> str:
    """What a user is told when another process stood in the way."""
    return f"another process has been using it for {BUSY_TIMEOUT_S:.0f} s"


def reason(error: sqlite3.OperationalError) -> str:
    """Why a statement failed whose failure its caller can live with."""
    return busy() if _is_busy(error) else str(error)


def _told(error: sqlite3.OperationalError, path: Path) -> str:
    if _is_busy(error):
        return f"{busy()}; run this again"
    if _is_full(error, path):
        return f"the disk is full ({error}); make room and run this again"
    return f"cannot be used ({error})"


def _is_full(error: sqlite3.OperationalError, path: Path) -> bool:
    """SQLite says so of its own file, and of the files beside it only that they cannot be written."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code != sqlite3.SQLITE_IOERR:
        return code == sqlite3.SQLITE_FULL
    with suppress(OSError):
        return shutil.disk_usage(path.absolute().parent).free < _NEARLY_FULL_BYTES
    return False


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda text: text.decode("utf-8", "replace")  # another writer's may be anything
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # no clear text in a temporary file
