"""The database of a project; with the extra ``postgres``, a Postgres database for several machines.

psycopg is imported only in this module, on first use. The tables are in the schema ``coreloop`` of the
database. A session holds runs by advisory locks, so a pooler must not share it between transactions.
"""

import selectors
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import BoundedSemaphore, Lock, local
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from coreloop.base import sqlite
from coreloop.base.database import ADDRESS, FILE, VERSIONS, Database, SqliteDatabase, Tables, this_process
from coreloop.base.database import store_errors as file_errors
from coreloop.base.errors import RunStoreError
from coreloop.base.extras import needs_extra
from coreloop.base.text import printable

if TYPE_CHECKING:
    import psycopg

Session: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
_FILE: Final = sqlite.Schema("coreloop", VERSIONS, {"versions"})
_CREATING: Final = 7_100_917_430_112_644_003
"""The advisory lock of those who create tables; those of runs are hashes of their ids."""
_NAME_BYTES: Final = 63
_CONNECT_S: Final = 10  # chosen: a distant server needs a second or two, and a wrong address is said soon
_MOST_SESSIONS: Final = 4
"""Of a store. A service has four stores, and a session for each run that it works on; Postgres has 100."""
_UNANSWERED_MS: Final = 20_000
"""After which a server whose machine is gone is given up; otherwise the system waits for 15 minutes."""
_SET_UP: Final = """
SET search_path TO coreloop; SET tcp_keepalives_idle TO 20; SET tcp_keepalives_interval TO 5;
SET tcp_keepalives_count TO 3
"""
"""So the server gives up what the session of a machine that is gone holds: in 35 s, not in two hours."""


class PostgresDatabase(Database):
    """A few sessions, of which each thread uses one at a time; see `database_at`."""

    lock_row = " FOR UPDATE"
    take_row = " FOR UPDATE SKIP LOCKED"
    blob = "BYTEA"

    def __init__(self, address: str) -> None:
        self.address = address
        self._sessions = _Sessions(lambda: connect(address))
        self._own = local()

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement."""
        return rows(self._own.session, statement, parameters)

    def now(self) -> datetime:
        """Return the time of the server: the clocks of machines differ."""
        with self.reading():
            ((timestamp,),) = self.rows("SELECT clock_timestamp()")
        return timestamp.astimezone(UTC)  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Use a session, and translate Postgres' errors."""
        if getattr(self._own, "session", None) is not None:
            yield
            return
        with store_errors(), self._sessions.one() as session:
            self._own.session = session
            try:
                yield
            finally:
                self._own.session = None

    @contextmanager
    def writing(self, *, is_durable: bool = True) -> Iterator[None]:
        """Every commit waits for the disk, unless the database is set otherwise."""
        with self.reading(), self._own.session.transaction():
            yield

    def erase(self, *tables: str) -> None:
        """Free the rows' space; Postgres' own logs and backups are its administrator's."""
        with self.reading():
            self.rows(f"VACUUM {', '.join(tables)}")

    def create(self, tables: Tables) -> None:
        """Create a store's tables, one process after another."""
        with self.writing():
            self.rows("SELECT pg_advisory_xact_lock(?)", (_CREATING,))
            if self.rows("SELECT to_regclass('coreloop.versions')") == [(None,)]:
                self.rows("CREATE SCHEMA IF NOT EXISTS coreloop")
                self.rows(VERSIONS)
            super().create(tables)

    def close(self) -> None:
        """Close the sessions."""
        self._sessions.close()


