"""A folder of records -> a folder that may be shared, or a list of what may not be."""

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


def unwatched(_done_bytes: int, _total_bytes: int) -> None:
    """The progress of work that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How an export is made.

    Attributes
    ----------
    mode : str
        ``hash``, ``drop`` or ``mask``.
    key : bytes, optional
        Of the pseudonyms; without one a fresh key is made and forgotten.
    names_file : Path, optional
        Companies to mask.
    vocabulary : KnownWords
        What stays readable where no text does.
    keep_times : bool
        Leave times and the names of day files as they are.
    jobs : int
        Processes.
    progress : callable
        Called with the bytes that are done and the bytes of all files.
    """

    mode: Mode
    key: bytes | None = None
    names_file: Path | None = None
    vocabulary: KnownWords = field(default_factory=KnownWords)
    keep_times: bool = False
    jobs: int = 1
    progress: Progress = unwatched


def sanitize_dir(source: Path, out: Path, choices: Choices) -> Report:
    """Write a sanitized copy of a folder's records.

    Parameters
    ----------
    source : Path
        A folder of ``*.jsonl``, folders in it included, or one file. It is only read.
    out : Path
        Is there when everything is done, or not at all.
    choices : Choices
        Mode, key, names, processes.

    Returns
    -------
    Report
        Every line of ``source`` is counted as written or rejected.

    Raises
    ------
    UsageError
        ``out`` is ``source``, lies in it, or holds something.
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
            with _private(folder / name) as target:
                for part, outcome in results:
                    renumbering.copy(part, target)
                    part.unlink()
                    report.add(_shown(file, source), outcome)
            if not (folder / name).stat().st_size:
                (folder / name).unlink()  # nothing of it could be kept, and an empty file is no log
            _reject_whole(file, source, report)
    return report


def check_dir(
    source: Path, *, names_file: Path | None = None, jobs: int = 1, progress: Progress = unwatched
) -> Report:
    """Look for what is private in a folder's records, or in one file; write nothing.

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
                report.add(_shown(file, source), outcome)
            _reject_whole(file, source, report)
    return report


def find_files(source: Path) -> list[Path]:
    """The files of records: every ``*.jsonl``, and packed ones, which are rejected by name.

    Raises
    ------
    WorkspaceError
        There is no such folder, it cannot be read, or something in it is not a regular file.
    """
    with _io_errors(source):
        if not source.exists():
            raise WorkspaceError(
                "no such folder or file; record requests first, or name another", path=source
            )
        found = list(_below(source)) if source.is_dir() else [source]
    for path in found:
        with _io_errors(path):
            open_regular(path).close()
    return found


def _below(source: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(source, onerror=_refuse_unreadable):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(files) if name.endswith((".jsonl", ".jsonl.gz")))


def refuse_out(source: Path, out: Path) -> None:
    """Raise `UsageError` when the result would land on or in what it is made from, or on something else."""
    within = source if source.is_dir() else None
    resolved = out.resolve()
    for folder in (resolved, *resolved.parents):
        if within is not None and folder.exists() and folder.samefile(within):
            raise UsageError(f"--out {out} is --in {source} or lies in it; name a folder elsewhere")
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UsageError(f"--out {out} is there and not an empty folder; name a new one")


def _refuse_unreadable(error: OSError) -> None:
    raise WorkspaceError(f"cannot be read ({error.strerror})", path=Path(error.filename)) from error


@contextlib.contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """A hidden folder beside ``out`` that takes its name when all is done, and is removed when not."""
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
    """Errors of files and of the processes that read them, as one that names the file."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkspaceError("a process that read it ended; is there enough memory?", path=path) from error
    except OSError as error:
        where = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
        raise WorkspaceError(f"cannot be read or written ({error.strerror or error})", path=where) from error


def _out_names(files: Sequence[Path], *, keep: bool) -> list[str]:
    """New names by place; a day file's own where it may keep it and no other has it."""
    names: list[str] = []
    for number, file in enumerate(files, 1):
        own = file.name if keep and _DAY_FILE.fullmatch(file.name) and file.name not in names else ""
        names.append(own or f"records-{number:04d}.jsonl")
    return names


Results = Iterable[tuple[Path, ChunkOutcome]]


Plan = Sequence[tuple[Path, str, Sequence[Chunk]]]


def _plan(files: Sequence[Path], names: Sequence[str]) -> Plan:
    """Each file, its new name and its chunks."""
    return [(file, name, _chunks(file)) for file, name in zip(files, names, strict=True)]


def _run(
    plan: Plan, task: SanitizeTask, *, jobs: int, parts: Path | None, progress: Progress
) -> Iterator[tuple[Path, str, Results]]:
    """Each file with the outcomes of its chunks in their order, made by this process or by others."""
    total = sum(chunk.end - chunk.start for _, _, chunks in plan for chunk in chunks)
    done = 0
    for (file, name, chunks), results in zip(plan, _results(plan, task, total, jobs, parts), strict=True):
        yield file, name, _watched(chunks, results, done, total, progress)
        done += sum(chunk.end - chunk.start for chunk in chunks)


def _watched(chunks: Sequence[Chunk], results: Results, done: int, total: int, progress: Progress) -> Results:
    for chunk, result in zip(chunks, results, strict=True):
        done += chunk.end - chunk.start
        progress(done, total)
        yield result


def _results(plan: Plan, task: SanitizeTask, total: int, jobs: int, parts: Path | None) -> Iterator[Results]:
    if jobs < 2 or total < _SMALL_BYTES:
        start_worker(task)
        yield from (_alone(chunks, parts) for _, _, chunks in plan)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=start_worker, initargs=(task,)
    ) as pool:
        ahead = _Ahead(pool, (chunk for _, _, chunks in plan for chunk in chunks), parts, jobs * 2)
        for _, _, chunks in plan:
            yield (ahead.next() for _ in chunks)


def _alone(chunks: Sequence[Chunk], parts: Path | None) -> Results:
    for chunk in chunks:
        part = _part(parts)
        yield part or chunk.file, run_chunk(chunk, part)


class _Ahead:
    """Keeps a few chunks in work, so that neither results nor parts pile up."""

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
    """The file as it is now, in stretches; nothing of one that is empty or packed."""
    size = file.stat().st_size
    if not size or _is_packed(file):
        return []
    return [Chunk(file, start, min(start + CHUNK_BYTES, size)) for start in range(0, size, CHUNK_BYTES)]


def _is_packed(file: Path) -> bool:
    with file.open("rb") as source:
        return source.read(2) == GZIP_MAGIC


def _reject_whole(file: Path, source: Path, report: Report) -> None:
    """Count a file without lines as one that was rejected."""
    size = file.stat().st_size
    if size and not _is_packed(file):
        return
    outcome = ChunkOutcome(n_in=1)
    outcome.reject(1, Rejected("a gzip file; unpack it first" if size else "an empty file", size))
    report.add(_shown(file, source), outcome)


def _shown(file: Path, source: Path) -> str:
    return file.name if file == source else file.relative_to(source).as_posix()


@contextlib.contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
