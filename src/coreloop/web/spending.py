"""What the runs of a caller may spend in a day, in all processes."""

from datetime import UTC, datetime
from typing import Final

from coreloop.base.database import Database
from coreloop.web.problems import Problem

_MICRO: Final = 1_000_000


class Spending:
    """What callers have spent. Several threads and processes may use it.

    Parameters
    ----------
    database : Database
        See `coreloop.web.tables.open_tables`.
    usd_per_day : float or None
        The limit; None for none, and then nothing is counted.
    """

    def __init__(self, database: Database, usd_per_day: float | None) -> None:
        self._database = database
        self._limit = usd_per_day

    def require(self, owner: str, *, now: datetime) -> None:
        """Refuse a new run of a caller whose ended runs have spent the day's limit.

        Raises
        ------
        Problem
            429.
        """
        if self._limit is None:
            return
        with self._database.reading():
            spent = self._database.rows(
                "SELECT microusd FROM spending WHERE owner = ? AND day = ?", (owner, _day(now))
            )
        if spent and spent[0][0] >= self._limit * _MICRO:
            raise Problem(
                429, "budget", "the runs of this caller have spent the day's limit (UTC)", retryable=True
            )

    def begin(self, owner: str, run_id: str) -> None:
        """Note whose run it is; that of a repeated request stays its first caller's."""
        if self._limit is None:
            return
        with self._database.writing():
            self._database.rows(
                "INSERT INTO owners VALUES (?, ?) ON CONFLICT (run_id) DO NOTHING", (run_id, owner)
            )

    def ended(self, run_id: str, microusd: int, *, now: datetime) -> None:
        """Count what an ended run has spent, once; earlier days are removed."""
        if self._limit is None:
            return
        with self._database.writing():
            owners = self._database.rows("DELETE FROM owners WHERE run_id = ? RETURNING owner", (run_id,))
            self._database.rows("DELETE FROM spending WHERE day < ?", (_day(now),))
            for (owner,) in owners:
                self._database.rows(
                    "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (owner, day) "
                    "DO UPDATE SET microusd = spending.microusd + excluded.microusd",
                    (owner, _day(now), microusd),
                )


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()
