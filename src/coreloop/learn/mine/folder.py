"""A project's day files and their facts: read once, and cached as Parquet; the cache is safe to delete.

Settings, verdicts, replays, the cache and the executor meet here, so that all commands and services share the
same facts.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from hashlib import sha256
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from coreloop.base.errors import CacheWriteError, WorkspaceError
from coreloop.base.files import file_errors
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import (
    EPOCH_DAY,
    FileFacts,
    MineSettings,
    count_days,
    read_facts,
    read_files,
)
from coreloop.learn.facts.schema import NAMES, Facts
from coreloop.learn.mine.executors import open_executor
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.judgments import HumanVerdicts, read_verdicts
from coreloop.observe.reading.decode import raw_lines
from coreloop.observe.reading.parts import part_of

VERSION: Final = f"25, polars {pl.__version__}"
"""Increase the number when the facts of a line or the tables change; polars hashes alike within a version."""
_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_CHUNK_BYTES: Final = 64 << 20  # read at once: bounds the memory
_SMALL_BYTES: Final = 4 << 20
"""A smaller file is read again each time, which is faster than opening five Parquet files."""


class _Index(msgspec.Struct):
    """``facts.json``, written last: a folder without it is not complete."""

    oddities: Oddities
    days: dict[int, int]


def read_folder(
    folder: Path,
    settings: MineSettings,
    *,
    cache: Path | None = None,
    executor: str | None = None,
    progress: Callable[[int, int], object] = lambda *_: None,
    max_bytes: int | None = None,
) -> list[FileFacts]:
    """Read the facts of every ``*.jsonl`` of a folder, in the order of the names.

    Parameters
    ----------
    cache : Path, optional
        The folder of facts of earlier runs; without it, all files are read in memory.
    executor : str, optional
        See `open_executor`.
    progress : callable, optional
        Called with the bytes read so far and the bytes to read.
    max_bytes : int, optional
        Read only the newest files that have no more bytes together.
    """
    with file_errors("cannot be read ({strerror})", f"{folder}"):
        sizes = _newest({path: _size(path) for path in day_files(folder)}, max_bytes)
        large = [path for path in sizes if cache and sizes[path] > _SMALL_BYTES]
        folders = {path: _cached(path, settings, cache) for path in large if cache}
        is_kept = {path: (kept / "facts.json").is_file() for path, kept in folders.items()}
        files = {path: _opened(path, settings, folders[path]) for path in folders if is_kept[path]}
        done, total = 0, sum(sizes.values())

        def advance(path: Path) -> None:
            nonlocal done
            done += sizes[path]
            progress(done, total)

        def lines(path: Path) -> Iterator[tuple[int, bytes]]:
            yield from raw_lines(path, end=sizes[path])
            advance(path)

        for file in read_files(((path, lines(path)) for path in sizes if path not in folders), settings):
            files[file.path] = file
        missing = {path: folders[path] for path in folders if not is_kept[path]}
        for file in _read_missing(missing, sizes, settings, executor):
            files[file.path] = file
            advance(file.path)
        return [files[path] for path in sizes]


def day_files(folder: Path) -> list[Path]:
    """Every ``*.jsonl`` file in the order of the names; folders are skipped, a pipe is an error."""
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


def _size(path: Path) -> int:
    with file_errors("cannot be read ({strerror})", path):
        return path.stat().st_size


def _newest(sizes: Mapping[Path, int], max_bytes: int | None) -> Mapping[Path, int]:
    if max_bytes is None:
        return sizes
    newest_first = list(sizes)[::-1]
    totals = accumulate(sizes[path] for path in newest_first)
    fitting = {path for path, total in zip(newest_first, totals, strict=True) if total <= max_bytes}
    return {path: size for path, size in sizes.items() if path in fitting}


def _cached(path: Path, settings: MineSettings, cache: Path) -> Path:
    """Return the folder for the facts of a file in its present state, read by these settings."""
    status = path.stat()
    selectors = {tool: list(names) for tool, names in settings.selectors.items()}
    state = [f"{path.absolute()}", status.st_size, status.st_mtime_ns]
    state += [VERSION, sha256(settings.case_key).hexdigest(), selectors, settings.categories.rules]
    digest = sha256(msgspec.json.encode(state, order="sorted")).hexdigest()
    return cache / f"{path.stem[:40]}-{digest[:24]}"


def _read_missing(
    folders: Mapping[Path, Path], sizes: Mapping[Path, int], settings: MineSettings, executor: str | None
) -> Iterator[FileFacts]:
    """Read files in chunks, and cache the facts of each."""
    chunks = [(path, *ends) for path in folders for ends in _ranges(path, sizes[path])]
    with open_executor(executor if len(chunks) > 1 else None) as pool:
        read = (map if pool is None else pool.map)(partial(_read_chunk, settings), chunks)
        for path, parts in groupby(zip(chunks, read, strict=True), key=lambda part: part[0][0]):
            try:
                _write(folders[path], (facts for _, facts in parts))
            except (OSError, pl.exceptions.PolarsError) as error:
                raise CacheWriteError(f"{error}") from error
            yield _opened(path, settings, folders[path])


def _read_chunk(settings: MineSettings, chunk: tuple[Path, int, int]) -> tuple[Facts, Oddities]:
    path, start, end = chunk
    lines = ((0, offset, raw) for offset, raw in raw_lines(path, start=start, end=end))
    facts, oddities = read_facts(lines, settings)
    return facts, oddities[0]


def _write(kept: Path, chunks: Iterable[tuple[Facts, Oddities]]) -> None:
    for old in kept.parent.glob(f"{kept.name.rpartition('-')[0]}-*"):
        shutil.rmtree(old, ignore_errors=True)
    oddities = Oddities()
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with temporary_folder(f".making-{kept.name}-", parent=kept.parent) as scratch:
        for number, (facts, odd) in enumerate(chunks):
            oddities.add(odd)
            for name in NAMES:
                getattr(facts, name).collect().write_parquet(scratch / f"{name}-{number:04}.parquet")
        days = count_days(pl.scan_parquet(scratch / "requests-*.parquet"))[0]
        (scratch / "facts.json").write_bytes(msgspec.json.encode(_Index(oddities, days)))
        with suppress(OSError):  # another process has cached it meanwhile
            scratch.rename(kept)


def _opened(path: Path, settings: MineSettings, kept: Path) -> FileFacts:
    index = msgspec.json.decode((kept / "facts.json").read_bytes(), type=_Index)
    tables = Facts(*(pl.scan_parquet(kept / f"{name}-*.parquet") for name in NAMES))
    replayed = settings.replayed
    days = count_days(tables.requests, replayed)[0] if replayed else index.days
    return FileFacts(path, tables, settings, index.oddities, days)


def _ranges(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of about `_CHUNK_BYTES` that end behind a request."""
    with path.open("rb") as file:
        first = 0
        while first < size:
            file.seek(min(first + _CHUNK_BYTES, size))
            while (piece := file.readline(1 << 20)) and not piece.endswith(b"\n"):
                pass  # a line of any length takes no memory
            last = file.tell()
            while part_of(file.readline(1 << 20)):
                last = file.tell()
            last = min(last, size)
            yield first, last
            first = last


