"""Executors that read lines: this process, a process pool, a Dask cluster. All give the same facts."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.messages import Phrase
from coreloop.base.tempfiles import end_with_parent
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read import Reading, read_facts
from coreloop.learn.facts.schema import Facts
from coreloop.learn.facts.store import VERSION, pack_facts, write_facts, write_packed
from coreloop.observe.reading.decode import raw_lines
from coreloop.observe.reading.remote import LogFile, map_on_cluster

_WORTH_A_PROCESS_BYTES: Final = 64 << 20
"""For fewer bytes, a process takes longer to start than to read."""


@dataclass(frozen=True, slots=True)
class CountTask:
    """Bytes of a file to read, and the folder for its tables."""

    path: LogFile
    start: int
    end: int
    reading: Reading
    out: Path


@dataclass(frozen=True, slots=True)
class Executor:
    """Where tasks are counted.

    Parameters
    ----------
    jobs : int, optional
        Processes; the number of cores by default.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://host:8786``, whose workers can read the same records.
    """

    jobs: int | None = None
    scheduler: str | None = None

    def run(self, tasks: Sequence[CountTask]) -> Iterator[Oddities]:
        """Count the tasks, and yield the oddities of each, in their order."""
        size = sum(task.end - task.start for task in tasks)
        jobs = min(self.jobs or _cores(), len(tasks), 1 + size // _WORTH_A_PROCESS_BYTES)
        if self.scheduler is not None and tasks:
            return _on_cluster(tasks, self.scheduler)
        return _in_processes(tasks, jobs) if jobs > 1 else map(count, tasks)


def count(task: CountTask) -> Oddities:
    """Count a task, write its tables and return its oddities."""
    tables, oddities = _count(task)
    write_facts(tables, task.out)
    return oddities


def count_packed(task: CountTask, *, version: str) -> tuple[dict[str, bytes], Oddities]:
    """Count a task and return its packed tables and its oddities.

    A task is at most 64 MB of log and its tables a tenth of that, so they are returned: a worker needs no
    folder.
    """
    if version != VERSION:
        raise ImportError(
            Phrase("it has version {version} of facts, not {version2}", version=VERSION, version2=version)
        )
    tables, oddities = _count(task)
    return pack_facts(tables), oddities


def _count(task: CountTask) -> tuple[Facts, Oddities]:
    return read_facts(raw_lines(task.path, start=task.start, end=task.end), task.reading)


def _in_processes(tasks: Sequence[CountTask], jobs: int) -> Iterator[Oddities]:
    # Not fork: after a polars query, a forked child hangs.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with _one_thread_each():
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker)
        n_left = len(tasks)
        try:
            with _ctrl_c_blocked():
                counted = pool.map(count, tasks)  # starts the processes
            for oddities in counted:
                n_left -= 1
                yield oddities
        except BrokenProcessPool as error:
            message = "a process that counted it was killed; try --jobs 1"
            raise WorkspaceError(message, path=f"{tasks[0].path.parent}") from error
        finally:
            pool.shutdown(wait=n_left > 0, cancel_futures=True)  # idle processes may end on their own


def _on_cluster(tasks: Sequence[CountTask], address: str) -> Iterator[Oddities]:
    """Write each task's tables when they arrive; until then they wait on their worker."""
    done: dict[int, Oddities] = {}
    awaited = 0
    for index, (packed, oddities) in map_on_cluster(partial(count_packed, version=VERSION), tasks, address):
        write_packed(packed, tasks[index].out)
        done[index] = oddities
        while awaited in done:
            yield done.pop(awaited)
            awaited += 1


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started here until they can end without a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    end_with_parent()
    _end_at_ctrl_c()


def _end_at_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit polars to one thread in processes started here; it reads the limit when it is imported."""
    name = "POLARS_MAX_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
