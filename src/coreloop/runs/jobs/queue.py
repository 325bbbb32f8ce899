"""The queue of jobs of a project: in a SQLite file for one machine, in Postgres for several."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_bytes
from typing import Any, Final, Literal, get_args

from coreloop.base.database import JSON, Database, Tables, of_row, stamp, storable
from coreloop.base.errors import UsageError
from coreloop.base.postgres import project_database
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.runs.clock import new_ulid

Status = Literal["queued", "running", "done", "dead", "cancelled"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
MAX_ATTEMPTS: Final = 5  # chosen: the last begins three minutes after the first
LEASE_S: Final = 30.0
"""How long a process that died holds its job."""
STALLED: Final = "its process ended before it was done"
"""The error of such a job until it is done again."""
FINISHED: Final = frozenset({"done", "dead", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work.

    Attributes
    ----------
    id : str
        Of the queue that has it.
    name : str
        Says what does it, such as ``index.file``.
    payload : dict
        What it is about; JSON.
    key : str
        Two jobs of the same key are one job; "" for none.
    priority : int
        A higher one is done first.
    status : str
        ``dead``: given up after `max_attempts`, for people to look at.
    attempts, max_attempts : int
        Begun so far, and at most. An attempt's number is what says whether a worker still has the job.
    created_at, run_at : datetime
        In UTC; it is not begun before ``run_at``.
    finished_at : datetime or None
        None until it is done, dead or cancelled.
    error : str
        Of the last attempt; "" for none.
    result : object
        What it returned; JSON.
    """

    id: str
    name: str
    payload: dict[str, Any] = field(metadata=JSON)
    key: str = ""
    priority: int = 0
    status: Status = "queued"
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    created_at: datetime
    run_at: datetime
    finished_at: datetime | None = None
    error: str = ""
    result: Any = field(default=None, metadata=JSON)

    @property
    def is_finished(self) -> bool:
        """Whether nothing more happens to it, unless a person says so."""
        return self.status in FINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueMetrics:
    """What a queue holds and does.

    Attributes
    ----------
    by_status : dict of str to int
        Jobs.
    done_last_hour : int
        Jobs that ended well in the last hour.
    p95_s : float or None
        Seconds from ``created_at`` to the end that 95 % of the last hour's jobs needed at most; None if none.
    retried : int
        Jobs that needed more than one attempt.
    """

    by_status: dict[str, int]
    done_last_hour: int
    p95_s: float | None
    retried: int

    @property
    def retry_rate(self) -> float:
        """Share of jobs that needed more than one attempt."""
        total = sum(self.by_status.values())
        return self.retried / total if total else 0.0


def as_json(value: Any) -> str:
    """Return a value as JSON that every queue can hold.

    Raises
    ------
    TypeError, ValueError
        It is not JSON: an object of a class, NaN or infinity.
    """
    return json.dumps(storable(value), allow_nan=False)


# Chosen: four times the last, at most ten minutes.
_WAITS_S: Final = (2.0, 8.0, 32.0, 128.0, 512.0, 600.0)
_SCRIPT: Final = """
CREATE TABLE jobs (
    id           TEXT PRIMARY KEY,      -- ULID
    name         TEXT NOT NULL,
    payload      TEXT NOT NULL,         -- JSON
    key          TEXT NOT NULL,         -- "" for none
    priority     INTEGER NOT NULL,
    status       TEXT NOT NULL,         -- queued, running, done, dead, cancelled
    attempts     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    created_at   TEXT NOT NULL,         -- UTC, YYYY-MM-DDTHH:MM:SS.ffffff+00:00, like all times here
    run_at       TEXT NOT NULL,         -- queued: not begun before; running: the lease's end
    finished_at  TEXT,
    error        TEXT NOT NULL,
    result       TEXT                   -- JSON
);
CREATE UNIQUE INDEX jobs_by_key ON jobs(key) WHERE key <> '';
CREATE INDEX jobs_in_turn ON jobs(status, priority DESC, created_at);
CREATE INDEX jobs_by_end ON jobs(finished_at) WHERE finished_at IS NOT NULL;
"""
_RECOVER: Final = """
UPDATE jobs SET status = CASE WHEN attempts < max_attempts THEN 'queued' ELSE 'dead' END,
    finished_at = CASE WHEN attempts < max_attempts THEN NULL ELSE ? END, error = ?
WHERE id IN (SELECT id FROM jobs WHERE status = 'running' AND run_at <= ?{})
"""
_TAKE: Final = """
UPDATE jobs SET status = 'running', attempts = attempts + 1, run_at = ? WHERE id = (
    SELECT id FROM jobs WHERE status = 'queued' AND run_at <= ? AND {}
    ORDER BY priority DESC, created_at LIMIT 1{}
) RETURNING *
"""
"""Those who take at once skip each other's rows, and none waits."""


