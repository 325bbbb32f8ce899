"""A project's day files and their facts; see `coreloop.learn.facts.cache` for what is kept of them.

Settings, verdicts, replays, the cache and the executor meet here, so that all commands and services share the
same facts.
"""

import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors
from coreloop.learn.facts.cache import FactsCache, FileState, KeptFacts, checksum
from coreloop.learn.facts.read_lines import EPOCH_DAY, FileFacts, MineSettings, Reader
from coreloop.learn.facts.schema import Part
from coreloop.learn.mine.executors import open_executor
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.judgments import HumanVerdicts, read_verdicts
from coreloop.observe.reading.decode import lines_of
from coreloop.observe.reading.parts import part_of

if TYPE_CHECKING:
    from coreloop.base.project.workspace import Workspace

_CHUNK_BYTES: Final = 64 << 20  # read at once: bounds the memory, and occupies all processors
_KEPT_FROM: Final = 1 << 20
"""Bytes of a folder: less is read in the time that it takes to find what is kept."""


class _Chunk(NamedTuple):
    """Bytes of a file; ``known`` are the facts of those before, if it has grown."""

    path: Path
    start: int
    end: int
    known: Part | None = None


def _ignore(*_: object) -> None:
    pass


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the garbage collector: millions of small objects without cycles cost a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningOptions:
    """Which records to mine, and how.

    Attributes
    ----------
    in_dir : Path, optional
        The records of the project's agent by default; may be at an address, see `named_folder`.
    no_cache : bool
        Read everything again and keep no facts.
    min_chunk_len : int, optional
        Characters of a complete answer, instead of the setting.
    progress : callable
        Called with the bytes read so far and the bytes to read.
    not_kept : callable
        Called with the reason if the facts cannot be kept.
    """

    in_dir: Path | None = None
    no_cache: bool = False
    min_chunk_len: int | None = None
    progress: Callable[[int, int], object] = _ignore
    not_kept: Callable[[str], object] = _ignore


AGENT: Final = MiningOptions()
"""All records of the project's agent."""


def read_folder(
    folder: Path,
    settings: MineSettings,
    options: MiningOptions = AGENT,
    *,
    cache: Path | None = None,
    executor: str | None = None,
) -> list[FileFacts]:
    """Read the facts of every ``*.jsonl`` of a folder, in the order of the names.

    Parameters
    ----------
    cache : Path, optional
        The folder of facts of earlier runs; without it, all files are read.
    executor : str, optional
        See `open_executor`.
    """
    with file_errors("cannot be read ({strerror})", f"{folder}"):
        states = {path: FileState.of(path) for path in day_files(folder)}
        is_small = sum(state.size for state in states.values()) < _KEPT_FROM
        kept = FactsCache(cache, folder, {} if is_small else states, settings) if cache else None
        facts = _read(states, kept.known if kept else {}, settings, executor, options.progress)
    try:
        if kept is not None:
            kept.write(facts)
    except WorkspaceError as error:
        options.not_kept(f"{error}")
    return [FileFacts(path, facts[path].parts, settings) for path in states]


def _read(
    states: Mapping[Path, FileState],
    known: Mapping[Path, KeptFacts],
    settings: MineSettings,
    executor: str | None,
    progress: Callable[[int, int], object],
) -> dict[Path, KeptFacts]:
    """Read what is not known of files."""
    facts = {path: known[path] for path in states if path in known and known[path].state == states[path]}
    done, total = sum(kept.state.size for kept in facts.values()), sum(one.size for one in states.values())
    chunks = list[_Chunk]()
    parts: defaultdict[Path, list[Part]] = defaultdict(list)
    missing = [path for path in states if path not in facts]
    for path in missing:
        before = known.get(path)
        if before is not None and before.is_begun_by(path, states[path]):
            parts[path] += before.parts[:-1]
            chunks += _chunks(path, before.end, states[path].size, before.parts[-1])
        else:
            chunks += _chunks(path, 0, states[path].size)
    is_whole = dict.fromkeys(missing, True)
    with open_executor(executor, sum(chunk.end - chunk.start for chunk in chunks)) as pool:
        read = (map if pool is None else pool.map)(partial(_read_chunk, settings), chunks)
        for chunk, (part, is_whole[chunk.path]) in zip(chunks, read, strict=True):
            parts[chunk.path].append(part)
            progress(done := done + chunk.end - chunk.start, total)
    for path in missing:
        end = states[path].size if is_whole[path] else 0
        facts[path] = KeptFacts(states[path], parts[path], end, checksum(path, end) if end else 0)
    return facts


@without_collections()
def _read_chunk(settings: MineSettings, chunk: _Chunk) -> tuple[Part, bool]:
    reader = Reader(settings, chunk.known)
    reader.read(lines_of(chunk.path, start=chunk.start, end=chunk.end))
    return reader.part(), reader.is_whole


def _chunks(path: Path, start: int, size: int, known: Part | None = None) -> Iterator[_Chunk]:
    """Chunks of about `_CHUNK_BYTES` that end behind a request."""
    with path.open("rb") as file:
        while start < size:
            file.seek(min(start + _CHUNK_BYTES, size))
            while (piece := file.readline(1 << 20)) and not piece.endswith(b"\n"):
                pass  # a line of any length takes no memory
            end = file.tell()
            while part_of(file.readline(1 << 20)):
                end = file.tell()
            end = min(end, size)
            yield _Chunk(path, start, end, known)
            start, known = end, None


def day_files(folder: Path) -> list[Path]:
    """Every ``*.jsonl`` file in the order of the names; folders are skipped, a pipe is an error."""
    if not folder.is_dir():
        raise WorkspaceError("no such folder; record requests, or name another with --in-dir", path=folder)
    paths = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and not path.is_dir())
    special = next((path for path in paths if path.exists() and not path.is_file()), None)
    if special is not None:  # reading a pipe would block forever
        raise WorkspaceError("is not a regular file; move it to another folder", path=special)
    return paths


def newest_day(files: Iterable[FileFacts]) -> date | None:
    """UTC day of the newest record, or None without records."""
    newest = max((day for file in files for day in file.days), default=None)
    return EPOCH_DAY + timedelta(days=newest) if newest is not None else None


@dataclass(frozen=True, slots=True)
class Mined:
    """The facts of a folder of records, and the verdicts with which its requests count.

    Attributes
    ----------
    files : sequence of FileFacts
        In the order of the file names.
    judgments : Judgments
        All verdicts of the project.
    """

    workspace: "Workspace"
    files: Sequence[FileFacts]
    judgments: HumanVerdicts = field(default_factory=HumanVerdicts)


def mine(workspace: "Workspace", options: MiningOptions = AGENT) -> Mined:
    """Read the facts of a project's records.

    Parameters
    ----------
    options : MiningOptions, optional
        Where and how to mine.

    Raises
    ------
    WorkspaceError
        The folder, a file in it or a file of verdicts cannot be read. No folder is created.
    """
    folder = options.in_dir or workspace.records_dir
    judgments = read_verdicts(workspace.judgments_dir)
    settings = MineSettings.of(
        workspace.settings,
        min_chunk_len=options.min_chunk_len,
        replayed=workspace.replayed(),
        verdicts=judgments.of_requests(),
        case_key=known_case_key(workspace.audit_dir),
        root=workspace.root,
    )
    cache = None if options.no_cache else workspace.facts_dir
    files = read_folder(folder, settings, options, cache=cache, executor=workspace.settings.executor)
    return Mined(workspace, files, judgments)