def newest_day(files: Iterable[FileFacts]) -> date | None:
    """UTC day of the newest record, or None without records."""
    newest = max((day for file in files for day in file.days), default=None)
    return EPOCH_DAY + timedelta(days=newest) if newest is not None else None


def remove_expired(files: Iterable[FileFacts], *, before: date) -> list[Path]:
    """Remove day files whose newest record is older than a day; none of a newer schema."""
    limit = (before - EPOCH_DAY).days
    expired = [
        file.path
        for file in files
        if _DAY_FILE.fullmatch(file.path.name)
        and _newest_day(file) < limit
        and not any(reason.startswith("schema version") for reason in file.oddities.skipped)
    ]
    for path in expired:
        with file_errors("cannot be removed ({strerror})", path):
            path.unlink(missing_ok=True)
    return expired


def _newest_day(file: FileFacts) -> int:
    """The day of a file's newest record, else, as for one of replays only, the day of its name."""
    with suppress(ValueError):
        return max(file.days) if file.days else (date.fromisoformat(file.path.stem) - EPOCH_DAY).days
    return (date.max - EPOCH_DAY).days


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningOptions:
    """Which records to mine, and how.

    Attributes
    ----------
    in_dir : Path, optional
        The records of the project's agent by default; may be at an address, see `named_folder`.
    own : bool
        What coreloop itself was asked, instead of the agent's records.
    no_cache : bool
        Read everything again and keep no facts.
    max_bytes : int, optional
        Mine only the newest files, by name, that have no more bytes together.
    """

    in_dir: Path | None = None
    own: bool = False
    no_cache: bool = False
    max_bytes: int | None = None

    @property
    def is_of_agent(self) -> bool:
        """Whether the records are those of the project's agent."""
        return self.in_dir is None and not self.own

    def folder(self, workspace: Workspace) -> Path:
        """The folder of the records."""
        if self.own:
            return workspace.own_records_dir
        return self.in_dir or workspace.records_dir


