"""The queue of jobs in Postgres: procrastinate's tables, functions and recovery of stalled jobs.

Its own tools can look at the same tables. What it does not keep (our ids and keys, results, errors) stands
in ``job_details`` beside them.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final

from coreloop.errors import MissingExtraError
from coreloop.jobs.backoff import backoff
from coreloop.jobs.job import (
    LEASE_S,
    MAX_ATTEMPTS,
    STALLED,
    Job,
    QueueFigures,
    Status,
    as_json,
    cannot_cancel,
    cannot_retry,
    storable,
    unknown_job,
)
from coreloop.postgres import VARIABLE, PostgresDatabase, postgres_database
from coreloop.runs.ulid import new_ulid

_DETAILS: Final = """
-- What procrastinate does not keep of a job.
CREATE TABLE job_details (
    job_id       BIGINT PRIMARY KEY REFERENCES procrastinate_jobs(id) ON DELETE CASCADE,
    id           TEXT NOT NULL UNIQUE,  -- ULID
    key          TEXT UNIQUE,           -- NULL for none
    max_attempts BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    finished_at  TIMESTAMPTZ,
    error        TEXT NOT NULL,
    result       TEXT                   -- JSON
);
"""
_STATUSES: Final[Mapping[str, Status]] = {
    "todo": "queued",
    "doing": "running",
    "succeeded": "done",
    "failed": "dead",
    "cancelled": "cancelled",
    "aborting": "running",
    "aborted": "cancelled",
}
_SELECT: Final = """
SELECT details.id, jobs.task_name, jobs.args, details.key, jobs.priority, jobs.status, jobs.attempts,
    details.max_attempts, details.created_at, jobs.scheduled_at, details.finished_at, details.error,
    details.result, jobs.id
