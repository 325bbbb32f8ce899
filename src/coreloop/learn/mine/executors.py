"""Executors that read lines: this process, a process pool, a Dask cluster. All give the same facts."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.tempfiles import end_with_parent
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import Reading, in_batches, read_files
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

    @property
    def n_bytes(self) -> int:
        """Bytes to read."""
        return self.end - self.start


Batch = Sequence[CountTask]
"""Tasks with the same settings that are read at once."""


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
        batches = in_batches(tasks, [task.n_bytes for task in tasks])
        size = sum(task.n_bytes for task in tasks)
        jobs = min(self.jobs or _cores(), len(batches), 1 + size // _WORTH_A_PROCESS_BYTES)
        if self.scheduler is not None and tasks:
            counted = _on_cluster(batches, self.scheduler)
        else:
            counted = _in_processes(batches, jobs) if jobs > 1 else map(count, batches)
        return chain.from_iterable(counted)


def read_batch(batch: Batch) -> list[tuple[Facts, Oddities]]:
    """Read the facts of each task of a batch."""
    lines = [raw_lines(task.path, start=task.start, end=task.end) for task in batch]
    return read_files(lines, batch[0].reading)


def count(batch: Batch) -> list[Oddities]:
    """Count a batch, write the tables of each task and return its oddities."""
    read = read_batch(batch)
    for task, (tables, _) in zip(batch, read, strict=True):
        write_facts(tables, task.out)
    return [oddities for _, oddities in read]


def count_packed(batch: Batch, *, version: str) -> list[tuple[dict[str, bytes], Oddities]]:
    """Count a batch and return the packed tables and the oddities of each task.

    A batch is at most 64 MB of log and its tables a tenth of that, so they are returned: a worker needs no
    folder.
    """
    if version != VERSION:
        raise ImportError(f"it has version {VERSION} of facts, not {version}")
    return [(pack_facts(tables), oddities) for tables, oddities in read_batch(batch)]


def _in_processes(batches: Sequence[Batch], jobs: int) -> Iterator[list[Oddities]]:
    # Not fork: after a polars query, a forked child hangs.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with _one_thread_each():
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker)
        n_left = len(batches)
        try:
            with _ctrl_c_blocked():
                counted = pool.map(count, batches)  # starts the processes
            for oddities in counted:
                n_left -= 1
                yield oddities
        except BrokenProcessPool as error:
            message = "a process that counted it was killed; try --jobs 1"
            raise WorkspaceError(message, path=f"{batches[0][0].path.parent}") from error
        finally:
            pool.shutdown(wait=n_left > 0, cancel_futures=True)  # idle processes may end on their own


def _on_cluster(batches: Sequence[Batch], address: str) -> Iterator[list[Oddities]]:
    """Write each batch's tables when they arrive; until then they wait on their worker."""
    done: dict[int, list[Oddities]] = {}
    awaited = 0
    for index, counted in map_on_cluster(partial(count_packed, version=VERSION), batches, address):
        for task, (packed, _) in zip(batches[index], counted, strict=True):
            write_packed(packed, task.out)
        done[index] = [oddities for _, oddities in counted]
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
