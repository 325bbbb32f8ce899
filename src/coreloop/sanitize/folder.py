"""Sanitize a folder of records into a shareable folder, or list the private data in it."""

import contextlib
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import BinaryIO, Final

from coreloop.base.tempfiles import removed_if_killed, temporary_folder
from coreloop.sanitize.chunks import (
    CHUNK_BYTES,
    MAX_LISTED,
    Chunk,
    ChunkOutcome,
    SanitizeTask,
    run_chunk,
    start_worker,
)
from coreloop.sanitize.company_names import companies
from coreloop.sanitize.compressed import codec_of
from coreloop.sanitize.detectors.detection import Detection, using
from coreloop.sanitize.export_report import Report
from coreloop.sanitize.exported_files import PrintableNames, RecordFiles, find_sources, io_errors, refuse_out
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_line import RejectedLine
from coreloop.sanitize.sanitize_record import Mode
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
    detection : Detection
        Countries, own patterns, values that stay.
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
    detection: Detection = field(default_factory=Detection)
    keep_times: bool = False
    jobs: int = 1
    progress: Progress = no_progress


def sanitize_dir(source: Path, out: Path, choices: Choices) -> Report:
    """Write a sanitized copy of a folder's records.

    Parameters
    ----------
    source : Path
        A folder of ``*.jsonl`` (searched recursively), also compressed with gzip or Zstandard, or a file. It
        is only read.
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
    sources = find_sources(source)
    files = sources.files
    key = choices.key or token_bytes(32)
    task = SanitizeTask(
        choices.mode,
        key,
        Pseudonyms(token_bytes(32)).letters("tag", "")[:16],
        choices.names_file,
        choices.keep_times,
        choices.vocabulary,
        choices.detection,
    )
    label = PrintableNames(source, companies(choices.names_file, choices.detection))
    report = _report(choices.mode, sources, label)
    with _staging(out) as folder:
        names = _out_names(files, keep=choices.keep_times)
        renumbering = Renumbering(task.tag)
        plan = _plan(files, names)
        with _run(plan, task, jobs=choices.jobs, parts=folder, progress=choices.progress) as finished:
            for file, name, results in finished:
                with _create_private(folder / name) as target:
                    for part, outcome in results:
                        renumbering.copy(part, target)
                        part.unlink()
                        report.add(label(file), outcome)
                if not (folder / name).stat().st_size:
                    (folder / name).unlink()  # all lines were rejected, and an empty file is not a log
                _reject_empty(file, label(file), report)
    return report


def check_dir(
    source: Path,
    *,
    names_file: Path | None = None,
    detection: Detection | None = None,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> Report:
    """Find private data in the records of a folder or file, without writing anything.

    Raises
    ------
    WorkspaceError
        A file cannot be read.
    """
    sources = find_sources(source)
    chosen = detection or Detection()
    label = PrintableNames(source, companies(names_file, chosen))
    report = _report(None, sources, label)
    task = SanitizeTask(None, names_file=names_file, detection=chosen)
    with io_errors(source):
        plan = _plan(sources.files, [""] * len(sources.files))
        with _run(plan, task, jobs=jobs, parts=None, progress=progress) as finished:
            for file, _, results in finished:
                for _, outcome in results:
                    report.add(label(file), outcome)
                _reject_empty(file, label(file), report)
    return report


@contextlib.contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """A hidden folder next to ``out``, renamed to ``out`` on success and removed on failure."""
    target = out.resolve()
    with io_errors(out):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary_folder(_STAGING, parent=target.parent) as folder, removed_if_killed(folder):
            yield folder
            if out.exists():
                out.rmdir()
            folder.rename(target)


def _out_names(files: Sequence[Path], *, keep: bool) -> list[str]:
    """Number the output files; with ``keep``, day files keep their name if it is unique.

    The export is not compressed, so a name ends in ``.jsonl``.
    """
    names: list[str] = []
    for number, file in enumerate(files, 1):
        plain = file.name.removesuffix(".gz").removesuffix(".zst")
        own = plain if keep and _DAY_FILE.fullmatch(plain) and plain not in names else ""
        names.append(own or f"records-{number:04d}.jsonl")
    return names


Results = Iterable[tuple[Path, ChunkOutcome]]
Plan = Sequence[tuple[Path, str, Sequence[Chunk]]]


def _plan(files: Sequence[Path], names: Sequence[str]) -> Plan:
    """List each file with its new name and its chunks."""
    return [(file, name, _chunks(file)) for file, name in zip(files, names, strict=True)]


@contextlib.contextmanager
def _run(
    plan: Plan, task: SanitizeTask, *, jobs: int, parts: Path | None, progress: Progress
) -> Iterator[Iterator[tuple[Path, str, Results]]]:
    """Give each file with the outcomes of its chunks in order, computed here or in worker processes."""
    total = sum(chunk.end - chunk.start for _, _, chunks in plan for chunk in chunks)
    with _outcomes(plan, task, jobs if total >= _SMALL_BYTES else 1, parts) as outcomes:
        yield _with_progress(plan, outcomes, total, progress)


def _with_progress(
    plan: Plan, outcomes: Iterator[Results], total: int, progress: Progress
) -> Iterator[tuple[Path, str, Results]]:
    done = 0
    for (file, name, chunks), results in zip(plan, outcomes, strict=True):
        yield file, name, _report_progress(chunks, results, done, total, progress)
        done += sum(chunk.end - chunk.start for chunk in chunks)


def _report_progress(
    chunks: Sequence[Chunk], results: Results, done: int, total: int, progress: Progress
) -> Results:
    for chunk, result in zip(chunks, results, strict=True):
        done += chunk.end - chunk.start
        progress(done, total)
        yield result


@contextlib.contextmanager
def _outcomes(plan: Plan, task: SanitizeTask, jobs: int, parts: Path | None) -> Iterator[Iterator[Results]]:
    """Give the outcomes of each file; an error, or Ctrl-C, ends the workers at once."""
    if jobs < 2:
        with using(task.detection):
            start_worker(task)
            yield (_run_here(chunks, parts) for _, _, chunks in plan)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=start_worker, initargs=(task,)
    ) as pool:
        try:
            prefetch = _Prefetch(pool, (chunk for _, _, chunks in plan for chunk in chunks), parts, jobs * 2)
            yield ((prefetch.next() for _ in chunks) for _, _, chunks in plan)
        except BaseException:  # the chunks in progress would take seconds
            workers = tuple((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            raise


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
    """Split a file of its current size into chunks; a compressed file is one, and an empty file none."""
    size = file.stat().st_size
    codec = codec_of(file)
    if codec is not None:
        return [Chunk(file, 0, size, codec)]
    return [Chunk(file, start, min(start + CHUNK_BYTES, size)) for start in range(0, size, CHUNK_BYTES)]


def _reject_empty(file: Path, label: str, report: Report) -> None:
    """Count an empty file as a rejected line."""
    if file.stat().st_size:
        return
    outcome = ChunkOutcome(n_in=1)
    outcome.reject(1, RejectedLine("an empty file", 0))
    report.add(label, outcome)


def _report(mode: Mode | None, sources: RecordFiles, label: PrintableNames) -> Report:
    return Report(mode, unread=map(label, sources.unread[:MAX_LISTED]), n_unread=len(sources.unread))


@contextlib.contextmanager
def _create_private(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


MAX_NUMBERED: Final = 100_000
_BLOCK_BYTES: Final = 1 << 20


class Renumbering:
    """Numbers marks such as ``[EMAIL-<tag><digest>]`` in order of appearance.

    Beyond `MAX_NUMBERED` values of a kind, the number is derived from the digest to bound memory.
    """

    def __init__(self, tag: str) -> None:
        self._mark = re.compile(rb"\[([A-Z]+)-" + tag.encode() + rb"([a-p]{32})\]")
        self._numbers: dict[bytes, dict[bytes, int]] = {}

    def copy(self, part: Path, target: BinaryIO) -> None:
        """Append a part to a file, with numbered labels."""
        with part.open("rb") as source:
            while lines := source.readlines(_BLOCK_BYTES):
                target.write(self._mark.sub(self._label, b"".join(lines)))

    def _label(self, mark: re.Match[bytes]) -> bytes:
        kind, digest = mark[1], mark[2]
        numbers = self._numbers.setdefault(kind, {})
        number = numbers.get(digest)
        if number is None:
            if len(numbers) < MAX_NUMBERED:
                number = numbers[digest] = len(numbers) + 1
            else:
                number = MAX_NUMBERED + int(digest.translate(_FROM_LETTERS), 16)
        return b"[%s-%d]" % (kind, number)


_FROM_LETTERS: Final = bytes.maketrans(b"abcdefghijklmnop", b"0123456789abcdef")
