"""The extra ``postgres``: a Postgres database for the stores of several machines.

psycopg is imported only in this module, on first use. The tables are in the schema ``coreloop`` of the
database. Stores hold things by advisory locks of the session, so a pooler must not share it between
transactions.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from coreloop.database import Database, this_process
from coreloop.errors import MissingExtraError, RunStoreError
from coreloop.text import printable

if TYPE_CHECKING:
    import psycopg

VARIABLE: Final = "CORELOOP_DATABASE_URL"
_MIGRATING: Final = 7_100_917_430_112_644_003
"""The advisory lock of migrations; those of runs are hashes of their ids."""
_NAME_BYTES: Final = 63
_CONNECT_S: Final = 10


class PostgresDatabase(Database):
    """A session, see `postgres_database`."""

    lock_row = " FOR UPDATE"

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        super().__init__()
        self.connection = connection

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement."""
        if parameters:  # a script without any may contain either character
            statement = statement.replace("?", "%s")
        cursor = self.connection.execute(statement.encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take the turn, and translate Postgres' errors."""
        with self.turn, _store_errors():
            yield

    @contextmanager
    def writing(self, *, is_durable: bool = True) -> Iterator[None]:
        """Every commit waits for the disk, unless the database is set otherwise."""
        with self.reading(), self.connection.transaction():
            yield

    def erase(self, *tables: str) -> None:
        """Free the rows' space; Postgres' own logs and backups are its administrator's."""
        with self.reading():
            self.rows(f"VACUUM {', '.join(tables)}")

    def migrate(self, versions: str, migrations: Sequence[str]) -> None:
        """Create a store's tables or migrate them.

        Parameters
        ----------
        versions : str
            The table that has their version.
        migrations : sequence of str
            SQL, a script for each version; ``BLOB`` stands for ``BYTEA``.

        Raises
        ------
        RunStoreError
            They are of a newer version.
        """
        with self.reading(), self.connection.transaction():
            self.rows("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
            self.rows("SET search_path TO coreloop")
            if self.rows(f"SELECT to_regclass('coreloop.{versions}')") == [(None,)]:
                self.rows("CREATE SCHEMA IF NOT EXISTS coreloop")
                self.rows(f"CREATE TABLE {versions} AS SELECT 0 AS version")
            ((version,),) = self.rows(f"SELECT version FROM {versions}")
            if version > len(migrations):
                raise RunStoreError(f"the Postgres store has schema version {version}; upgrade coreloop")
            for script in migrations[version:]:
                self.rows(script.replace("BLOB", "BYTEA"))
            self.rows(f"UPDATE {versions} SET version = ?", (len(migrations),))


@contextmanager
def postgres_database(
    address: str, *, versions: str, migrations: Sequence[str]
) -> Iterator[PostgresDatabase]:
    """Open a session; a store's tables are created or migrated if necessary.

    Parameters
    ----------
    address : str
        ``postgresql://user@host/database``. It never appears in a message, because it may hold a password.
    versions, migrations
        See `PostgresDatabase.migrate`.

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
        database = PostgresDatabase(connection)
        database.migrate(versions, migrations)
        yield database
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
