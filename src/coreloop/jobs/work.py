"""Doing jobs: a worker takes one after another, and keeps its lease while it works."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final

from coreloop.errors import RunStoreError
from coreloop.jobs.job import Job
from coreloop.jobs.queue import JobQueue
from coreloop.runs.run import described

Handler = Callable[[Job], Any]
BEAT_S: Final = 5.0
"""Between two heartbeats; a lease lasts six of them."""
_IDLE_S: Final = 0.5
_POLL_S: Final = 0.05
WAIT_S: Final = 60.0
"""For jobs that another process is doing."""


@dataclass(slots=True)
class WorkReport:
    """What a worker did; ``lost`` are jobs that another process had taken over meanwhile."""

    done: int = 0
    failed: int = 0
    lost: int = 0


def work(
    queue: JobQueue,
    handlers: Mapping[str, Handler],
    *,
    until_idle: bool = False,
    limit: int | None = None,
    stop: Event | None = None,
    show: Callable[[Job], None] = lambda _: None,
) -> WorkReport:
    """Do the jobs that have a handler, until something says stop.

    Parameters
    ----------
    queue : JobQueue
        Other processes may work on it, too.
    handlers : mapping of str to callable
        What does a job, by its name. Its result must be JSON. A job may be done twice if its process dies
        before the result is stored; jobs without a handler are left to other workers.
    until_idle : bool
        Return when no job is due.
    limit : int or None
        Return after this many jobs.
    stop : threading.Event or None
        Return when it is set, after the job under way.
    show : callable
        Called with each job as it ended.
    """
    report, stop = WorkReport(), stop or Event()
    while not stop.is_set() and (limit is None or report.done + report.failed < limit):
        job = queue.take(handlers)
        if job is not None:
            _do(queue, handlers[job.name], job, report)
            show(queue.get(job.id))
        elif until_idle:
            return report
        else:
            stop.wait(_IDLE_S)
    return report


def work_on_jobs(
    queue: JobQueue,
    handlers: Mapping[str, Handler],
    ids: Collection[str],
    *,
    wait_s: float = WAIT_S,
) -> list[Job]:
    """Do some jobs now, once each, and wait for those that another process is doing.

    Parameters
    ----------
    queue : JobQueue
        That has the jobs.
    handlers : mapping of str to callable
        As for `work`.
    ids : collection of str
        Of the jobs.
    wait_s : float
        The longest wait for other processes.

    Returns
    -------
    list of Job
        As they are then. What failed waits for its next attempt.
    """
    report, give_up_at = WorkReport(), time.monotonic() + wait_s
    while job := queue.take(handlers, only=ids):
        _do(queue, handlers[job.name], job, report)
    while time.monotonic() < give_up_at:
        jobs = [queue.get(job_id) for job_id in ids]
        if not any(job.status == "running" for job in jobs):
            return jobs
        time.sleep(_POLL_S)
    return [queue.get(job_id) for job_id in ids]


def _do(queue: JobQueue, handler: Handler, job: Job, report: WorkReport) -> None:
    try:
        with _beating(queue, job):
            result = json.loads(json.dumps(handler(job)))
    except Exception as error:
        queue.fail(job, described(error))
        report.failed += 1
    except BaseException:  # Ctrl-C is not the job's failure
        queue.release(job)
        raise
    else:
        is_done = queue.finish(job, result)
        report.done += is_done
        report.lost += not is_done


@contextmanager
def _beating(queue: JobQueue, job: Job) -> Iterator[None]:
    """Extend the lease of a job from another thread until the block ends."""
    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT_S):
            try:
                if not queue.keep(job):
                    return
            except RunStoreError:
                return  # the job's own end says so

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
