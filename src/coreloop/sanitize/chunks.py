"""The worker's part of an export: a section of a file, sanitized into a separate file."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson

from coreloop.base.tempfiles import end_with_parent
from coreloop.sanitize.compressed import (
    MAX_LINE_BYTES,
    Codec,
    DamagedError,
    open_records,
    read_line,
    skip_line,
)
from coreloop.sanitize.detectors.detection import Detection, use
from coreloop.sanitize.finder import Finder
from coreloop.sanitize.lines import Rejected, sanitize_line
from coreloop.sanitize.modes import Masker, Mode
from coreloop.sanitize.names import Names, companies
from coreloop.sanitize.places import Place, places_of
from coreloop.sanitize.pseudonymizer import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.vocabulary import KnownWords

# Per chunk, too: 4 MiB can be two million bad lines, whose list grows a worker from 32 to 240 MiB.
MAX_LISTED: Final = 1_000
CHUNK_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class SanitizeTask:
    """The settings of a worker; with ``mode`` None it only checks.

    Attributes
    ----------
    tag : str
        Random letters that mark this export's labels until they are numbered.
    """

    mode: Mode | None
    key: bytes = b""
    tag: str = ""
    names_file: Path | None = None
    keep_times: bool = False
    vocabulary: KnownWords = field(default_factory=KnownWords)
    detection: Detection = field(default_factory=Detection)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A section of a file: the lines that begin in it.

    Attributes
    ----------
    start, end : int
        Bytes. A compressed file is a single section.
    codec : str, optional
        How the file is compressed.
    """

    file: Path
    start: int
    end: int
    codec: Codec | None = None


@dataclass(slots=True)
class ChunkOutcome:
    """The result of a chunk; line numbers count from the chunk's first line.

    Attributes
    ----------
    findings : Counter
        Findings by kind.
    rejected : list of (int, str, int)
        Line, reason, bytes; the first `MAX_LISTED`.
    places : list of Place
        Locations of the findings of a check; the first `MAX_LISTED`, rounded up to whole lines.
    """

    n_lines: int = 0
    n_in: int = 0
    n_out: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rejected: list[tuple[int, str, int]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def reject(self, line: int, rejected: Rejected) -> None:
        self.reasons[rejected.reason] += 1
        if len(self.rejected) < MAX_LISTED:
            self.rejected.append((line, rejected.reason, rejected.size_bytes))


_worker: list[Finder] = []


def start_worker(task: SanitizeTask) -> None:
    """Build the objects that all chunks share; a separate process ends together with its parent."""
    end_with_parent()
    use(task.detection)
    _worker[:] = [_visitor(task, companies(task.names_file, task.detection))]


def run_chunk(chunk: Chunk, out: Path | None) -> ChunkOutcome:
    """Sanitize a chunk into ``out``, or only check it if ``out`` is None.

    Raises
    ------
    OSError
        The file cannot be read or ``out`` cannot be written.
    """
    visitor = _worker[0]
    visitor.counts = Counter()
    outcome = ChunkOutcome()
    try:
        with open_records(chunk.file, chunk.codec) as source:
            lines = _lines(source, chunk)
            if out is None:
                _check(lines, visitor, outcome)
            else:
                with out.open("wb") as target:
                    _write(lines, visitor, outcome, target)
    except DamagedError as error:
        outcome.n_lines += 1
        outcome.n_in += 1
        outcome.reject(outcome.n_lines, Rejected(str(error), chunk.end))
    outcome.findings = visitor.counts
    return outcome


def _visitor(task: SanitizeTask, names: Names | None) -> Finder:
    if task.mode is None:
        return Finder(names=names)
    pseudonyms = Pseudonyms(task.key)
    if task.mode == "mask":

        def label(kind: str, value: str) -> str:
            return f"[{kind}-{task.tag}{pseudonyms.letters('label', f'{kind} {value}')}]"

        return Masker(pseudonyms, label, names=names, keep_times=task.keep_times)
    return Pseudonymizer(pseudonyms, task.vocabulary, drop=task.mode == "drop", keep_times=task.keep_times)


def _write(lines: Iterator[bytes], visitor: Finder, outcome: ChunkOutcome, target: BinaryIO) -> None:
    for number, raw in enumerate(lines, 1):
        outcome.n_lines = number
        result = sanitize_line(raw, visitor)
        if result is None:
            continue
        outcome.n_in += 1
        if isinstance(result, Rejected):
            outcome.reject(number, result)
        else:
            outcome.n_out += 1
            target.write(result)


def _check(lines: Iterator[bytes], visitor: Finder, outcome: ChunkOutcome) -> None:
    for number, raw in enumerate(lines, 1):
        outcome.n_lines = number
        result = sanitize_line(raw, visitor)
        if result is None:
            continue
        outcome.n_in += 1
        if isinstance(result, Rejected):
            outcome.reject(number, result)
        else:
            outcome.n_out += 1
            if visitor.found and len(outcome.places) < MAX_LISTED:
                record: dict[str, Any] = orjson.loads(raw)
                outcome.places += places_of(record, number, visitor)
        visitor.found.clear()


def _lines(source: BinaryIO, chunk: Chunk) -> Iterator[bytes]:
    """Yield the lines that begin in the chunk; lines that are too long are cut."""
    if chunk.start:
        source.seek(chunk.start - 1)
        skip_line(source)
    while chunk.codec is not None or source.tell() < chunk.end:
        raw = read_line(source, MAX_LINE_BYTES)
        if not raw:
            return
        yield raw
