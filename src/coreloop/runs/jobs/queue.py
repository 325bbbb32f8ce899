"""The queue of jobs of a project."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from coreloop.base.postgres import project_database
from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.job import LEASE_S
from coreloop.runs.jobs.sql_queue import IN_ORDER, JOBS, JobQueue

__all__ = ["JobQueue", "forget_expired", "open_queue"]


@contextmanager
def open_queue(
    workspace: Workspace, *, environ: Mapping[str, str], lease_s: float = LEASE_S
) -> Iterator[JobQueue]:
    """Open the queue of a workspace; it is created if necessary."""
    workspace.keep_private(workspace.runs_dir)
    with project_database(workspace.runs_dir, JOBS, environ, in_postgres=IN_ORDER) as database:
        yield JobQueue(database, lease_s=lease_s)


def forget_expired(workspace: Workspace, queue: JobQueue, *, now: datetime) -> int:
    """Remove the jobs that finished more than ``retention_days`` ago; returns how many."""
    days = workspace.settings.retention_days
    return 0 if days is None else queue.forget_before(now - timedelta(days=days))


@contextmanager
def postgres_queue(address: str, *, lease_s: float = LEASE_S) -> Iterator[JobQueue]:
    """Open a queue in Postgres."""
    environ = {"CORELOOP_DATABASE_URL": address}
    with project_database(Path(), JOBS, environ, in_postgres=IN_ORDER) as database:
        yield JobQueue(database, lease_s=lease_s)