FROM procrastinate_jobs AS jobs JOIN job_details AS details ON details.job_id = jobs.id
"""
_PUT: Final = """
INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args, scheduled_at)
VALUES (?, ?, ?, ?, ?) RETURNING id
"""
_TAKE: Final = """
UPDATE procrastinate_jobs SET status = 'doing', worker_id = ? WHERE id = (
    SELECT jobs.id FROM procrastinate_jobs AS jobs JOIN job_details AS details ON details.job_id = jobs.id
    WHERE jobs.status = 'todo' AND jobs.task_name = ANY(?) AND (? OR details.id = ANY(?))
    AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
    ORDER BY jobs.priority DESC, jobs.id LIMIT 1 FOR UPDATE OF jobs SKIP LOCKED
) RETURNING id
"""
_HELD: Final = """
SELECT id FROM procrastinate_jobs
WHERE id = (SELECT job_id FROM job_details WHERE id = ?) AND status = 'doing' AND attempts = ? FOR UPDATE
"""
_BEAT: Final = "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ? RETURNING id"
_RECOVERING: Final = 7_100_917_430_112_644_004
"""The advisory lock of the recovery of stalled jobs: one worker at a time looks for them."""


class ProcrastinateQueue:
    """A queue in a database, see `procrastinate_queue` and `coreloop.jobs.queue.JobQueue`."""

    def __init__(self, database: PostgresDatabase, *, lease_s: float) -> None:
        self.lease_s = lease_s
        self._database = database
        self._worker: int | None = None

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
        job_id, key = new_ulid(datetime.now(UTC), token_bytes(10)), storable(key)
        with self._database.writing():
            if key:  # two processes that put the same key take turns
                self._rows("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (key,))
                if known := self._jobs("WHERE details.key = ?", (key,)):
                    return known[0]
            ((number,),) = self._rows(_PUT, (name, name, priority, as_json(payload), run_at))
            self._rows(
                "INSERT INTO job_details VALUES (?, ?, ?, ?, now(), NULL, '', NULL)",
                (number, job_id, key or None, max_attempts),
            )
            return self._jobs("WHERE details.id = ?", (job_id,))[0]

    def get(self, job_id: str) -> Job:
        """Return a job."""
        with self._database.reading():
            found = self._jobs("WHERE details.id = ?", (storable(job_id),))
        if not found:
            raise unknown_job(job_id)
        return found[0]

    def jobs(self, *, status: Status | None = None, limit: int = 100) -> list[Job]:
        """Return jobs, the newest first."""
        names = [name for name, ours in _STATUSES.items() if status in {None, ours}]
        with self._database.reading():
            return self._jobs(
                "WHERE jobs.status::text = ANY(?) ORDER BY jobs.id DESC LIMIT ?", (names, limit)
            )

    def take(self, names: Collection[str], *, only: Collection[str] | None = None) -> Job | None:
        """Begin the next job; those of workers without a heartbeat are due again, or dead."""
        with self._database.writing():
            self._recover()
        with self._database.writing():
            rows = self._rows(_TAKE, (self._beat(), sorted(names), only is None, sorted(only or ())))
            return self._jobs("WHERE jobs.id = ?", tuple(rows[0]))[0] if rows else None

    def keep(self, job: Job) -> bool:
        """Send a heartbeat; whether the job is still this worker's."""
        with self._database.writing():
            self._beat()
            return bool(self._held(job))

    def finish(self, job: Job, result: Any) -> bool:
        """Commit a job, unless another worker has taken it over."""
        with self._database.writing():
            held = self._held(job)
            if held:
                self._end(held[0][0], "succeeded", result=result)
        return bool(held)

    def fail(self, job: Job, error: str) -> Job:
        """Queue a job again, later each time; or give it up."""
        with self._database.writing():
            if held := self._held(job):
                self._again(held[0][0], job, error, backoff(job.attempts))
        return self.get(job.id)

    def release(self, job: Job) -> None:
        """Queue a job again at once, without counting the attempt."""
        with self._database.writing():
            if held := self._held(job):
                self._rows("UPDATE procrastinate_jobs SET status = 'todo' WHERE id = ?", tuple(held[0]))

    def retry(self, job_id: str) -> Job:
        """Queue a dead or cancelled job again, with as many attempts as a new one."""
        with self._database.writing():
            job, number = self._locked(job_id)
            if job.status not in {"dead", "cancelled"}:
                raise cannot_retry(job)
            self._rows(
                "UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = NULL WHERE id = ?", (number,)
            )
            self._rows(
                "UPDATE job_details SET finished_at = NULL, max_attempts = ? WHERE job_id = ?",
                (job.attempts + MAX_ATTEMPTS, number),
            )
        return self.get(job.id)

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that waits."""
        with self._database.writing():
            job, number = self._locked(job_id)
            if job.status != "queued":
                raise cannot_cancel(job)
            self._rows("SELECT procrastinate_cancel_job_v1(?, FALSE, FALSE)", (number,))
            self._rows("UPDATE job_details SET finished_at = now() WHERE job_id = ?", (number,))
        return self.get(job.id)

    def figures(self) -> QueueFigures:
        """Count."""
        with self._database.reading():
            counts = self._rows("SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY status")
            ((retried,),) = self._rows("SELECT count(*) FROM procrastinate_jobs WHERE attempts > 1")
            ((done, p95),) = self._rows(
                "SELECT count(*), percentile_disc(0.95) WITHIN GROUP (ORDER BY finished_at - created_at) "
                "FROM job_details JOIN procrastinate_jobs AS jobs ON jobs.id = job_id "
                "WHERE jobs.status = 'succeeded' AND finished_at >= now() - INTERVAL '1 hour'"
            )
        return QueueFigures(
            by_status={_STATUSES[status]: count for status, count in counts},
            done_last_hour=done,
            p95_s=p95.total_seconds() if p95 is not None else None,
            retried=retried,
        )

    def forget_before(self, moment: datetime) -> int:
        """Remove finished jobs."""
        with self._database.writing():
            removed = self._rows(
                "DELETE FROM procrastinate_jobs WHERE id IN "
                "(SELECT job_id FROM job_details WHERE finished_at < ?) RETURNING id",
                (moment,),
            )
        if removed:
            self._database.erase("procrastinate_jobs", "procrastinate_events", "job_details")
        return len(removed)

    def leave(self) -> None:
        """Say that this worker has ended: what it did not finish is due again."""
        if self._worker is not None and not self._database.connection.closed:
            with self._database.writing():
                self._rows("SELECT procrastinate_unregister_worker_v1(?)", (self._worker,))

    def _beat(self) -> int:
        """Send the heartbeat of this worker; it registers first, and again if it was taken for dead."""
        if self._worker is None or not self._rows(_BEAT, (self._worker,)):
            ((self._worker,),) = self._rows("SELECT worker_id FROM procrastinate_register_worker_v1()")
        assert self._worker is not None
        return self._worker

    def _recover(self) -> None:
        """Queue the jobs of stalled workers again; one without attempts left is dead: it may kill workers."""
        from procrastinate.sql import queries

        if self._rows("SELECT pg_try_advisory_xact_lock(?)", (_RECOVERING,)) != [(True,)]:
            return
        stalled = self._database.connection.execute(
            queries["select_stalled_jobs_by_heartbeat"].encode(),
            {"queue": None, "task_name": None, "seconds_since_heartbeat": self.lease_s},
        )
        for number, *_rest in stalled.fetchall():
            for job in self._jobs(
                "WHERE jobs.id = ? AND jobs.status = 'doing' FOR UPDATE SKIP LOCKED", (number,)
            ):
                self._again(number, job, STALLED, 0.0)
        self._rows("SELECT procrastinate_prune_stalled_workers_v1(?)", (self.lease_s,))

    def _again(self, number: int, job: Job, error: str, delay_s: float) -> None:
        if job.attempts >= job.max_attempts:
            self._end(number, "failed", error=error)
            return
        self._rows(
            "SELECT procrastinate_retry_job_v2(?, now() + make_interval(secs => ?), NULL, NULL, NULL)",
            (number, delay_s),
        )
        self._rows("UPDATE job_details SET error = ? WHERE job_id = ?", (storable(error), number))

    def _end(self, number: int, status: str, *, result: Any = None, error: str = "") -> None:
        self._rows(
            "SELECT procrastinate_finish_job_v1(?, ?::procrastinate_job_status, FALSE)", (number, status)
        )
        self._rows(
            "UPDATE job_details SET finished_at = now(), error = ?, result = ? WHERE job_id = ?",
            (storable(error), as_json(result), number),
        )

    def _locked(self, job_id: str) -> tuple[Job, int]:
        """Return a job that nobody else can change during this transaction, and procrastinate's number."""
        rows = self._rows(f"{_SELECT} WHERE details.id = ? FOR UPDATE", (storable(job_id),))
        if not rows:
            raise unknown_job(job_id)
        return _job(rows[0]), rows[0][-1]

    def _held(self, job: Job) -> list[Any]:
        """Lock a job in its attempt; returns no row if the attempt was given up."""
        return self._rows(_HELD, (job.id, job.attempts - 1))

    def _jobs(self, where: str, parameters: tuple[Any, ...]) -> list[Job]:
        return [_job(row) for row in self._rows(f"{_SELECT} {where}", parameters)]

    def _rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        return self._database.rows(statement, parameters)


