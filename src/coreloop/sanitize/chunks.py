"""The worker's part of an export: a section of a file, sanitized into a separate file."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import orjson

from coreloop.base.tempfiles import end_with_parent
from coreloop.base.text import printable
from coreloop.sanitize.company_names import Names, companies
from coreloop.sanitize.compressed import (
    MAX_LINE_BYTES,
    Codec,
    DamagedError,
    open_records,
    read_line,
    skip_line,
)
from coreloop.sanitize.detectors.detection import Detection, use
from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.mask_text import Numbering, mask_text
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_line import RejectedLine, sanitize_line
from coreloop.sanitize.sanitize_record import Masker, Mode
from coreloop.sanitize.vocabulary import KnownWords
from coreloop.sanitize.walk_record import children, scan

if TYPE_CHECKING:
    from coreloop.sanitize.company_names import Names


MAX_PLACES: Final = 1_000
# Keys and list indexes; None at the end if the finding is the last key itself.
_Keys = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """A finding's line, its path in the record (``tool_calls[0].args.memo``), and its kind."""

    line: int
    path: str
    kind: str


def places_of(record: dict[str, Any], line: int, finder: Finder) -> list[FindingPlace]:
    """List the places of what a finder found in a record, at most `MAX_PLACES`."""
    try:
        findings: list[tuple[_Keys, str]] = []
        _collect(record, "", (), finder, findings)
    except RecursionError:  # the path would be too long to read
        findings = []
    if findings:
        keys: dict[str, str] = {}
        listed = ((_format_path(path, keys, finder.names), kind) for path, kind in findings[:MAX_PLACES])
        return [FindingPlace(line, path, kind) for path, kind in listed]
    counter = Finder(like=finder)
    scan(record, counter)
    return [FindingPlace(line, "(deeply nested)", kind) for kind in counter.counts]


def _collect(node: Any, key: str, path: _Keys, finder: Finder, findings: list[tuple[_Keys, str]]) -> None:
    """Append the paths and kinds of the findings in a node."""
    found = finder.found
    for part, under, value in children(node, key):
        if len(findings) >= MAX_PLACES:
            return
        if (part, None) in found and isinstance(part, str):
            findings += (((*path, part, None), kind) for kind in found[part, None])
        if isinstance(value, dict | list):
            _collect(value, under, (*path, part), finder, findings)
        elif (under, value) in found and value is not None:
            findings += (((*path, part), kind) for kind in found[under, value])


def _format_path(path: _Keys, keys: dict[str, str], names: "Names | None") -> str:
    """Format a path with masked keys; ``keys`` caches them, since many findings can be below a long key."""
    path_text = ""
    for part in path:
        if part is None:
            path_text += " (key)"
        elif isinstance(part, int):
            path_text += f"[{part}]"
        else:
            if part not in keys:
                keys[part] = printable(mask_text(part, Numbering(), names=names))[:64]
            path_text = f"{path_text}.{keys[part]}" if path_text else keys[part]
    return path_text


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
    places : list of FindingPlace
        Locations of the findings of a check; the first `MAX_LISTED`, rounded up to whole lines.
    """

    n_lines: int = 0
    n_in: int = 0
    n_out: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rejected: list[tuple[int, str, int]] = field(default_factory=list)
    places: list[FindingPlace] = field(default_factory=list)

    def reject(self, line: int, rejected: RejectedLine) -> None:
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
                    target.writelines(result for _, _, result in _kept(lines, visitor, outcome))
    except DamagedError as error:
        outcome.n_lines += 1
        outcome.n_in += 1
        outcome.reject(outcome.n_lines, RejectedLine(str(error), chunk.end))
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


def _kept(
    lines: Iterator[bytes], visitor: Finder, outcome: ChunkOutcome
) -> Iterator[tuple[int, bytes, bytes]]:
    """Count lines, and yield those that are kept: the number, the line, and the line sanitized."""
    for number, raw in enumerate(lines, 1):
        outcome.n_lines = number
        result = sanitize_line(raw, visitor)
        if result is None:
            continue
        outcome.n_in += 1
        if isinstance(result, RejectedLine):
            outcome.reject(number, result)
        else:
            outcome.n_out += 1
            yield number, raw, result
        visitor.found.clear()


def _check(lines: Iterator[bytes], visitor: Finder, outcome: ChunkOutcome) -> None:
    for number, raw, _ in _kept(lines, visitor, outcome):
        if visitor.found and len(outcome.places) < MAX_LISTED:
            record: dict[str, Any] = orjson.loads(raw)
            outcome.places += places_of(record, number, visitor)


def _lines(source: BinaryIO, chunk: Chunk) -> Iterator[bytes]:
    """Yield the lines that begin in the chunk; lines that are too long are cut."""
    if chunk.start:
        source.seek(chunk.start - 1)
        skip_line(source, chunk.end)  # each chunk of a huge line would read all of its rest
    while chunk.codec is not None or source.tell() < chunk.end:
        raw = read_line(source, MAX_LINE_BYTES)
        if not raw:
            return
        yield raw
