"""SQLite database files: file modes, schema versions, transactions and errors.

Independent of what a database stores. Only this module translates sqlite3 errors into `WorkspaceError`.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import close_to_others, file_errors
from coreloop.base.waiting import wait_until

BUSY_TIMEOUT_S: Final = 30.0
"""How long a process waits for another process that is writing."""
_PAUSE_S: Final = 0.02
_USE_WAL: Final = "PRAGMA journal_mode = WAL"
_INTERRUPTED: Final = "user-defined function raised exception"  # by Ctrl-C: ours raise nothing else


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a database.

    Attributes
    ----------
    name : str
        What messages call the database: ``knowledge``.
    create : str or callable
        A script, or a function of the connection, that makes the tables in an empty file, inside a
        transaction; of a database without a version that is the schema's own, it makes one with a version.
    tables : collection of str
        Tables that every database of this schema has.
    version : int
        The only version that this program reads.
    """

    name: str
    create: str | Callable[[sqlite3.Connection], None]
    tables: Collection[str]
    version: int = 1


@contextmanager
def reader(path: Path, schema: Schema) -> Iterator[sqlite3.Connection]:
    """Open a database for reading; the file is not changed, and neither it nor its folder must be writable.

    A database without a version is copied into memory and gets one there.

    Parameters
    ----------
    path : Path
        An existing file.
    schema : Schema
        The expected schema.

    Raises
    ------
    WorkspaceError
        The database has another schema or version.
    """
    with sqlite_errors(path), closing(_connect_to_read(path)) as connection:
        check_schema(connection, path, schema)
        if version(connection) == schema.version:
            connection.execute("PRAGMA query_only = ON")
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy)
            _prepare(copy)
            with transaction(copy):
                create(copy, schema)
            yield copy


@contextmanager
def writer(path: Path, schema: Schema, *, threads: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database for writing; it is created if necessary.

    Several processes may write at once: each waits for the others' transactions.

    Parameters
    ----------
    path : Path
        Created with mode 0600, its folder with 0700.
    threads : bool
        Let other threads use the connection; they must take turns.

    Raises
    ------
    WorkspaceError
        The database has another schema or version, cannot be written, or another process has been
        writing for longer than `BUSY_TIMEOUT_S`.
    """
    with sqlite_errors(path), closing(connect(path, make=True, threads=threads)) as connection:
        check_schema(connection, path, schema)
        use_wal(connection)
        if version(connection) != schema.version:
            with transaction(connection):
                check_schema(connection, path, schema)
                create(connection, schema)
        keep_private(path)
        yield connection


def keep_private(path: Path) -> None:
    """Remove other users' access to a database and its WAL files, as far as they are this user's."""
    for end in ("", "-wal", "-shm"):
        close_to_others(path.with_name(f"{path.name}{end}"))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a block as a transaction, for which other writers wait.

    They wait from its start, not from its first write: no timeout covers a read that becomes a write.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("ROLLBACK")
        raise


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Translate SQLite errors that a user can cause into a `WorkspaceError`.

    Errors that only a bug can cause (a violated constraint, a wrong statement) are not translated.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise WorkspaceError(_message(error), path=path) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        raise WorkspaceError(f"is not a valid SQLite database ({error})", path=path) from error


def connect(
    path: Path, *, make: bool = False, threads: bool = False, options: str = "mode=rw"
) -> sqlite3.Connection:
    """Open a connection in autocommit mode and set the pragmas; the schema is not checked."""
    with file_errors("cannot be opened ({strerror})", path):
        if path.exists() and not path.is_file():
            raise WorkspaceError("cannot be opened (not a regular file)", path=path)
        if make:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):  # closing a file gives up all locks that this process has on it
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        uri = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=not threads
    )
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a connection; where nothing can be written, to the file as it is if its WAL has nothing.

    A reader of a database in WAL mode makes files beside it, which a full disk refuses, too.
    """
    connection = connect(path)
    try:
        version(connection)
    except sqlite3.OperationalError as error:
        connection.close()
        if _is_busy(error) or _has_wal(path):
            raise
        return connect(path, options="mode=ro&immutable=1")
    return connection


def _has_wal(path: Path) -> bool:
    with suppress(FileNotFoundError):  # another process may have emptied it just now
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    return False


def check_schema(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Refuse a database with another schema or version; an empty file passes.

    Raises
    ------
    WorkspaceError
        The database has other tables or another version.
    """
    is_empty = not tables(connection) and version(connection) == 0
    if not is_empty and not set(tables(connection)).issuperset(schema.tables):
        raise WorkspaceError(f"is not a {schema.name} database; name another file", path=path)
    if version(connection) not in {0, schema.version}:
        raise WorkspaceError(
            f"has schema version {version(connection)}; this coreloop reads {schema.version}", path=path
        )


def create(connection: sqlite3.Connection, schema: Schema) -> None:
    """Make the tables and the version of a database without one, inside the caller's transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        In a transaction; the database passes `check_schema`.
    schema : Schema
        The target schema.
    """
    if version(connection) == schema.version:
        return
    if isinstance(schema.create, str):
        run_script(connection, schema.create)
    else:
        schema.create(connection)
    connection.execute(f"PRAGMA user_version = {schema.version}")


def run_script(connection: sqlite3.Connection, script: str) -> None:
    r"""Run the statements of a script, each ended by ``;\n``, inside the caller's transaction.

    `sqlite3.Connection.executescript` would commit that transaction.
    """
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def version(connection: sqlite3.Connection) -> int:
    """Return the schema version; 0 if there is none yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables without SQLite's own."""
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return [row[0] for row in connection.execute(listed)]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of a table's columns; an absent table has none."""
    return [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def use_wal(connection: sqlite3.Connection) -> None:
    """Let other processes read during a write."""
    # SQLite itself does not wait here if two processes open a new file at the same time.
    if not wait_until(partial(_uses_wal, connection), within_s=BUSY_TIMEOUT_S, pause_s=_PAUSE_S):
        connection.execute(_USE_WAL)


def _uses_wal(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute(_USE_WAL)
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
        return False
    return True


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Write the WAL into the database file and truncate it; False if a reader prevented that."""

    def is_empty() -> bool:
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    # SQLite waits for readers and writers, but not for another checkpoint.
    return wait_until(is_empty, within_s=BUSY_TIMEOUT_S, pause_s=_PAUSE_S)


def busy() -> str:
    """Return the message for a database that another process is using."""
    return f"another process has been using it for {BUSY_TIMEOUT_S:.0f} s"


def reason(error: sqlite3.OperationalError) -> str:
    """Explain the failure of a statement that the caller can do without."""
    return busy() if _is_busy(error) else str(error)


def _message(error: sqlite3.OperationalError) -> str:
    if _is_busy(error):
        return f"{busy()}; run this again"
    if _code(error) == sqlite3.SQLITE_FULL:
        return f"the disk is full ({error}); make room and try again"
    if _code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
        return f"cannot be used ({error}); allow writing to it and to its folder"
    return f"cannot be used ({error})"


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _code(error: sqlite3.OperationalError) -> int:
    """Return the primary code of an error; 0 if it is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda text: text.decode("utf-8", "replace")  # other programs write anything
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # no clear text in a temporary file