JOBS: Final = Tables("jobs", _SCRIPT)


class JobQueue:
    """Jobs in a database, see `open_queue`. Threads and processes may use it at once.

    Every method raises `coreloop.base.errors.RunStoreError` if the queue cannot be used, and
    `coreloop.base.errors.UsageError` for a job that it does not have.

    Attributes
    ----------
    lease_s : float
        Seconds without `extend_lease` after which a job is due again.
    """

    def __init__(self, database: Database, *, lease_s: float) -> None:
        self._database = database
        self.lease_s = lease_s

    def put(
        self, name: str, payload: Mapping[str, Any], *, run_at: datetime | None = None, **others: Any
    ) -> Job:
        """Add a job; if one with the same key exists, finished or not, it is returned instead.

        ``others`` are fields of `Job`: ``key``, ``priority``, ``max_attempts``.
        """
        now = self._database.now()
        job = Job(
            id=new_ulid(now, token_bytes(10)),
            name=name,
            payload=dict(payload),
            created_at=now,
            run_at=run_at or now,
            **others,
        )
        with self._database.writing():
            added = self._database.insert("jobs", job, "ON CONFLICT DO NOTHING RETURNING *")
            known = added or self._database.rows("SELECT * FROM jobs WHERE key = ?", (storable(job.key),))
        return of_row(Job, known[0])

    def get(self, job_id: str) -> Job:
        """Return a job."""
        found = self._database.select(Job, "SELECT * FROM jobs WHERE id = ?", job_id)
        if not found:
            raise UsageError(f"no job {printable(job_id[:40])}; `dartlab-coreloop jobs show` shows the jobs")
        return found[0]

    def jobs(self, *, status: Status | None = None, limit: int = 100) -> list[Job]:
        """Return jobs, the newest first."""
        statement = "SELECT * FROM jobs WHERE ? = '' OR status = ? ORDER BY created_at DESC LIMIT ?"
        return self._database.select(Job, statement, status or "", status or "", limit)

    def take(self, names: Collection[str], *, only: Collection[str] | None = None) -> Job | None:
        """Begin the next job of some names, or of some ids; None if none is due.

        A job of a process that died is due again when its lease is over.
        """
        marks, values = _among("name", names)
        if only is not None:
            marks, values = f"{marks} AND {_among('id', only)[0]}", [*values, *_among("id", only)[1]]
        taking = _TAKE.format(marks, self._database.take_row)
        with self._database.writing():
            now = self._database.now()
            self._database.rows(_RECOVER.format(self._database.take_row), (stamp(now), STALLED, stamp(now)))
            found = self._database.rows(taking, (self._lease_end(now), stamp(now), *values))
        return of_row(Job, found[0]) if found else None

    def extend_lease(self, job: Job) -> bool:
        """Extend the lease of a job that is being done; False if another process has taken it over."""
        return bool(self._change(job, "run_at = ?", (self._lease_end(self._database.now()),)))

    def finish(self, job: Job, result: Any) -> bool:
        """Commit a job; False, and nothing is stored, if another process has taken it over."""
        values = (stamp(self._database.now()), as_json(result))
        changes = "status = 'done', finished_at = ?, result = ?, error = ''"
        return bool(self._change(job, changes, values))

    def fail(self, job: Job, error: str) -> Job:
        """Store that an attempt failed; the job is due again later, or dead."""
        now = self._database.now()
        if job.attempts < job.max_attempts:
            changes, timestamp = (
                "status = 'queued', run_at = ?",
                now + timedelta(seconds=backoff(job.attempts)),
            )
        else:
            changes, timestamp = "status = 'dead', finished_at = ?", now
        self._change(job, f"{changes}, error = ?", (stamp(timestamp), storable(error)))
        return self.get(job.id)

    def release(self, job: Job) -> None:
        """Give a job back that was not done: its process stops. The attempt does not count."""
        changes = "status = 'queued', attempts = attempts - 1, run_at = ?"
        self._change(job, changes, (stamp(self._database.now()),))

    def retry(self, job_id: str) -> Job:
        """Queue a dead or cancelled job again, with `MAX_ATTEMPTS` more attempts.

        Raises
        ------
        UsageError
            It is neither.
        """
        changes = "status = 'queued', finished_at = NULL, run_at = ?, max_attempts = attempts + ?"
        values = (stamp(self._database.now()), MAX_ATTEMPTS)
        return self._moved(job_id, changes, values, ("cancelled", "dead"), "retried")

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that waits.

        Raises
        ------
        UsageError
            It is being done or finished.
        """
        values = (stamp(self._database.now()),)
        changes = "status = 'cancelled', finished_at = ?"
        return self._moved(job_id, changes, values, ("queued",), "cancelled")

    def _moved(
        self, job_id: str, changes: str, values: tuple[Any, ...], allowed: tuple[Status, ...], done: str
    ) -> Job:
        marks, statuses = _among("status", allowed)
        found = self._database.change(
            f"UPDATE jobs SET {changes} WHERE id = ? AND {marks} RETURNING *",
            *(*values, job_id, *statuses),
        )
        if not found:
            job = self.get(job_id)
            states = " and ".join(allowed)
            raise UsageError(f"job {job.id} is {job.status}; only {states} jobs can be {done}")
        return of_row(Job, found[0])

    def metrics(self) -> QueueMetrics:
        """Count."""
        hour = stamp(self._database.now() - timedelta(hours=1))
        with self._database.reading():
            counts = self._database.rows("SELECT status, count(*) FROM jobs GROUP BY status")
            ((retried,),) = self._database.rows("SELECT count(*) FROM jobs WHERE attempts > 1")
            ended = self._database.rows(
                "SELECT finished_at, created_at FROM jobs WHERE finished_at >= ? AND status = 'done'", (hour,)
            )
        durations = sorted(
            datetime.fromisoformat(end) - datetime.fromisoformat(start) for end, start in ended
        )
        return QueueMetrics(
            by_status=dict(counts),
            done_last_hour=len(ended),
            p95_s=durations[(len(durations) * 95 - 1) // 100].total_seconds() if durations else None,
            retried=retried,
        )

    def forget_before(self, timestamp: datetime) -> int:
        """Remove jobs that finished before a time; returns how many."""
        removed = self._database.change("DELETE FROM jobs WHERE finished_at < ? RETURNING id", timestamp)
        if removed:
            self._database.erase("jobs")
        return len(removed)

    def _lease_end(self, now: datetime) -> str:
        return stamp(now + timedelta(seconds=self.lease_s))

    def _change(self, job: Job, changes: str, values: tuple[Any, ...]) -> list[Any]:
        """Change a job in its attempt; returns no row if the attempt was given up."""
        return self._database.change(
            f"UPDATE jobs SET {changes} WHERE id = ? AND attempts = ? AND status = 'running' RETURNING id",
            *(*values, job.id, job.attempts),
        )


@contextmanager
def open_queue(workspace: Workspace, *, environ: Mapping[str, str]) -> Iterator[JobQueue]:
    """Open the queue of a workspace; it is created if necessary."""
    workspace.keep_private(workspace.runs_dir)
    with project_database(workspace.runs_dir, JOBS, environ) as database:
        yield JobQueue(database, lease_s=LEASE_S)


def forget_expired(workspace: Workspace, queue: JobQueue, *, now: datetime) -> int:
    """Remove the jobs that finished more than ``retention_days`` ago; returns how many."""
    days = workspace.settings.retention_days
    return 0 if days is None else queue.forget_before(now - timedelta(days=days))


def _among(column: str, values: Collection[str]) -> tuple[str, list[str]]:
    """Return a condition and its parameters; none is among no values."""
    return f"{column} IN ({', '.join('?' * len(values)) or 'NULL'})", sorted(map(storable, values))


def backoff(attempts: int) -> float:
    """Return the seconds until the next attempt: 2, 8, 32, 128, 512, then always 600."""
    return _WAITS_S[min(attempts, len(_WAITS_S)) - 1]
