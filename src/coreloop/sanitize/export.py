"""Sanitize a folder of records into a shareable folder, or list the private data in it.

Files are read here in blocks of lines; blocks are sanitized in this process or in worker processes.
"""

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from secrets import token_bytes
from typing import Any, BinaryIO, Final

import orjson

from coreloop.base.tempfiles import end_with_parent, temporary_folder
from coreloop.sanitize.company_names import companies
from coreloop.sanitize.detectors.rule import Detection, use, using
from coreloop.sanitize.files import (
    DamagedError,
    PrintableNames,
    find_sources,
    io_errors,
    open_records,
    read_line,
    refuse_out,
)
from coreloop.sanitize.find_in_record import Finder, places_of
from coreloop.sanitize.find_in_text import Numbering
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_record import Masker, Mode, RejectedLine, sanitize_line
from coreloop.sanitize.vocabulary import KnownWords

MAX_LISTED: Final = 1_000
_BLOCK_BYTES: Final = 1 << 20
_BLOCK_LINES: Final = 10_000
_SMALL_BYTES: Final = 8 << 20  # less takes no longer than the start of the workers
_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")
_STAGING: Final = ".coreloop-export-"
Progress = Callable[[int, int], None]
Line = bytes | RejectedLine


def no_progress(_done_bytes: int, _total_bytes: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of an export or a check.

    Attributes
    ----------
    mode : str, optional
        ``hash``, ``drop`` or ``mask``; None for a check.
    key : bytes
        Key of the pseudonyms; by default a random key that is not stored.
    names_file : Path, optional
        Companies to mask.
    vocabulary : KnownWords
        Words that stay readable in modes without text.
    detection : Detection
        Countries, own patterns, values that stay.
    keep_times : bool
        Keep times and the names of day files unchanged.
    """

    mode: Mode | None = None
    key: bytes = b""
    names_file: Path | None = None
    vocabulary: KnownWords = field(default_factory=KnownWords)
    detection: Detection = field(default_factory=Detection)
    keep_times: bool = False


@dataclass(slots=True)
class Outcome:
    """The result of a block; line numbers count from the block's first line."""

    n_lines: int = 0
    n_in: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    rejected: list[tuple[int, RejectedLine]] = field(default_factory=list)
    places: list[tuple[int, str, str]] = field(default_factory=list)
    text: bytes = b""


@dataclass(slots=True)
class Report:
    """Counts of lines and findings by file, and places, without any content.

    Attributes
    ----------
    mode : str or None
        None for a check.
    unread : list of str
        Files in the folder that are not records by their name, and links to folders; the first `MAX_LISTED`.
    n_unread : int
        Number of all such files.
    n_in, n_out : int
        Lines that are not blank, and lines that were written (checked, without a mode). An empty file and the
        damaged part of a compressed file count as one line.
    findings : Counter
        Findings by kind.
    reasons : Counter
        Rejected lines by reason.
    """

    mode: Mode | None
    unread: list[str] = field(default_factory=list)
    n_unread: int = 0
    n_in: int = 0
    n_out: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    places: list[dict[str, Any]] = field(default_factory=list)

    @property
    def n_rejected(self) -> int:
        return self.reasons.total()

    def add(self, file: str, outcome: Outcome) -> None:
        """Add the outcome of a block; the blocks of a file must come in order."""
        counts = self.files.setdefault(file, {"file": file, "lines": 0, "in": 0, "out": 0, "rejected": 0})
        before, n_rejected = counts["lines"], len(outcome.rejected)
        n_out = outcome.n_in - n_rejected
        more = {"lines": outcome.n_lines, "in": outcome.n_in, "out": n_out, "rejected": n_rejected}
        counts |= {name: counts[name] + number for name, number in more.items()}
        self.n_in += outcome.n_in
        self.n_out += n_out
        self.findings.update(outcome.findings)
        self.reasons.update(rejected.reason for _, rejected in outcome.rejected)
        for line, rejected in outcome.rejected[: MAX_LISTED - len(self.rejected)]:
            place = {"file": file, "line": before + line}
            self.rejected.append({**place, "reason": rejected.reason, "bytes": rejected.size_bytes})
        for line, path, kind in outcome.places[: MAX_LISTED - len(self.places)]:
            self.places.append({"file": file, "line": before + line, "path": path, "kind": kind})

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values; it lists at most `MAX_LISTED` rejected lines and places."""
        return {
            "mode": self.mode or "check",
            "in": self.n_in,
            "out": self.n_out,
            "rejected": self.n_rejected,
            "found": dict(sorted(self.findings.items())),
            "rejected_by_reason": dict(sorted(self.reasons.items())),
            "files": list(self.files.values()),
            "unread": self.n_unread,
            "unread_files": self.unread,
            "rejected_lines": self.rejected,
            "places": self.places,
        }


def sanitize_dir(
    source: Path, out: Path, choices: Choices, *, jobs: int = 1, progress: Progress = no_progress
) -> Report:
    """Write a sanitized copy of a folder's records.

    Parameters
    ----------
    source : Path
        A folder of ``*.jsonl`` (searched recursively), also compressed with gzip or Zstandard, or a file. It
        is only read.
    out : Path
        The new folder; it appears only when the export is complete.
    choices : Choices
        Mode, key, names.
    jobs : int
        Number of processes.
    progress : callable
        Called with the processed bytes and the bytes of all files.

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
    choices = replace(choices, key=choices.key or token_bytes(32))
    renumber = _renumbering(_tag(choices.key))
    with _staging(out) as folder, _run(source, choices, jobs, progress) as (report, files, by_file):
        names = dict(zip(files, _out_names(files, keep=choices.keep_times), strict=True))
        for file, outcomes in by_file:
            texts = (outcome.text for outcome in outcomes if outcome.text)
            first = next(texts, b"")
            if first:  # if all lines were rejected, there is no file: an empty file is not a log
                with _create_private(folder / names[file]) as target:
                    target.write(renumber(first))
                    target.writelines(map(renumber, texts))
    return report


def check_dir(
    source: Path, choices: Choices | None = None, *, jobs: int = 1, progress: Progress = no_progress
) -> Report:
    """Find private data in the records of a folder or file, without writing anything.

    Raises
    ------
    WorkspaceError
        A file cannot be read.
    """
    with io_errors(source), _run(source, choices or Choices(), jobs, progress) as (report, _, by_file):
        for _, outcomes in by_file:
            deque(outcomes, maxlen=0)
    return report


_ByFile = Iterator[tuple[Path, Iterator[Outcome]]]


@contextmanager
def _run(
    source: Path, choices: Choices, jobs: int, progress: Progress
) -> Iterator[tuple[Report, Sequence[Path], _ByFile]]:
    """Give the report, the files, and each file with its outcomes, which fill the report as they are read."""
    files, unread = find_sources(source)
    total = sum(file.stat().st_size for file in files)
    with using(_with_companies(choices)):
        label = PrintableNames(source)
        labels = dict(zip(files, map(label, files), strict=True))
        report = Report(choices.mode, list(map(label, unread[:MAX_LISTED])), len(unread))
    with using(_detection(choices)):

        def reported(entries: Iterable[tuple[Path, int, Outcome]]) -> Iterator[Outcome]:
            for file, done_bytes, outcome in entries:
                report.add(labels[file], outcome)
                progress(done_bytes, total)
                yield outcome

        with closing(_outcomes(files, choices, jobs if total >= _SMALL_BYTES else 1)) as outcomes:
            by_file = groupby(outcomes, key=itemgetter(0))
            yield report, files, ((file, reported(entries)) for file, entries in by_file)


def _outcomes(files: Sequence[Path], choices: Choices, jobs: int) -> Generator[tuple[Path, int, Outcome]]:
    """Yield each block's file, the bytes read so far, and its outcome, in order."""
    if jobs < 2:
        finder = _finder(choices)
        for file, done_bytes, lines in _blocks(files):
            yield file, done_bytes, _sanitize_block(lines, finder)
        return
    pending = deque[tuple[Path, int, Future[Outcome]]]()
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(choices,)
    ) as pool:
        try:
            for file, done_bytes, lines in _blocks(files):
                pending.append((file, done_bytes, pool.submit(_sanitize_in_worker, lines)))
                if len(pending) > 2 * jobs:  # so that neither lines nor results pile up
                    yield _result(pending)
            while pending:
                yield _result(pending)
        finally:
            pool.shutdown(cancel_futures=True)


