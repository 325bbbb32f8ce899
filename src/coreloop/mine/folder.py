"""A folder of day files -> their rollups: those that are kept, and those that must be counted."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from coreloop.errors import WorkspaceError
from coreloop.mine.decode import raw_lines
from coreloop.mine.executors import CountTask, Executor
from coreloop.mine.oddities import Oddities
from coreloop.mine.remote import Address, Folder, LogFile, map_files
from coreloop.mine.rollup import EPOCH_DAY, MineSettings, Rollup, roll_up
from coreloop.mine.shelf import KeptRollup, Shelf, read_tables, write_tables
from coreloop.mine.source import LogSource, cut, look_at
from coreloop.mine.tables import merged

_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_CHUNK_BYTES: Final = 64 << 20


def roll_up_folder(
    folder: Folder,
    settings: MineSettings,
    *,
    shelf: Shelf | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Rollup]:
    """Roll up every ``*.jsonl`` of a folder, in the order of the names.

    Parameters
    ----------
    folder : Path or Address
        Day files.
    settings : MineSettings
        What counts as what.
    shelf : Shelf, optional
        Opened with the same settings. What is on it is not counted again, what is counted goes on it.
        Without one all is counted in memory, by this process.
    executor : Executor, optional
        Counts what must be counted; processes of this machine by default.
    progress : callable, optional
        Called with the bytes counted so far and the bytes to count, where a shelf is used.

    Raises
    ------
    WorkspaceError
        The folder or a file in it cannot be read.
    """
    paths = day_files(folder)
    try:
        if shelf is None:
            return [_in_memory(path, settings) for path in paths]
        return _with_shelf(paths, settings, shelf, executor or Executor(), progress)
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else f"{folder}"
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error


def day_files(folder: Folder) -> Sequence[LogFile]:
    """Every ``*.jsonl`` in the order of the names; a folder of that name is none, a pipe is refused."""
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
    odd = next((path for path in paths if path.exists() and not path.is_file()), None)
    if odd is not None:  # a pipe would be waited for without end
        raise WorkspaceError("is no regular file; move it away", path=odd)
    return paths


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a file's rollup comes about: what is kept of its beginning, and what must be counted."""

    path: LogFile
    source: LogSource
    begun: KeptRollup | None
    tasks: Sequence[CountTask]


def _with_shelf(
    paths: Sequence[LogFile],
    settings: MineSettings,
    shelf: Shelf,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
) -> list[Rollup]:
    sources = dict(zip(paths, map_files(look_at, paths, paths), strict=True))
    kept = shelf.find(sources)
    rollups = {path: _rollup(path, one, None) for path, one in kept.items()}
    with shelf.scratch() as scratch:
        plans = [
            _plan(path, source, settings, shelf, scratch)
            for path, source in sources.items()
            if path not in kept
        ]
        tasks = [task for plan in plans for task in plan.tasks]
        counted = _watched(executor.run(tasks), tasks, progress)
        for plan in plans:
            rollups[plan.path] = _finish(plan, counted, shelf, scratch)
    return [rollups[path] for path in paths]


def _watched(
    counted: Iterator[Oddities], tasks: Sequence[CountTask], progress: Callable[[int, int], None] | None
) -> Iterator[Oddities]:
    """The tasks' results, with word of each that is done."""
    total = sum(task.end - task.start for task in tasks)
    done = 0
    for task, oddities in zip(tasks, counted, strict=True):
        done += task.end - task.start
        if progress is not None:
            progress(done, total)
        yield oddities


def _plan(path: LogFile, source: LogSource, settings: MineSettings, shelf: Shelf, scratch: Path) -> _Plan:
    begun = shelf.find_beginning(path, source)
    start = begun.facts.source.size if begun else 0
    tasks = [
        CountTask(path, first, last, settings, scratch / f"{path.stem[:40]}-{first}")
        for first, last in cut(path, start, source.size, chunk_bytes=_CHUNK_BYTES)
    ]
    return _Plan(path, source, begun, tasks)


def _finish(plan: _Plan, counted: Iterator[Oddities], shelf: Shelf, scratch: Path) -> Rollup:
    oddities = Oddities()
    if plan.begun is not None:
        oddities.add(plan.begun.facts.oddities)
    for _ in plan.tasks:
        oddities.add(next(counted))
    parts = [read_tables(task.out) for task in plan.tasks]
    written = plan.tasks[0].out
    if plan.begun is not None or len(parts) > 1:
        before = [plan.begun.tables()] if plan.begun else []
        written = scratch / f"{plan.path.stem[:40]}-whole"
        write_tables(merged([*before, *parts]), written)
    kept = shelf.add(plan.path, plan.source, written, oddities)
    return _rollup(plan.path, kept, plan.tasks[-1].end - plan.tasks[0].start)


def _rollup(path: LogFile, kept: KeptRollup, n_bytes_read: int | None) -> Rollup:
    facts = kept.facts
    return Rollup(path, kept.tables(), facts.oddities, facts.days, n_bytes_read)


def _in_memory(path: LogFile, settings: MineSettings) -> Rollup:
    size = look_at(path).size
    return roll_up(raw_lines(path, end=size), settings, path=path, n_bytes=size)


def newest_day(rollups: Iterable[Rollup]) -> date | None:
    """UTC day of the newest record; None when there is none."""
    newest = max((day for rollup in rollups for day in rollup.days), default=None)
    return EPOCH_DAY + timedelta(days=newest) if newest is not None else None


def expired(rollups: Iterable[Rollup], *, before: date) -> list[Path]:
    """Day files (``YYYY-MM-DD.jsonl``) whose newest record is older than a day.

    One without a readable record, or with records of a newer version, or at an address, is never among them.
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
