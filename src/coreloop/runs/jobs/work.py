"""Doing jobs: a worker takes one after another, and keeps its lease while it works."""

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final, Literal

from coreloop.base.errors import RunStoreError
from coreloop.runs.active_run import described
from coreloop.runs.jobs.queue import Job, JobQueue

Handler = Callable[[Job], Any]
Outcome = Literal["done", "failed", "lost"]
_BEATS: Final = 6
"""Heartbeats of a lease."""
_IDLE_S: Final = 0.5  # chosen: a job waits so long at most, and idle workers ask twice a second
_POLL_S: Final = 0.1
WAIT_S: Final = 60.0
"""For jobs that another process is doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """What a worker did.

    Attributes
    ----------
    done, failed : int
        Attempts.
    lost : int
        Attempts whose result was not stored, because another worker had taken the job over meanwhile.
    """

    done: int = 0
    failed: int = 0
    lost: int = 0

    def __add__(self, other: "WorkReport") -> "WorkReport":
        """Sum up two workers."""
        return WorkReport(
            done=self.done + other.done, failed=self.failed + other.failed, lost=self.lost + other.lost
        )


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
        Return after this many attempts.
    stop : threading.Event or None
        Return when it is set, after the job under way.
    show : callable
        Called with each job as it ended.
    """
    ended, stop = Counter[str](), stop or Event()
    while not stop.is_set() and (limit is None or ended.total() < limit):
        job = queue.take(handlers)
        if job is not None:
            ended[_do(queue, handlers[job.name], job)] += 1
            show(queue.get(job.id))
        elif until_idle:
            break
        else:
            stop.wait(_IDLE_S)
    return WorkReport(**ended)


def work_in_threads(
    queue: JobQueue,
    handlers: Mapping[str, Handler],
    *,
    threads: int,
    stop: Event,
    until_idle: bool = False,
    limit: int | None = None,
    show: Callable[[Job], None] = lambda _: None,
) -> WorkReport:
    """Let several threads `work`; if one raises, the others stop after their job under way.

    Parameters
    ----------
    queue, handlers, stop, until_idle, show
        As for `work`.
    threads : int
        At least 1.
    limit : int or None
        Of each thread.
    """

    def worker() -> WorkReport:
        try:
            return work(queue, handlers, until_idle=until_idle, limit=limit, stop=stop, show=show)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        workers = [pool.submit(worker) for _ in range(threads)]
        try:
            return sum((worker.result() for worker in workers), WorkReport())
        finally:
            stop.set()


def work_on_jobs(
    queue: JobQueue, handlers: Mapping[str, Handler], ids: Collection[str], *, wait_s: float = WAIT_S
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
    left, give_up_at = set(ids), time.monotonic() + wait_s
    while left and time.monotonic() < give_up_at:
        if job := queue.take(handlers, only=left):
            _do(queue, handlers[job.name], job)
            left.remove(job.id)
        elif any(queue.get(job_id).status == "running" for job_id in left):
            time.sleep(_POLL_S)
        else:
            break
    return [queue.get(job_id) for job_id in ids]


def _do(queue: JobQueue, handler: Handler, job: Job) -> Outcome:
    try:
        with _beating(queue, job):
            result = json.loads(json.dumps(handler(job), allow_nan=False))
    except Exception as error:
        queue.fail(job, described(error))
        return "failed"
    except BaseException:  # Ctrl-C is not the job's failure
        queue.release(job)
        raise
    return "done" if queue.finish(job, result) else "lost"


@contextmanager
def _beating(queue: JobQueue, job: Job) -> Iterator[None]:
    """Extend the lease of a job from another thread until the block ends."""
    ended = Event()

    def beat() -> None:
        while not ended.wait(queue.lease_s / _BEATS):
            with suppress(RunStoreError):  # the next one may succeed; if not, the job's own end says so
                if not queue.extend_lease(job):
                    return

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
