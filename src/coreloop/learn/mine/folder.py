"""A folder of day files -> their facts, from the store or read."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.file import EPOCH_DAY, FileFacts, in_memory, with_settings
from coreloop.learn.facts.file_snapshot import LogSource, read_source, split_at_lines
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import in_batches, read_files
from coreloop.learn.facts.store import FactsStore, Segment, StoredFacts
from coreloop.learn.mine.executors import CountTask, Executor
from coreloop.observe.reading.decode import raw_lines
from coreloop.observe.reading.remote import Address, Folder, LogFile, map_files

_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_CHUNK_BYTES: Final = 64 << 20
_MAX_SEGMENTS: Final = 16
"""Of a file that grows: each has five small files, which take a millisecond to open."""


def read_folder(
    folder: Folder,
    settings: MineSettings,
    *,
    store: FactsStore | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    max_bytes: int | None = None,
) -> list[FileFacts]:
    """Read the facts of every ``*.jsonl`` of a folder, in the order of the names.

    Parameters
    ----------
    folder : Path or Address
        Day files.
    settings : MineSettings
        Decides how records count.
    store : FactsStore, optional
        Opened with the same settings. Its facts are reused, new ones are added. Without a store this process
        reads everything into memory.
    executor : Executor, optional
        Reads the files that are not in the store; processes of this machine by default.
    progress : callable, optional
        Called with the bytes read so far and the bytes to read, where a store is used.
    max_bytes : int, optional
        Read only the newest files, by name, that have no more bytes together.

    Raises
    ------
    WorkspaceError
        The folder or a file in it cannot be read.
    """
    try:
        paths = _newest(day_files(folder), max_bytes)
        if store is None:
            return _in_memory(paths, settings)
        return _with_store(paths, settings, store, executor or Executor(), progress)
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else f"{folder}"
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error


def day_files(folder: Folder) -> Sequence[LogFile]:
    """Every ``*.jsonl`` file in the order of the names; folders are skipped, a pipe is an error."""
    with file_errors("cannot be read ({strerror})", f"{folder}"):
        return folder.files() if isinstance(folder, Address) else _files_of(folder)


def _newest(paths: Sequence[LogFile], max_bytes: int | None) -> Sequence[LogFile]:
    if max_bytes is None:
        return paths
    sizes = (path.stat().st_size if isinstance(path, Path) else path.size for path in reversed(paths))
    n_read = sum(1 for _ in takewhile(lambda total: total <= max_bytes, accumulate(sizes)))
    return paths[len(paths) - n_read :]


def _files_of(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise WorkspaceError(
            "no such folder; record requests with AuditCollector, or name the folder with --in-dir",
            path=folder,
        )
    paths = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and not path.is_dir())
    special = next((path for path in paths if path.exists() and not path.is_file()), None)
    if special is not None:  # reading a pipe would block forever
        raise WorkspaceError("is not a regular file; move it to another folder", path=special)
    return paths


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to make a file's facts: the stored facts of its beginning, and the rest to read."""

    path: LogFile
    source: LogSource
    beginning: StoredFacts | None
    tasks: Sequence[CountTask]

    @property
    def n_bytes(self) -> int:
        """Bytes to read."""
        return self.tasks[-1].end - self.tasks[0].start


def _with_store(
    paths: Sequence[LogFile],
    settings: MineSettings,
    store: FactsStore,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
) -> list[FileFacts]:
    sources = dict(zip(paths, map_files(read_source, paths, paths), strict=True))
    unchanged = store.find(sources)
    facts = {
        path: _file_facts(path, _compact(path, cached, store, is_last=path == paths[-1]), settings, None)
        for path, cached in unchanged.items()
    }
    with store.scratch() as scratch:
        plans = [
            _plan(path, source, settings, store, scratch)
            for path, source in sources.items()
            if path not in unchanged
        ]
        tasks = [task for plan in plans for task in plan.tasks]
        counted = _with_progress(executor.run(tasks), tasks, progress)
        for plan in plans:
            cached = _compact(plan.path, _finish(plan, counted, store), store, is_last=plan.path == paths[-1])
            facts[plan.path] = _file_facts(plan.path, cached, settings, plan.n_bytes)
    return [facts[path] for path in paths]


