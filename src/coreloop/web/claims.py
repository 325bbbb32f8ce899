"""Idempotency keys: a request that is sent again gets the run that it got before."""

from datetime import UTC, datetime, timedelta
from secrets import token_bytes
from typing import Final

from coreloop.base.database import Database
from coreloop.runs.ulid import new_ulid
from coreloop.web.problems import Problem

KEPT: Final = timedelta(days=1)


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
