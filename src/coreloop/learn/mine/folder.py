"""A folder of day files -> their rollups, from the cache or counted."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.learn.mine.cache import CachedRollup, RollupCache, read_tables, write_tables
from coreloop.learn.mine.executors import CountTask, Executor
from coreloop.learn.mine.oddities import Oddities
from coreloop.learn.mine.rollup import EPOCH_DAY, MineSettings, Rollup, roll_up
from coreloop.learn.mine.source import LogSource, read_source, split_at_lines
from coreloop.learn.mine.tables import merge_tables
from coreloop.observe.reading.decode import raw_lines
from coreloop.observe.reading.remote import Address, Folder, LogFile, map_files

_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_CHUNK_BYTES: Final = 64 << 20


def roll_up_folder(
    folder: Folder,
    settings: MineSettings,
    *,
    cache: RollupCache | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Rollup]:
    """Roll up every ``*.jsonl`` of a folder, in the order of the names.

    Parameters
    ----------
    folder : Path or Address
        Day files.
    settings : MineSettings
        Decides how records count.
    cache : RollupCache, optional
        Opened with the same settings. Cached rollups are reused, new rollups are added. Without a cache this
        process counts everything in memory.
    executor : Executor, optional
        Counts the files that are not cached; processes of this machine by default.
    progress : callable, optional
        Called with the bytes counted so far and the bytes to count, where a cache is used.

    Raises
    ------
    WorkspaceError
        The folder or a file in it cannot be read.
    """
    paths = day_files(folder)
    try:
        if cache is None:
            return [_in_memory(path, settings) for path in paths]
        return _with_cache(paths, settings, cache, executor or Executor(), progress)
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else f"{folder}"
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error


def day_files(folder: Folder) -> Sequence[LogFile]:
    """Every ``*.jsonl`` file in the order of the names; folders are skipped, a pipe is an error."""
    try:
        return folder.files() if isinstance(folder, Address) else _files_of(folder)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=f"{folder}") from error


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
    """How to make a file's rollup: the cached rollup of its beginning, and the rest to count."""

    path: LogFile
    source: LogSource
    beginning: CachedRollup | None
    tasks: Sequence[CountTask]


def _with_cache(
    paths: Sequence[LogFile],
    settings: MineSettings,
    cache: RollupCache,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
) -> list[Rollup]:
    sources = dict(zip(paths, map_files(read_source, paths, paths), strict=True))
    unchanged = cache.find(sources)
    rollups = {path: _rollup(path, cached, None) for path, cached in unchanged.items()}
    with cache.scratch() as scratch:
        plans = [
            _plan(path, source, settings, cache, scratch)
            for path, source in sources.items()
            if path not in unchanged
        ]
        tasks = [task for plan in plans for task in plan.tasks]
        counted = _with_progress(executor.run(tasks), tasks, progress)
        for plan in plans:
            rollups[plan.path] = _finish(plan, counted, cache, scratch)
    return [rollups[path] for path in paths]


def _with_progress(
    counted: Iterator[Oddities], tasks: Sequence[CountTask], progress: Callable[[int, int], None] | None
) -> Iterator[Oddities]:
    """Pass the tasks' results on, and report the progress after each."""
    total = sum(task.end - task.start for task in tasks)
    done = 0
    for task, oddities in zip(tasks, counted, strict=True):
        done += task.end - task.start
        if progress is not None:
            progress(done, total)
        yield oddities


def _plan(
    path: LogFile, source: LogSource, settings: MineSettings, cache: RollupCache, scratch: Path
) -> _Plan:
    beginning = cache.find_beginning(path, source)
    start = beginning.facts.source.size if beginning else 0
    tasks = [
        CountTask(path, first, last, settings, scratch / f"{path.stem[:40]}-{first}")
        for first, last in split_at_lines(path, start, source.size, chunk_bytes=_CHUNK_BYTES)
    ]
    return _Plan(path, source, beginning, tasks)


def _finish(plan: _Plan, counted: Iterator[Oddities], cache: RollupCache, scratch: Path) -> Rollup:
    oddities = Oddities()
    if plan.beginning is not None:
        oddities.add(plan.beginning.facts.oddities)
    for _ in plan.tasks:
        oddities.add(next(counted))
    parts = [read_tables(task.out) for task in plan.tasks]
    written = plan.tasks[0].out
    if plan.beginning is not None or len(parts) > 1:
        before = [plan.beginning.tables()] if plan.beginning else []
        written = scratch / f"{plan.path.stem[:40]}-whole"
        write_tables(merge_tables([*before, *parts]), written)
    cached = cache.add(plan.path, plan.source, written, oddities)
    return _rollup(plan.path, cached, plan.tasks[-1].end - plan.tasks[0].start)


def _rollup(path: LogFile, cached: CachedRollup, n_bytes_read: int | None) -> Rollup:
    facts = cached.facts
    return Rollup(path, cached.tables(), facts.oddities, facts.days, n_bytes_read)


def _in_memory(path: LogFile, settings: MineSettings) -> Rollup:
    size = read_source(path).size
    return roll_up(raw_lines(path, end=size), settings, path=path, n_bytes=size)


def newest_day(rollups: Iterable[Rollup]) -> date | None:
    """UTC day of the newest record, or None without records."""
    newest = max((day for rollup in rollups for day in rollup.days), default=None)
    return EPOCH_DAY + timedelta(days=newest) if newest is not None else None


def expired(rollups: Iterable[Rollup], *, before: date) -> list[Path]:
    """Day files (``YYYY-MM-DD.jsonl``) whose newest record is older than a day.

    Never includes remote files and files with no readable record or with records of a newer version.
    """
    limit = (before - EPOCH_DAY).days
    return [
        rollup.path
        for rollup in rollups
        if isinstance(rollup.path, Path)
        and _DAY_FILE.fullmatch(rollup.path.name)
        and rollup.days
        and max(rollup.days) < limit
        and not any(reason.startswith("schema version") for reason in rollup.skipped)
    ]


def remove(path: Path) -> None:
    """Remove a file of records for good.

    Raises
    ------
    WorkspaceError
        It cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot be removed ({error.strerror})", path=path) from error