def _result(pending: deque[tuple[Path, int, Future[Outcome]]]) -> tuple[Path, int, Outcome]:
    file, done_bytes, future = pending.popleft()
    return file, done_bytes, future.result()


def _blocks(files: Iterable[Path]) -> Iterator[tuple[Path, int, list[Line]]]:
    """Yield files, the bytes read so far, and lines; the last block of a file may be empty."""
    before = 0
    for file in files:
        size = file.stat().st_size
        block, n_bytes = list[Line](), 0
        for raw in _lines(file, size):
            block.append(raw)
            n_bytes += len(raw) if isinstance(raw, bytes) else 0
            if n_bytes >= _BLOCK_BYTES or len(block) >= _BLOCK_LINES:
                yield file, before, block
                block, n_bytes = [], 0
        before += size
        yield file, before, block


def _lines(file: Path, size_bytes: int) -> Iterator[Line]:
    """Yield the lines of a file; an empty file and the damaged rest of a file are rejected lines."""
    if not size_bytes:
        yield RejectedLine("an empty file", 0)
    try:
        with open_records(file) as source:
            while raw := read_line(source):
                yield raw
    except DamagedError as error:
        yield RejectedLine(str(error), size_bytes)


_worker: list[Finder] = []


def _start_worker(choices: Choices) -> None:
    """Build what all blocks share; the process ends together with its parent."""
    end_with_parent()
    use(_detection(choices))
    _worker[:] = [_finder(choices)]


