"""The extra ``postgres``: the store of runs in a Postgres database, for several machines.

psycopg is imported only in this module, on first use. The tables are in the schema ``coreloop`` of the
database. A session holds its runs by advisory locks, so a pooler must not share it between transactions.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coreloop.errors import MissingExtraError, RunStoreError, UsageError
from coreloop.runs.stores.hold import busy, this_process
from coreloop.runs.stores.schema import FIRST
from coreloop.runs.stores.sql import SqlStore
from coreloop.text import printable

if TYPE_CHECKING:
    import psycopg

VARIABLE: Final = "CORELOOP_DATABASE_URL"
_MIGRATIONS: Final = (FIRST.replace("BLOB", "BYTEA"),)
_MIGRATING: Final = 7_100_917_430_112_644_003
"""The advisory lock of migrations; those of runs are hashes of their ids."""
_HOLDER: Final = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND (classid::bigint << 32 | objid::bigint) = ?
"""
_NAME_BYTES: Final = 63
_CONNECT_S: Final = 10
_NOTICED_S: Final = 1.0
_AGAIN_S: Final = 0.05


class PostgresStore(SqlStore):
    """A store in a database, see `postgres_store`."""

    _lock_row = " FOR UPDATE"

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        super().__init__()
        self._connection = connection
        self._held: set[str] = set()

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Hold a run by a lock of this session, which ends with the process or its connection."""
        number = int.from_bytes(sha256(run_id.encode("utf-8", "replace")).digest()[:8], signed=True)
        with self._reading():
            self._newest(run_id)
            if run_id in self._held:  # a session that asks twice gets the lock twice
                raise busy(run_id, this_process())
            if not self._lock(number):
                holders = self._rows(_HOLDER, (number,))
                raise busy(run_id, holders[0][0] if holders else "")
            self._held.add(run_id)
        try:
            yield
        finally:
            with self._turn:
                self._held.discard(run_id)
                if not self._connection.closed:
                    with self._reading():
                        self._rows("SELECT pg_advisory_unlock(?)", (number,))

    def _lock(self, number: int) -> bool:
        """Take a lock; the server needs a moment to notice that a killed process holds it no more."""
        give_up_at = time.monotonic() + _NOTICED_S
        while True:
            ((is_held,),) = self._rows("SELECT pg_try_advisory_lock(?)", (number,))
            if is_held or time.monotonic() >= give_up_at:
                return bool(is_held)
            time.sleep(_AGAIN_S)

    def backup(self, path: Path) -> None:
        """Refuse: Postgres has a tool of its own."""
        raise UsageError(f"{path}: back up Postgres by its own tool: pg_dump --schema=coreloop")

    def _rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._turn, _store_errors():
            yield

    @contextmanager
    def _writing(self, *, is_durable: bool = True) -> Iterator[None]:
        """Every commit waits for the disk, unless the database is set otherwise."""
        with self._reading(), self._connection.transaction():
            yield

    def _erase(self) -> None:
        """Free the rows' space; Postgres' own logs and backups are its administrator's."""
        with self._reading():
            self._rows("VACUUM events, runs, reservations")

    def migrate(self) -> None:
        """Create the tables or migrate them.

        Raises
        ------
        RunStoreError
            They are of a newer version.
        """
        with self._reading(), self._connection.transaction():
            self._rows("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
            self._rows("SET search_path TO coreloop")
            if self._rows("SELECT to_regclass('coreloop.schema_version')") == [(None,)]:
                self._rows("CREATE SCHEMA IF NOT EXISTS coreloop")
                self._rows("CREATE TABLE schema_version AS SELECT 0 AS version")
            ((version,),) = self._rows("SELECT version FROM schema_version")
            if version > len(_MIGRATIONS):
                raise RunStoreError(f"the Postgres store has schema version {version}; upgrade coreloop")
            for script in _MIGRATIONS[version:]:
                self._rows(script)
            self._rows("UPDATE schema_version SET version = ?", (len(_MIGRATIONS),))


@contextmanager
def postgres_store(address: str) -> Iterator[PostgresStore]:
    """Open a store in a database; its tables are created or migrated if necessary.

    Parameters
    ----------
    address : str
        ``postgresql://user@host/database``. It never appears in a message, because it may hold a password.

    Raises
    ------
    MissingExtraError
        psycopg is not installed.
    RunStoreError
        The database cannot be used, or has tables of a newer version.
    """
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("postgres", feature=VARIABLE) from error
    name = this_process().encode("ascii", "replace")[:_NAME_BYTES].decode()
    with _store_errors():
        connection = psycopg.connect(
            address, autocommit=True, connect_timeout=_CONNECT_S, application_name=name
        )
    try:
        store = PostgresStore(connection)
        store.migrate()
        yield store
    finally:
        connection.close()


@contextmanager
def _store_errors() -> Iterator[None]:
    """Translate what Postgres, its network and its address can do wrong, but not errors of ours."""
    import psycopg

    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise RunStoreError("the disk of the Postgres store is full; make room and run this again") from error
    except psycopg.OperationalError as error:
        reason = printable(str(error).strip().partition("\n")[0])
        raise RunStoreError(f"the Postgres store cannot be used ({reason}); check {VARIABLE}") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise RunStoreError(
            f"the user of {VARIABLE} may not use the schema coreloop; grant it, or create it once"
        ) from error
    except psycopg.ProgrammingError as error:
        if getattr(error, "sqlstate", None) is not None:
            raise
        raise RunStoreError(
            f"{VARIABLE} is not an address such as postgresql://user@host/database"
        ) from error
