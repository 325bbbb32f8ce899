"""The protocol of a queue of jobs, and the queue of a project."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.job import MAX_ATTEMPTS, Job, QueueMetrics, Status
from coreloop.runs.jobs.sql_queue import postgres_queue, sqlite_queue

FILE_NAME: Final = "jobs.db"


class JobQueue(Protocol):
    """Jobs. Several threads and processes may use it at once.

    Every method raises `coreloop.base.errors.RunStoreError` if the queue cannot be used, and
    `coreloop.base.errors.UsageError` for a job that it does not have.

    Attributes
    ----------
    lease_s : float
        Seconds without `extend_lease` after which a job is due again.
    """

    lease_s: float

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
        """Add a job; if one with the same key exists, finished or not, it is returned instead."""

    def get(self, job_id: str) -> Job:
        """Return a job."""

    def jobs(self, *, status: Status | None = None, limit: int = ...) -> list[Job]:
        """Return jobs, the newest first."""

    def take(self, names: Collection[str], *, only: Collection[str] | None = None) -> Job | None:
        """Begin the next job of some names, or of some ids; None if none is due.

        A job of a process that died is due again when its lease is over.
        """

    def extend_lease(self, job: Job) -> bool:
        """Extend the lease of a job that is being done; False if another process has taken it over."""

    def finish(self, job: Job, result: Any) -> bool:
        """Commit a job; False, and nothing is stored, if another process has taken it over."""

    def fail(self, job: Job, error: str) -> Job:
        """Store that an attempt failed; the job is due again later, or dead."""

    def release(self, job: Job) -> None:
        """Give a job back that was not done: its process stops. The attempt does not count."""

    def retry(self, job_id: str) -> Job:
        """Queue a dead or cancelled job again, with `MAX_ATTEMPTS` more attempts.

        Raises
        ------
        UsageError
            It is neither.
        """

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that waits.

        Raises
        ------
        UsageError
            It is being done or finished.
        """

    def metrics(self) -> QueueMetrics:
        """Count."""

    def forget_before(self, timestamp: datetime) -> int:
        """Remove jobs that finished before a time; returns how many."""


@contextmanager
def open_queue(workspace: Workspace, *, environ: Mapping[str, str]) -> Iterator[JobQueue]:
    """Open the queue of a workspace; it is created if necessary.

    Parameters
    ----------
    workspace : Workspace
        Of the project.
    environ : mapping
        ``CORELOOP_DATABASE_URL`` is the address of a Postgres database. Without it, the queue is the SQLite
        file ``jobs.db`` in `Workspace.runs_dir`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    MissingExtraError
        Postgres needs an extra.
    """
    if address := environ.get("CORELOOP_DATABASE_URL"):
        with postgres_queue(address) as queue:
            yield queue
        return
    workspace.keep_private(workspace.runs_dir)
    with sqlite_queue(workspace.runs_dir / FILE_NAME) as sqlite:
        yield sqlite


def forget_expired(workspace: Workspace, queue: JobQueue, *, now: datetime) -> int:
    """Remove the jobs that finished more than ``retention_days`` ago; returns how many."""
    days = workspace.settings.retention_days
    return 0 if days is None else queue.forget_before(now - timedelta(days=days))
