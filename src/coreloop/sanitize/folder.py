"""Sanitize a folder of records into a shareable folder, or list the private data in it."""

import contextlib
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import BinaryIO, Final

from coreloop.errors import UsageError, WorkspaceError
from coreloop.files import open_regular
from coreloop.leftovers import temporary_folder
from coreloop.sanitize.chunks import (
    CHUNK_BYTES,
    GZIP_MAGIC,
    Chunk,
    ChunkOutcome,
    SanitizeTask,
    run_chunk,
    start_worker,
)
from coreloop.sanitize.lines import Rejected
from coreloop.sanitize.modes import Mode
from coreloop.sanitize.numbering import Renumbering
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.report import Report
from coreloop.sanitize.vocabulary import KnownWords

_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_STAGING: Final = ".coreloop-export-"
_SMALL_BYTES: Final = 2 * CHUNK_BYTES
Progress = Callable[[int, int], None]


def no_progress(_done_bytes: int, _total_bytes: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of an export.

    Attributes
    ----------
    mode : str
        ``hash``, ``drop`` or ``mask``.
    key : bytes, optional
        Key of the pseudonyms; by default a random key that is not stored.
    names_file : Path, optional
        Companies to mask.
    vocabulary : KnownWords
        Words that stay readable in modes without text.
    keep_times : bool
        Keep times and the names of day files unchanged.
    jobs : int
        Number of processes.
    progress : callable
        Called with the processed bytes and the bytes of all files.
    """

    mode: Mode
    key: bytes | None = None
    names_file: Path | None = None
    vocabulary: KnownWords = field(default_factory=KnownWords)
    keep_times: bool = False
    jobs: int = 1
    progress: Progress = no_progress


def sanitize_dir(source: Path, out: Path, choices: Choices) -> Report:
    """Write a sanitized copy of a folder's records.

    Parameters
    ----------
    source : Path
        A folder of ``*.jsonl`` (searched recursively), or a file. It is only read.
    out : Path
        The new folder; it appears only when the export is complete.
    choices : Choices
        Mode, key, names, processes.

    Returns
    -------
    Report
        Every line of ``source`` is counted as written or rejected.

    Raises
    ------
    UsageError
        ``out`` is ``source``, lies in it, or is not empty.
    WorkspaceError
        A file cannot be read or written; nothing is left behind.
    """
    refuse_out(source, out)
    files = find_files(source)
    key = choices.key or token_bytes(32)
    task = SanitizeTask(
        choices.mode,
        key,
        Pseudonyms(token_bytes(32)).letters("tag", "")[:16],
        choices.names_file,
        choices.keep_times,
        choices.vocabulary,
    )
    report = Report(choices.mode)
    with _staging(out) as folder:
        names = _out_names(files, keep=choices.keep_times)
        renumbering = Renumbering(task.tag)
        plan = _plan(files, names)
        for file, name, results in _run(
            plan, task, jobs=choices.jobs, parts=folder, progress=choices.progress
        ):
            with _create_private(folder / name) as target:
                for part, outcome in results:
                    renumbering.copy(part, target)
                    part.unlink()
                    report.add(_display_path(file, source), outcome)
            if not (folder / name).stat().st_size:
                (folder / name).unlink()  # all lines were rejected, and an empty file is not a log
            _reject_file(file, source, report)
    return report


def check_dir(
    source: Path, *, names_file: Path | None = None, jobs: int = 1, progress: Progress = no_progress
) -> Report:
    """Find private data in the records of a folder or file, without writing anything.

    Raises
    ------
    WorkspaceError
        A file cannot be read.
    """
    files = find_files(source)
    report = Report(None)
    task = SanitizeTask(None, names_file=names_file)
    with _io_errors(source):
        plan = _plan(files, [""] * len(files))
        for file, _, results in _run(plan, task, jobs=jobs, parts=None, progress=progress):
            for _, outcome in results:
                report.add(_display_path(file, source), outcome)
            _reject_file(file, source, report)
    return report


def find_files(source: Path) -> list[Path]:
    """List the files of records: every ``*.jsonl``, and ``*.jsonl.gz``, which are rejected later.

    Raises
    ------
    WorkspaceError
        The folder does not exist or is unreadable, or a file in it is not a regular file.
    """
    with _io_errors(source):
        if not source.exists():
            raise WorkspaceError(
                "does not exist; record requests first, or name another folder or file", path=source
            )
        files = list(_walk_files(source)) if source.is_dir() else [source]
    for path in files:
        with _io_errors(path):
            open_regular(path).close()
    return files


def _walk_files(source: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(source, onerror=_refuse_unreadable):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(files) if name.endswith((".jsonl", ".jsonl.gz")))


def refuse_out(source: Path, out: Path) -> None:
    """Raise `UsageError` if ``out`` is the source, lies in it, or is not an empty folder."""
    within = source if source.is_dir() else None
    resolved = out.resolve()
    for folder in (resolved, *resolved.parents):
        if within is not None and folder.exists() and folder.samefile(within):
            raise UsageError(f"--out {out} is --in {source} or lies in it; name a folder elsewhere")
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UsageError(f"--out {out} already exists and is not an empty folder; name a new folder")


def _refuse_unreadable(error: OSError) -> None:
    raise WorkspaceError(f"cannot be read ({error.strerror})", path=Path(error.filename)) from error


@contextlib.contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """A hidden folder next to ``out``, renamed to ``out`` on success and removed on failure."""
    target = out.resolve()
    with _io_errors(out):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary_folder(_STAGING, parent=target.parent) as folder:
            yield folder
            if out.exists():
                out.rmdir()
            folder.rename(target)


@contextlib.contextmanager
def _io_errors(path: Path) -> Iterator[None]:
    """Translate errors of files and worker processes into a `WorkspaceError` that names the file."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkspaceError(
            "a worker process ended unexpectedly; check the free memory", path=path
        ) from error
    except OSError as error:
        where = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
        raise WorkspaceError(f"cannot be read or written ({error.strerror or error})", path=where) from error