def _sanitize_in_worker(lines: Sequence[Line]) -> Outcome:
    return _sanitize_block(lines, _worker[0])


def _detection(choices: Choices) -> Detection:
    """Return what is looked for; modes without text keep no names of companies anyway."""
    return _with_companies(choices) if choices.mode in {None, "mask"} else choices.detection


def _with_companies(choices: Choices) -> Detection:
    return replace(choices.detection, companies=companies(choices.names_file, choices.detection))


def _finder(choices: Choices) -> Finder:
    """Return the mode as what visits records."""
    mode, keep_times, pseudonyms = choices.mode, choices.keep_times, Pseudonyms(choices.key)
    if mode is None:
        return Finder()
    if mode != "mask":
        return Pseudonymizer(pseudonyms, choices.vocabulary, drop=mode == "drop", keep_times=keep_times)
    tag = _tag(choices.key)

    def label(kind: str, value: str) -> str:
        return f"[{kind}-{tag}{pseudonyms.letters('label', f'{kind} {value}')}]"

    return Masker(pseudonyms, label, keep_times=keep_times)


def _sanitize_block(lines: Sequence[Line], finder: Finder) -> Outcome:
    """Sanitize lines, or with a plain `Finder` list where private data is."""
    finder.counts = Counter()
    outcome, kept = Outcome(n_lines=len(lines)), list[bytes]()
    is_check = type(finder) is Finder
    for number, raw in enumerate(lines, 1):
        result = raw if isinstance(raw, RejectedLine) else sanitize_line(raw, finder)
        outcome.n_in += result is not None
        if isinstance(result, RejectedLine):
            outcome.rejected.append((number, result))
        elif result is not None and not is_check:
            kept.append(result)
        elif finder.found and len(outcome.places) < MAX_LISTED:
            outcome.places += ((number, *place) for place in places_of(orjson.loads(raw), finder))  # type: ignore[arg-type]
        finder.found.clear()
    outcome.findings, outcome.text = finder.counts, b"".join(kept)
    return outcome


@contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """A hidden folder next to ``out``, renamed to ``out`` on success and removed on failure."""
    target = out.resolve()
    with io_errors(out):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary_folder(_STAGING, parent=target.parent) as folder:
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


def _create_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _tag(key: bytes) -> str:
    """Return the letters that mark this export's labels until they are numbered."""
    return Pseudonyms(key).letters("tag", "")[:16]


def _renumbering(tag: str) -> Callable[[bytes], bytes]:
    """Return what numbers marks such as ``[EMAIL-<tag><digest>]`` in order of appearance."""
    mark, label = re.compile(rb"\[([A-Z]+)-" + tag.encode() + rb"([a-p]{32})\]"), Numbering()
    return partial(mark.sub, lambda match: label(match[1].decode(), match[2].decode()).encode())
