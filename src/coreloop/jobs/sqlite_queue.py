"""The queue of jobs in a SQLite file: one machine, several processes."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Any, Final

from coreloop import sqlite
from coreloop.database import SqliteDatabase, sqlite_database
from coreloop.errors import UsageError
from coreloop.jobs.backoff import backoff
from coreloop.jobs.job import LEASE_S, MAX_ATTEMPTS, Job, QueueFigures, Status, unknown_job
from coreloop.runs.ulid import new_ulid

_FIRST: Final = """
CREATE TABLE jobs (
    id           TEXT PRIMARY KEY,      -- ULID
    name         TEXT NOT NULL,
    payload      TEXT NOT NULL,         -- JSON
    key          TEXT,                  -- NULL for none
    priority     INTEGER NOT NULL,
    status       TEXT NOT NULL,         -- queued, running, done, dead, cancelled
    attempts     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    created_at   TEXT NOT NULL,         -- UTC, YYYY-MM-DDTHH:MM:SS.ffffff+00:00, like all times here
    run_at       TEXT NOT NULL,         -- queued: not begun before; running: the lease's end
    finished_at  TEXT,
    error        TEXT NOT NULL,
    result       TEXT,                  -- JSON
    holder       TEXT NOT NULL          -- random, of the attempt under way; "" for none
);
CREATE UNIQUE INDEX jobs_by_key ON jobs(key) WHERE key IS NOT NULL;
CREATE INDEX jobs_due ON jobs(run_at) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_by_end ON jobs(finished_at) WHERE finished_at IS NOT NULL;
"""
_COLUMNS: Final = (
    "id, name, payload, key, priority, status, attempts, max_attempts, created_at, run_at, "
    "finished_at, error, result, holder"
)
_PUT: Final = """
INSERT INTO jobs VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?, NULL, '', NULL, '') RETURNING {}
"""
_TAKE: Final = """
UPDATE jobs SET status = 'running', attempts = attempts + 1, holder = ?, run_at = ? WHERE id = (
    SELECT id FROM jobs WHERE status IN ('queued', 'running') AND run_at <= ?
    AND name IN (SELECT value FROM json_each(?)) AND (? OR id IN (SELECT value FROM json_each(?)))
    ORDER BY priority DESC, run_at, id LIMIT 1
) RETURNING {}
"""


def _create(connection: sqlite3.Connection, _now: datetime) -> None:
    sqlite.run_script(connection, _FIRST)


def _is_own(connection: sqlite3.Connection) -> bool:
    return "jobs" in sqlite.tables(connection)


JOBS: Final = sqlite.Schema("jobs", (_create,), _is_own)


class SqliteQueue:
    """A queue in a file, see `sqlite_queue` and `coreloop.jobs.queue.JobQueue`."""

    def __init__(self, database: SqliteDatabase, *, lease_s: float, now: Callable[[], datetime]) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_s)
        self._now = now
        self._holders: dict[str, str] = {}

    def put(
        self,
        name: str,
        payload: Mapping[str, Any],
        *,
        key: str = "",
        priority: int = 0,
        max_attempts: int = MAX_ATTEMPTS,
        run_at: datetime | None = None,
    ) -> Job:
        """Add a job, or return the one with the same key."""
        now = self._now()
        row = (
            *(new_ulid(now, token_bytes(10)), name, json.dumps(payload), key or None, priority),
            *(max_attempts, _stamp(now), _stamp(run_at or now)),
        )
        with self._database.writing():
            known = self._rows("SELECT {} FROM jobs WHERE key = ?", (key,)) if key else []
            return (known or self._rows(_PUT, row))[0]

    def get(self, job_id: str) -> Job:
        """Return a job."""
        with self._database.reading():
            found = self._rows("SELECT {} FROM jobs WHERE id = ?", (job_id,))
        if not found:
            raise unknown_job(job_id)
        return found[0]

    def jobs(self, *, status: Status | None = None, limit: int = 100) -> list[Job]:
        """Return jobs, the newest first."""
        with self._database.reading():
            return self._rows(
                "SELECT {} FROM jobs WHERE ? = '' OR status = ? ORDER BY id DESC LIMIT ?",
                (status or "", status or "", limit),
            )

    def take(self, names: Collection[str], *, only: Collection[str] | None = None) -> Job | None:
        """Begin the next job; one whose lease is over and that has no attempts left is dead."""
        now, holder = self._now(), token_hex(8)
        with self._database.writing():
            self._bury(now)
            found = self._rows(
                _TAKE,
                (
                    *(holder, _stamp(now + self._lease), _stamp(now), json.dumps(sorted(names))),
                    *(only is None, json.dumps(sorted(only or ()))),
                ),
            )
        if not found:
            return None
        self._holders[found[0].id] = holder
        return found[0]

    def keep(self, job: Job) -> bool:
        """Extend the lease."""
        return bool(self._change(job, "run_at = ?", (_stamp(self._now() + self._lease),)))

    def finish(self, job: Job, result: Any) -> bool:
        """Commit a job, unless another process has taken it over."""
        values = (_stamp(self._now()), json.dumps(result))
        changes = "status = 'done', finished_at = ?, result = ?, error = '', holder = ''"
        return bool(self._change(job, changes, values))

    def fail(self, job: Job, error: str) -> Job:
        """Queue a job again, later each time; or give it up."""
        now = self._now()
        if job.attempts >= job.max_attempts:
            changes = "status = 'dead', finished_at = ?, error = ?, holder = ''"
            self._change(job, changes, (_stamp(now), error))
        else:
            due = now + timedelta(seconds=backoff(job.attempts))
            self._change(job, "status = 'queued', run_at = ?, error = ?, holder = ''", (_stamp(due), error))
        return self.get(job.id)

    def release(self, job: Job) -> None:
        """Queue a job again at once, without counting the attempt."""
        changes = "status = 'queued', attempts = attempts - 1, run_at = ?, holder = ''"
        self._change(job, changes, (_stamp(self._now()),))

    def retry(self, job_id: str) -> Job:
        """Queue a dead or cancelled job again, with all its attempts."""
        job = self.get(job_id)
        with self._database.writing():
            found = self._rows(
                "UPDATE jobs SET status = 'queued', attempts = 0, run_at = ?, finished_at = NULL, error = '' "
                "WHERE id = ? AND status IN ('dead', 'cancelled') RETURNING {}",
                (_stamp(self._now()), job_id),
            )
        if not found:
            raise UsageError(f"job {job.id} is {job.status}; only dead and cancelled jobs can be retried")
        return found[0]

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that waits."""
        job = self.get(job_id)
        with self._database.writing():
            found = self._rows(
                "UPDATE jobs SET status = 'cancelled', finished_at = ? WHERE id = ? AND status = 'queued' "
                "RETURNING {}",
                (_stamp(self._now()), job_id),
            )
        if not found:
            raise UsageError(f"job {job.id} is {job.status}; only queued jobs can be cancelled")
        return found[0]

    def figures(self) -> QueueFigures:
        """Count."""
        hour = _stamp(self._now() - timedelta(hours=1))
        with self._database.reading():
            counts = self._database.rows("SELECT status, count(*) FROM jobs GROUP BY status")
            ((retried,),) = self._database.rows("SELECT count(*) FROM jobs WHERE attempts > 1")
            ended = self._rows("SELECT {} FROM jobs WHERE finished_at >= ? AND status = 'done'", (hour,))
        durations = sorted((job.finished_at or job.created_at) - job.created_at for job in ended)
        return QueueFigures(
            by_status=dict(counts),
            done_last_hour=len(ended),
            p95_s=durations[(len(durations) * 95 - 1) // 100].total_seconds() if durations else None,
            retried=retried,
        )

    def forget_before(self, moment: datetime) -> int:
        """Remove finished jobs."""
        with self._database.writing():
            removed = self._database.rows(
                "DELETE FROM jobs WHERE finished_at < ? RETURNING id", (_stamp(moment),)
            )
        self._database.erase("jobs")
        return len(removed)

    def _bury(self, now: datetime) -> None:
        """Give up jobs whose last process died: they may be what killed it."""
        self._database.rows(
            "UPDATE jobs SET status = 'dead', finished_at = ?, holder = '', "
            "error = 'its process ended before it was done' "
            "WHERE status = 'running' AND run_at <= ? AND attempts >= max_attempts",
            (_stamp(now), _stamp(now)),
        )

    def _change(self, job: Job, changes: str, values: tuple[Any, ...]) -> list[Any]:
        """Change a job that this process holds; returns no row if it does not."""
        with self._database.writing():
            return self._database.rows(
                f"UPDATE jobs SET {changes} WHERE id = ? AND holder = ? AND status = 'running' RETURNING id",
                (*values, job.id, self._holders.get(job.id, "-")),
            )

    def _rows(self, statement: str, parameters: tuple[Any, ...]) -> list[Job]:
        return [_job(row) for row in self._database.rows(statement.format(_COLUMNS), parameters)]


@contextmanager
def sqlite_queue(
    path: Path, *, lease_s: float = LEASE_S, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Iterator[SqliteQueue]:
    """Open a queue in a file; it is created or migrated if necessary.

    Parameters
    ----------
    path : Path
        Created with mode 0600, its folder with 0700.
    lease_s : float
        Seconds after which the job of a process that died is due again.
    now : callable
        Returns the time.

    Raises
    ------
    RunStoreError
        The file is not a queue, has a newer version, or cannot be used.
    """
    with sqlite_database(path, JOBS) as database:
        yield SqliteQueue(database, lease_s=lease_s, now=now)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _job(row: Any) -> Job:
    return Job(
        id=row["id"],
        name=row["name"],
        payload=json.loads(row["payload"]),
        key=row["key"] or "",
        priority=row["priority"],
        status=row["status"],
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        created_at=datetime.fromisoformat(row["created_at"]),
        run_at=datetime.fromisoformat(row["run_at"]),
        finished_at=datetime.fromisoformat(row["finished_at"]) if row["finished_at"] else None,
        error=row["error"],
        result=json.loads(row["result"]) if row["result"] is not None else None,
    )