def _out_names(files: Sequence[Path], *, keep: bool) -> list[str]:
    """Number the output files; with ``keep``, day files keep their name if it is unique."""
    names: list[str] = []
    for number, file in enumerate(files, 1):
        own = file.name if keep and _DAY_FILE.fullmatch(file.name) and file.name not in names else ""
        names.append(own or f"records-{number:04d}.jsonl")
    return names


Results = Iterable[tuple[Path, ChunkOutcome]]
Plan = Sequence[tuple[Path, str, Sequence[Chunk]]]


def _plan(files: Sequence[Path], names: Sequence[str]) -> Plan:
    """List each file with its new name and its chunks."""
    return [(file, name, _chunks(file)) for file, name in zip(files, names, strict=True)]


def _run(
    plan: Plan, task: SanitizeTask, *, jobs: int, parts: Path | None, progress: Progress
) -> Iterator[tuple[Path, str, Results]]:
    """Yield each file with the outcomes of its chunks in order, computed here or in worker processes."""
    total = sum(chunk.end - chunk.start for _, _, chunks in plan for chunk in chunks)
    done = 0
    for (file, name, chunks), results in zip(plan, _results(plan, task, total, jobs, parts), strict=True):
        yield file, name, _report_progress(chunks, results, done, total, progress)
        done += sum(chunk.end - chunk.start for chunk in chunks)


def _report_progress(
    chunks: Sequence[Chunk], results: Results, done: int, total: int, progress: Progress
) -> Results:
    for chunk, result in zip(chunks, results, strict=True):
        done += chunk.end - chunk.start
        progress(done, total)
        yield result


def _results(plan: Plan, task: SanitizeTask, total: int, jobs: int, parts: Path | None) -> Iterator[Results]:
    if jobs < 2 or total < _SMALL_BYTES:
        start_worker(task)
        yield from (_run_here(chunks, parts) for _, _, chunks in plan)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=start_worker, initargs=(task,)
    ) as pool:
        prefetch = _Prefetch(pool, (chunk for _, _, chunks in plan for chunk in chunks), parts, jobs * 2)
        for _, _, chunks in plan:
            yield (prefetch.next() for _ in chunks)


def _run_here(chunks: Sequence[Chunk], parts: Path | None) -> Results:
    for chunk in chunks:
        part = _part(parts)
        yield part or chunk.file, run_chunk(chunk, part)


class _Prefetch:
    """Keeps a few chunks in progress, so that neither results nor part files pile up."""

    def __init__(
        self, pool: ProcessPoolExecutor, chunks: Iterator[Chunk], parts: Path | None, width: int
    ) -> None:
        self._pool = pool
        self._chunks = chunks
        self._parts = parts
        self._pending: deque[tuple[Path, Future[ChunkOutcome]]] = deque()
        for _ in range(width):
            self._submit()

    def next(self) -> tuple[Path, ChunkOutcome]:
        part, future = self._pending.popleft()
        outcome = future.result()
        self._submit()
        return part, outcome

    def _submit(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is not None:
            part = _part(self._parts)
            self._pending.append((part or chunk.file, self._pool.submit(run_chunk, chunk, part)))


def _part(parts: Path | None) -> Path | None:
    return None if parts is None else parts / f".part-{token_hex(8)}"


def _chunks(file: Path) -> list[Chunk]:
    """Split a file of its current size into chunks; an empty or gzip file has none."""
    size = file.stat().st_size
    if not size or _is_gzip(file):
        return []
    return [Chunk(file, start, min(start + CHUNK_BYTES, size)) for start in range(0, size, CHUNK_BYTES)]


def _is_gzip(file: Path) -> bool:
    with file.open("rb") as source:
        return source.read(2) == GZIP_MAGIC


def _reject_file(file: Path, source: Path, report: Report) -> None:
    """Count a file without chunks as a rejected line."""
    size = file.stat().st_size
    if size and not _is_gzip(file):
        return
    outcome = ChunkOutcome(n_in=1)
    outcome.reject(1, Rejected("a gzip file; unpack it first" if size else "an empty file", size))
    report.add(_display_path(file, source), outcome)


def _display_path(file: Path, source: Path) -> str:
    return file.name if file == source else file.relative_to(source).as_posix()


@contextlib.contextmanager
def _create_private(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
