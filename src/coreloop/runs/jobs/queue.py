"""The queue of jobs of a project."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.sql_queue import JobQueue, postgres_queue, sqlite_queue

__all__ = ["FILE_NAME", "JobQueue", "forget_expired", "open_queue"]

FILE_NAME: Final = "jobs.db"


@contextmanager
def open_queue(workspace: Workspace, *, environ: Mapping[str, str]) -> Iterator[JobQueue]:
    """Open the queue of a workspace; it is created if necessary.

    It is in Postgres or in the file ``jobs.db``, as for `coreloop.runs.stores.store.open_store`.
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