@contextmanager
def procrastinate_queue(address: str, *, lease_s: float = LEASE_S) -> Iterator[ProcrastinateQueue]:
    """Open a queue in a database; its tables are created if necessary.

    Parameters
    ----------
    address : str
        As for `coreloop.postgres.postgres_database`, which raises the errors.
    lease_s : float
        Seconds without a heartbeat after which a worker's jobs are due again.
    """
    try:
        from procrastinate.schema import SchemaManager
    except ImportError as error:
        raise MissingExtraError("postgres", feature=VARIABLE) from error
    scripts = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    migrations = [script.read_text(encoding="utf-8") for script in scripts]
    with postgres_database(address, versions="procrastinate_migration", migrations=migrations) as database:
        database.migrate("jobs_version", (_DETAILS,))
        queue = ProcrastinateQueue(database, lease_s=lease_s)
        try:
            yield queue
        finally:
            queue.leave()


def _job(row: Any) -> Job:
    key, name, payload, unique, priority, status, attempts, most, created, due, ended, error, result, _ = row
    is_running = _STATUSES[status] == "running"
    return Job(
        id=key,
        name=name,
        payload=payload,
        key=unique or "",
        priority=priority,
        status=_STATUSES[status],
        attempts=attempts + is_running,
        max_attempts=most,
        created_at=created.astimezone(UTC),  # the session may have another zone
        run_at=(due or created).astimezone(UTC),
        finished_at=ended.astimezone(UTC) if ended else None,
        error=error,
        result=json.loads(result) if result is not None else None,
    )
