"""Doing jobs: a worker takes one after another, and keeps its lease while it works."""

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
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


def work(
    queue: JobQueue,
    handlers: Mapping[str, Handler],
    *,
    threads: int = 1,
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
    threads : int
        Jobs that are done at once. If one raises, the others stop after their job under way.
    until_idle : bool
        Return when no job is due.
    limit : int or None
        Return after this many attempts of each thread.
    stop : threading.Event or None
        Return when it is set, after the job under way.
    show : callable
        Called with each job as it ended.
    """
    outcomes, stop, is_broken = list[Outcome](), stop or Event(), Event()

    def worker() -> None:
        left = limit
        while left != 0 and not stop.is_set() and not is_broken.is_set():
            job = queue.take(handlers)
            if job is not None:
                left = None if left is None else left - 1
                outcomes.append(_do(queue, handlers[job.name], job))
                show(queue.get(job.id))
            elif until_idle:
                break
            else:
                stop.wait(_IDLE_S)

    if threads == 1:  # in the caller's thread, which may be one that does not keep a process from ending
        worker()
        return WorkReport(**Counter[str](outcomes))
    with ThreadPoolExecutor(threads) as pool:
        try:
            for each in as_completed([pool.submit(worker) for _ in range(threads)]):
                each.result()
        finally:
            is_broken.set()
    return WorkReport(**Counter[str](outcomes))


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
