"""What a project's settings say about its jobs."""

from datetime import datetime, timedelta

from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.queue import JobQueue


def forget_expired(workspace: Workspace, queue: JobQueue, *, now: datetime) -> int:
    """Remove the jobs that finished more than ``retention_days`` ago; returns how many."""
    days = workspace.settings.retention_days
    return 0 if days is None else queue.forget_before(now - timedelta(days=days))