def _with_progress(
    counted: Iterator[Oddities], tasks: Sequence[CountTask], progress: Callable[[int, int], None] | None
) -> Iterator[Oddities]:
    """Pass the tasks' results on, and report the progress after each."""
    total = sum(task.n_bytes for task in tasks)
    done = 0
    for task, oddities in zip(tasks, counted, strict=True):
        done += task.n_bytes
        if progress is not None:
            progress(done, total)
        yield oddities


def _plan(
    path: LogFile, source: LogSource, settings: MineSettings, store: FactsStore, scratch: Path
) -> _Plan:
    beginning = store.find_beginning(path, source)
    start = beginning.facts.source.size if beginning else 0
    tasks = [
        CountTask(path, first, last, settings, scratch / f"{path.stem[:40]}-{first}")
        for first, last in split_at_lines(path, start, source.size, chunk_bytes=_CHUNK_BYTES)
    ]
    return _Plan(path, source, beginning, tasks)


def _finish(plan: _Plan, counted: Iterator[Oddities], store: FactsStore) -> StoredFacts:
    oddities = Oddities()
    if plan.beginning is not None:
        oddities.add(plan.beginning.facts.oddities)
    for _ in plan.tasks:
        oddities.add(next(counted))
    segments = [Segment(task.out, task.n_bytes) for task in plan.tasks]
    return store.add(plan.path, plan.source, segments, oddities, beginning=plan.beginning)


def _compact(path: LogFile, cached: StoredFacts, store: FactsStore, *, is_last: bool) -> StoredFacts:
    """Merge the segments of appends when the day is over, that is, when a newer file has begun."""
    if is_last and len(cached.facts.segments) < _MAX_SEGMENTS:
        return cached
    return store.merge(path, cached, segment_bytes=_CHUNK_BYTES)


def _file_facts(
    path: LogFile, cached: StoredFacts, settings: MineSettings, n_bytes_read: int | None
) -> FileFacts:
    facts = cached.facts
    return with_settings(FileFacts(path, cached.tables(), settings, facts.oddities, facts.days, n_bytes_read))


def _in_memory(paths: Sequence[LogFile], settings: MineSettings) -> list[FileFacts]:
    sizes = {path: read_source(path).size for path in paths}
    files = []
    for batch in in_batches(paths, list(sizes.values())):
        read = read_files([raw_lines(path, end=sizes[path]) for path in batch], settings)
        files += [
            in_memory(facts, settings, path=path, n_bytes=sizes[path])
            for path, facts in zip(batch, read, strict=True)
        ]
    return files


def newest_day(files: Iterable[FileFacts]) -> date | None:
    """UTC day of the newest record, or None without records."""
    newest = max((day for file in files for day in file.days), default=None)
    return EPOCH_DAY + timedelta(days=newest) if newest is not None else None


def expired(files: Iterable[FileFacts], *, before: date) -> list[Path]:
    """Day files (``YYYY-MM-DD.jsonl``) whose newest record is older than a day.

    Never includes remote files and files with no readable record or with records of a newer version.
    """
    limit = (before - EPOCH_DAY).days
    return [
        file.path
        for file in files
        if isinstance(file.path, Path)
        and _DAY_FILE.fullmatch(file.path.name)
        and file.days
        and max(file.days) < limit
        and not any(reason.startswith("schema version") for reason in file.skipped)
    ]


def remove(path: Path) -> None:
    """Remove a file of records for good.

    Raises
    ------
    WorkspaceError
        It cannot be removed.
    """
    with file_errors("cannot be removed ({strerror})", path):
        path.unlink(missing_ok=True)
