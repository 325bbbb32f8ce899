"""Idempotency keys: a request that is sent again gets the run that it got before."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from secrets import token_bytes
from sqlite3 import Connection
from typing import Final

from coreloop import sqlite
from coreloop.database import Database, sqlite_database
from coreloop.project.workspace import Workspace
from coreloop.runs.ulid import new_ulid
from coreloop.service.problems import Problem

FILE_NAME: Final = "service.db"
KEPT: Final = timedelta(days=1)
_TABLE: Final = """
-- Requests that had an idempotency key.
CREATE TABLE claims (
    owner       TEXT NOT NULL,  -- the name of the API key
    key         TEXT NOT NULL,
    request     BLOB NOT NULL,  -- SHA-256 of what was asked
    run_id      TEXT NOT NULL,
    created_at  TEXT NOT NULL,  -- UTC
    PRIMARY KEY (owner, key)
);
"""


def _create(connection: Connection, _now: datetime) -> None:
    sqlite.run_script(connection, _TABLE)


def _is_own(connection: Connection) -> bool:
    return "claims" in sqlite.tables(connection)


CLAIMS: Final = sqlite.Schema("service", (_create,), _is_own)


class Claims:
    """Which run a key got. Several threads and processes may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def run_of(self, owner: str, key: str, request: bytes, *, now: datetime) -> str:
        """Return the run of a key; a new id if the key is new, or older than a day.

        Parameters
        ----------
        owner : str
            The caller.
        key : str
            Chosen by the caller.
        request : bytes
            A hash of what was asked.
        now : datetime
            With a zone.

        Raises
        ------
        Problem
            The key was used for another request.
        """
        run_id, stamp = new_ulid(now, token_bytes(10)), now.astimezone(UTC).isoformat()
        with self._database.writing():
            self._database.rows(
                "DELETE FROM claims WHERE created_at < ?", ((now - KEPT).astimezone(UTC).isoformat(),)
            )
            self._database.rows(
                "INSERT INTO claims VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING",
                (owner, key, request, run_id, stamp),
            )
            ((known, claimed),) = self._database.rows(
                "SELECT request, run_id FROM claims WHERE owner = ? AND key = ?", (owner, key)
            )
        if bytes(known) != request:
            raise Problem(
                422, "key_reused", "this Idempotency-Key was used for another request; use a new one"
            )
        return str(claimed)


@contextmanager
def open_claims(workspace: Workspace, environ: Mapping[str, str]) -> Iterator[Claims]:
    """Open the table beside the store of runs, see `coreloop.runs.stores.store.open_store`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    """
    if address := environ.get("CORELOOP_DATABASE_URL"):
        from coreloop.postgres import postgres_database

        with postgres_database(address, versions="service_versions", migrations=[_TABLE]) as postgres:
            yield Claims(postgres)
        return
    workspace.keep_private(workspace.runs_dir)
    with sqlite_database(workspace.runs_dir / FILE_NAME, CLAIMS) as database:
        yield Claims(database)