class _Sessions:
    """Sessions that are kept for their next use, and replaced once they are lost."""

    def __init__(self, connect: Callable[[], Session]) -> None:
        self._connect = connect
        self._free = BoundedSemaphore(_MOST_SESSIONS)
        self._lock = Lock()
        self._idle: list[Session] = []
        self._is_closed = False

    @contextmanager
    def one(self) -> Iterator[Session]:
        """Use a session that works, alone."""
        with self._free:
            session = self._next()
            try:
                yield session
            finally:
                self._give_back(session)

    def close(self) -> None:
        """Close all sessions; those in use when their use ends."""
        with self._lock:
            self._is_closed = True
            while self._idle:
                self._idle.pop().close()

    def _next(self) -> Session:
        while True:
            with self._lock:
                session = self._idle.pop() if self._idle else None
            if session is None:
                return self._connect()
            if is_alive(session):
                return session
            session.close()

    def _give_back(self, session: Session) -> None:
        with self._lock:
            if self._is_closed or session.closed or session.info.transaction_status.name != "IDLE":
                session.close()
            else:
                self._idle.append(session)


def rows(session: Session, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Run a statement with ``?`` in a session; returns its rows."""
    if parameters:  # a script without any may contain either character
        statement = statement.replace("?", "%s")
    cursor = session.execute(statement.encode(), parameters or None)
    return cursor.fetchall() if cursor.description else []


def connect(address: str) -> Session:
    """Open a session whose tables are in the schema ``coreloop``."""
    import psycopg

    session = psycopg.connect(
        address,
        autocommit=True,
        connect_timeout=_CONNECT_S,
        tcp_user_timeout=_UNANSWERED_MS,
        application_name=this_process().encode("ascii", "replace")[:_NAME_BYTES].decode(),
        keepalives_idle=_UNANSWERED_MS // 1000,  # a statement that the server received, and nobody answers
    )
    session.execute(_SET_UP)
    return session


def is_alive(session: Session) -> bool:
    """Whether an idle session works, without asking the server: a lost one has something to read, its end."""
    import psycopg

    if session.closed:
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(session.fileno(), selectors.EVENT_READ)
        if not selector.select(0):
            return True
    try:
        session.execute("SELECT 1")  # it may have been a notice
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def database_at(place: Path | str, tables: Tables) -> Iterator[Database]:
    """Open a database, and create the tables of a store if necessary.

    Parameters
    ----------
    place : Path or str
        A SQLite file, created with mode 0600 and its folder with 0700; or the address of a Postgres database.

    Raises
    ------
    RunStoreError
        The database has other tables, another version, or cannot be used.
    MissingExtraError
        Postgres needs an extra.
    """
    with ExitStack() as stack:
        if isinstance(place, str):
            try:
                import psycopg  # noqa: F401
            except ImportError as error:
                raise needs_extra("postgres", feature=ADDRESS) from error
            database: Database = stack.enter_context(closing(PostgresDatabase(place)))
        else:
            with file_errors(place):
                connection = stack.enter_context(sqlite.writer(place, _FILE, threads=True))
            database = SqliteDatabase(place, connection)
        database.create(tables)
        yield database


@contextmanager
def project_database(folder: Path, tables: Tables, environ: Mapping[str, str]) -> Iterator[Database]:
    """Open the database of a project: in Postgres if the environment says so, else the file in a folder.

    Raises
    ------
    RunStoreError
        As `database_at`.
    """
    with database_at(environ.get(ADDRESS) or folder / FILE, tables) as database:
        yield database


@contextmanager
def store_errors() -> Iterator[None]:
    """Translate what Postgres, its network and its address can do wrong, but not errors of ours."""
    import psycopg

    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise RunStoreError("the disk of the Postgres store is full; make room and try again") from error
    except psycopg.OperationalError as error:
        reason = printable(str(error).strip().partition("\n")[0])
        raise RunStoreError(f"the Postgres store cannot be used ({reason}); check {ADDRESS}") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise RunStoreError(
            f"the user of {ADDRESS} may not use the schema coreloop; grant it, or create it once"
        ) from error
    except psycopg.ProgrammingError as error:
        if getattr(error, "sqlstate", None) is not None:
            raise
        raise RunStoreError(f"{ADDRESS} is not an address such as postgresql://user@host/database") from error
