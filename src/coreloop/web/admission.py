"""How much one caller may do: requests and runs a minute, and requests under way at once."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Final

from coreloop.base.database import Database
from coreloop.base.project.settings import ServiceSettings
from coreloop.runs.stores.accounts import utc_day
from coreloop.web.problems import Problem

_BURST_S: Final = 6.0
"""How much of a rate a caller that was quiet has saved."""
# Chosen: a person who mistypes is not stopped, and a search of 32 random bytes is hopeless.
_BAD_KEYS_PER_MINUTE: Final = 60
_MAX_CALLERS: Final = 10_000


@dataclass(slots=True)
class _Bucket:
    """What is left of a rate, at a time."""

    left: float
    at: float


class Admission:
    """Counts what callers do; only the event loop's thread uses it.

    Parameters
    ----------
    settings : ServiceSettings
        The bounds.
    monotonic : callable
        Returns seconds.
    """

    def __init__(self, settings: ServiceSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self._open: Counter[str] = Counter()

    @contextmanager
    def request(self, caller: str) -> Iterator[None]:
        """Count a request from its beginning to the end of its response.

        Raises
        ------
        Problem
            Too many, 429.
        """
        self._take("request", caller, self._settings.requests_per_minute)
        if self._open[caller] >= self._settings.open_requests:
            raise _too_many("open requests", 1)
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    def run(self, caller: str) -> None:
        """Count a new run. As `request` otherwise."""
        self._take("run", caller, self._settings.runs_per_minute)

    def bad_key(self, address: str) -> None:
        """Count a wrong key of an address. As `request` otherwise."""
        self._take("bad key", address, _BAD_KEYS_PER_MINUTE)

    def _take(self, what: str, caller: str, per_minute: int) -> None:
        now, max_tokens = self._monotonic(), max(1.0, per_minute * _BURST_S / 60)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.clear()  # an attack from many addresses must not fill the memory
        bucket = self._buckets.setdefault((what, caller), _Bucket(max_tokens, now))
        bucket.left = min(max_tokens, bucket.left + (now - bucket.at) * per_minute / 60)
        bucket.at = now
        if bucket.left < 1:
            raise _too_many(f"{what}s a minute", ceil((1 - bucket.left) * 60 / per_minute))
        bucket.left -= 1


def _too_many(what: str, wait_s: int) -> Problem:
    return Problem(429, "too_many", f"too many {what}; wait {wait_s} s", retryable=True, retry_after_s=wait_s)


_MICRO: Final = 1_000_000  # microdollars in a dollar


class Spending:
    """What callers have spent. Several threads and processes may use it.

    Parameters
    ----------
    database : Database
        See `coreloop.web.service.open_tables`.
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
                "SELECT microusd FROM spending WHERE owner = ? AND day = ?", (owner, utc_day(now))
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
            self._database.rows("DELETE FROM spending WHERE day < ?", (utc_day(now),))
            for (owner,) in owners:
                self._database.rows(
                    "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (owner, day) "
                    "DO UPDATE SET microusd = spending.microusd + excluded.microusd",
                    (owner, utc_day(now), microusd),
                )
