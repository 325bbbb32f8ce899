"""The store of runs in a Postgres database, for several machines: a session holds runs by advisory locks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final

from coreloop.database import this_process
from coreloop.postgres import PostgresDatabase, postgres_database
from coreloop.runs.stores.hold import busy
from coreloop.runs.stores.schema import FIRST, SECOND
from coreloop.runs.stores.sql import SqlStore

_HOLDER: Final = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND (classid::bigint << 32 | objid::bigint) = ?
"""
_NOTICED_S: Final = 1.0
_AGAIN_S: Final = 0.05


class PostgresStore(SqlStore):
    """A store in a database, see `postgres_store`."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        self._session = database
        self._held: set[str] = set()

    @contextmanager
    def hold(self, run_id: str) -> Iterator[None]:
        """Hold a run by a lock of this session, which ends with the process or its connection."""
        number = int.from_bytes(sha256(run_id.encode("utf-8", "replace")).digest()[:8], signed=True)
        with self._database.reading():
            self._newest(run_id)
            if run_id in self._held:  # a session that asks twice gets the lock twice
                raise busy(run_id, this_process())
            if not self._lock(number):
                holders = self._database.rows(_HOLDER, (number,))
                raise busy(run_id, holders[0][0] if holders else "")
            self._held.add(run_id)
        try:
            yield
        finally:
            with self._database.turn:
                self._held.discard(run_id)
                if not self._session.connection.closed:
                    with self._database.reading():
                        self._database.rows("SELECT pg_advisory_unlock(?)", (number,))

    def _lock(self, number: int) -> bool:
        """Take a lock; the server needs a moment to notice that a killed process holds it no more."""
        give_up_at = time.monotonic() + _NOTICED_S
        while True:
            ((is_held,),) = self._database.rows("SELECT pg_try_advisory_lock(?)", (number,))
            if is_held or time.monotonic() >= give_up_at:
                return bool(is_held)
            time.sleep(_AGAIN_S)


@contextmanager
def postgres_store(address: str) -> Iterator[PostgresStore]:
    """Open a store in a database; its tables are created or migrated if necessary.

    Parameters
    ----------
    address : str
        As for `coreloop.postgres.postgres_database`, which raises the errors.
    """
    with postgres_database(address, versions="schema_version", migrations=(FIRST, SECOND)) as database:
        yield PostgresStore(database)
