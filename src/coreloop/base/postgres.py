"""The database of a project; with the extra ``postgres``, a Postgres database for several machines.

psycopg is imported only in this module, on first use. The tables are in the schema ``coreloop`` of the
database. A session holds runs by advisory locks, so a pooler must not share it between transactions.
"""

import selectors
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
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
_UNANSWERED_MS: Final = 20_000
"""After which a server whose machine is gone is given up; otherwise the system waits for 15 minutes."""
_SET_UP: Final = """
SET search_path TO coreloop; SET tcp_keepalives_idle TO 20; SET tcp_keepalives_interval TO 5;
SET tcp_keepalives_count TO 3
"""
"""So the server gives up what the session of a machine that is gone holds: in 35 s, not in two hours."""


class PostgresDatabase(Database):
    """A session, which threads use in turns; see `database_at`."""

    lock_row = " FOR UPDATE"
    take_row = " FOR UPDATE SKIP LOCKED"
    blob = "BYTEA"

    def __init__(self, address: str) -> None:
        self.address = address
        self._turn = RLock()
        self._depth = 0
        self._session: Session | None = None

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement."""
        assert self._session is not None
        return rows(self._session, statement, parameters)

    def now(self) -> datetime:
        """Return the time of the server: the clocks of machines differ."""
        with self.reading():
            ((timestamp,),) = self.rows("SELECT clock_timestamp()")
        return timestamp.astimezone(UTC)  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take the turn and a session that works, and translate Postgres' errors."""
        with self._turn, store_errors():
            if self._depth == 0:
                self._session = self._working()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _working(self) -> Session:
        """Return the session; a new one takes the place of one that is lost, or was interrupted."""
        session = self._session
        if session is not None:
            if session.info.transaction_status.name == "IDLE" and is_alive(session):
                return session
            session.close()
        return connect(self.address)

    @contextmanager
    def writing(self, *, is_durable: bool = True) -> Iterator[None]:
        """Every commit waits for the disk, unless the database is set otherwise."""
        with self.reading():
            assert self._session is not None
            with self._session.transaction():
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
        """Close the session, once its use ends."""
        with self._turn:
            if self._session is not None:
                self._session.close()


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


def is_started(address: str) -> bool:
    """Whether a server takes connections, or another reason than its start is for `database_at` to say."""
    try:
        from psycopg.conninfo import make_conninfo
        from psycopg.pq import PGconn, Ping
    except ImportError:
        return True
    with store_errors():
        asked = make_conninfo(address, connect_timeout=_CONNECT_S).encode()
    return PGconn.ping(asked) not in {Ping.REJECT, Ping.NO_RESPONSE}


@contextmanager
def store_errors() -> Iterator[None]:
    """Translate what Postgres, its network and its address can do wrong, but not errors of ours."""
    import psycopg

    try:
        yield
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