@dataclass(frozen=True, slots=True)
class Mined:
    """The facts of a folder of records, and the verdicts with which its requests count.

    Attributes
    ----------
    files : sequence of FileFacts
        In the order of the file names; usable until the session is closed.
    judgments : Judgments
        All verdicts of the project.
    not_cached : str
        Why the facts could not be kept; empty if they were, or with ``no_cache``.
    """

    workspace: Workspace
    files: Sequence[FileFacts]
    judgments: HumanVerdicts = field(default_factory=HumanVerdicts)
    not_cached: str = ""


def _ignore(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Callbacks for the progress of mining.

    Attributes
    ----------
    progress : callable
        Called with the bytes counted so far and the bytes to count.
    opened : callable
        Called with the session when all records are counted.
    """

    progress: Callable[[int, int], None] = _ignore
    opened: Callable[[Mined], None] = _ignore


UNWATCHED: Final = Watch()


@contextmanager
def open_mining(
    workspace: Workspace,
    options: MiningOptions,
    *,
    min_chunk_len: int | None = None,
    watch: Watch = UNWATCHED,
) -> Iterator[Mined]:
    """Read the facts of a project's records; they last as long as the session.

    Parameters
    ----------
    options : MiningOptions
        Where and how to mine.
    min_chunk_len : int, optional
        Characters of a complete answer; the setting of that name by default.
    watch : Watch, optional
        Callbacks.

    Raises
    ------
    WorkspaceError
        The folder, a file in it or a file of verdicts cannot be read. No folder is created.
    """
    folder, limit = options.folder(workspace), options.max_bytes
    judgments = read_verdicts(workspace.judgments_dir)
    day_files(folder)  # raise errors before any folder is created
    settings = MineSettings.of(
        workspace.settings,
        min_chunk_len=workspace.settings.gates.chosen(min_chunk_len=min_chunk_len).min_chunk_len,
        replayed=workspace.replayed(),
        verdicts=judgments.of_requests(),
        case_key=known_case_key(workspace.audit_dir),
    )
    cache, not_cached = None if options.no_cache else workspace.facts_dir, ""
    executor = workspace.settings.executor
    read = partial(read_folder, folder, settings, executor=executor, progress=watch.progress, max_bytes=limit)
    try:
        files = read(cache=cache)
    except (OSError, pl.exceptions.PolarsError, CacheWriteError) as error:
        files, not_cached = read(), f"{error}"
    mined = Mined(workspace, files, judgments, not_cached)
    watch.opened(mined)
    yield mined
