"""The facts of files on disk: a folder for each state of a file, written once and never changed.

It has a segment for each part that was read: a folder with the tables. The state after an append links the
segments of the one before, so that only the new part is written. Runs cannot disturb each other, and a crash
never leaves half of a file's facts. When an input changes (the file, categories, selectors, coreloop,
polars), its facts are made again: at worst a day is read again.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, sha256
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import msgspec
import polars as pl

from coreloop.base.errors import CacheWriteError, WorkspaceError
from coreloop.base.files import Lock, locked
from coreloop.base.records import encodable
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.facts.counting import count_days
from coreloop.learn.facts.file_snapshot import LogSource
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import Reading
from coreloop.learn.facts.schema import NAMES, Facts, merge_facts
from coreloop.observe.reading.remote import Folder, LogFile

VERSION: Final = f"18, polars {pl.__version__}"
"""Increase the number when the facts of a line or the format of the tables change. Values are hashed by
polars, which hashes alike only within one of its versions."""
_FACTS: Final = "facts.json"
_SCRATCH: Final = ".making-"


class WrittenFile(msgspec.Struct, frozen=True):
    """Size in bytes, and a digest of the content."""

    size: int
    digest: str


class WrittenSegment(msgspec.Struct, frozen=True):
    """Bytes of the log that a segment has, and its files by table; facts with a cut file are ignored."""

    n_bytes: int
    files: dict[str, WrittenFile]


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """``facts.json``.

    Attributes
    ----------
    file : str
        The log file.
    source : LogSource
        Its snapshot.
    version, rules : str
        `VERSION` with a digest of the key of cases; a digest of these and the other settings of reading.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    segments : list of WrittenSegment
        In the order of the file.
    """

    file: str
    source: LogSource
    version: str
    rules: str
    oddities: Oddities
    days: dict[int, int]
    segments: list[WrittenSegment]


@dataclass(frozen=True, slots=True)
class Segment:
    """The folder of a segment, and the bytes of the log that it has."""

    folder: Path
    n_bytes: int


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The facts of a file in the store."""

    folder: Path
    facts: StoredFile

    @property
    def file(self) -> Path:
        return Path(self.facts.file)

    @property
    def segments(self) -> list[Segment]:
        """Its segments, in the order of the file."""
        return [
            Segment(_segment(self.folder, number), written.n_bytes)
            for number, written in enumerate(self.facts.segments)
        ]

    def tables(self) -> Facts:
        """Its tables, read on demand."""
        return read_segments(self.segments)


class FactsStore:
    """The facts that one folder holds when `open_store` opens it, for one value of the settings."""

    def __init__(self, folder: Path, reading: Reading, lock: Lock, *, check: bool) -> None:
        self.folder = folder
        self._lock = lock
        self._version = f"{VERSION}, {sha256(reading.case_key).hexdigest()[:16]}"
        self._rules = _rules(reading, self._version)
        self._all = [
            cached for path in sorted(folder.iterdir()) if (cached := _load(path, check=check)) is not None
        ]
        self._same_rules = [cached for cached in self._all if cached.facts.rules == self._rules]
        self._used: set[Path] = set()
        self._listed: set[str] = set()
        self._added: list[StoredFacts] = []

    def find(self, sources: Mapping[LogFile, LogSource]) -> dict[LogFile, StoredFacts]:
        """Find the facts of unchanged files."""
        self._listed = {_text(path) for path in sources}
        paths = {path.name: path for path in sources}
        unchanged = [
            cached
            for cached in self._same_rules
            if (path := paths.get(cached.file.name)) is not None
            and sources[path].is_same(cached.facts.source)
        ]
        by_path = {paths[cached.file.name]: cached for cached in unchanged}
        self._used |= {cached.folder for cached in by_path.values()}
        return by_path

    def find_beginning(self, path: LogFile, source: LogSource) -> StoredFacts | None:
        """Find the facts of the longest beginning of a file; only the bytes after it must be read."""
        beginnings = [
            cached
            for cached in self._same_rules
            if cached.file.name == path.name and source.begins_with(cached.facts.source, path)
        ]
        return max(beginnings, key=lambda cached: cached.facts.source.size, default=None)

    def add(
        self,
        path: LogFile,
        source: LogSource,
        segments: Sequence[Segment],
        oddities: Oddities,
        *,
        beginning: StoredFacts | None = None,
    ) -> StoredFacts:
        """Add the segments of a file.

        Parameters
        ----------
        path, source : Path or RemoteFile, LogSource
            The file and its snapshot.
        segments : sequence of Segment
            Written by `write_facts` below the store's folder.
        oddities : Oddities
            Of the whole file.
        beginning : StoredFacts, optional
            Facts of the bytes before these segments.

        Raises
        ------
        CacheWriteError
            The disk is full, or the folder cannot be written.
        """
        days = Counter(beginning.facts.days if beginning else {})
        days.update(count_days(read_segments(segments).requests))
        before = beginning.facts.segments if beginning else []
        added = [WrittenSegment(segment.n_bytes, _written(segment.folder)) for segment in segments]
        facts = StoredFile(
            file=_text(path),
            source=source,
            version=self._version,
            rules=self._rules,
            oddities=oddities,
            days=dict(sorted(days.items())),
            segments=[*before, *added],
        )
        folder = self.folder / f"{encodable(path.stem[:40])}-{token_hex(8)}"
        with self.scratch() as scratch, _write_errors(folder):
            for number, segment in enumerate([*(beginning.segments if beginning else ()), *segments]):
                _link(segment.folder, _segment(scratch / "facts", number))
            with _create_private(scratch / "facts" / _FACTS) as file:
                file.write(msgspec.json.encode(facts))
            (scratch / "facts").rename(folder)
        self._used.add(folder)
        self._added.append(StoredFacts(folder, facts))
        return self._added[-1]

    def merge(self, path: LogFile, cached: StoredFacts, *, segment_bytes: int) -> StoredFacts:
        """Merge small segments to segments of up to ``segment_bytes`` of the log, if there are any."""
        groups = _grouped(cached.segments, segment_bytes)
        if len(groups) == len(cached.segments):
            return cached
        with self.scratch() as scratch:
            merged = [
                group[0] if len(group) == 1 else _merged(group, scratch / f"{number}")
                for number, group in enumerate(groups)
            ]
            facts = cached.facts
            self._used.discard(cached.folder)
            return self.add(path, facts.source, merged, facts.oddities)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder for tables that are not in the store yet."""
        with _write_errors(self.folder):
            temporary = TemporaryDirectory(prefix=_SCRATCH, dir=self.folder, ignore_cleanup_errors=True)
        with temporary as name:
            yield Path(name)

    def sweep(self, folder: Folder) -> None:
        """Remove the facts of files in ``folder`` that this run replaced, and what killed runs left."""
        if not self._lock.make_exclusive():
            return
        for cached in [*self._all, *self._added]:
            is_in_folder = cached.file.parent == Path(_text(folder))
            is_ours = cached.facts.rules == self._rules or cached.facts.version != self._version
            is_replaced = is_ours and cached.folder not in self._used
            if is_in_folder and (is_replaced or self._is_gone(cached, folder)):
                _remove(cached.folder)
        complete = {cached.folder for cached in self._all} | self._used
        damaged = {path.parent for path in self.folder.glob(f"*/{_FACTS}")} - complete
        for leftover in [*self.folder.glob(f"{_SCRATCH}*"), *damaged]:
            _remove(leftover)

    def _is_gone(self, cached: StoredFacts, folder: Folder) -> bool:
        return not cached.file.exists() if isinstance(folder, Path) else cached.facts.file not in self._listed


@contextmanager
def open_store(folder: Path | None, reading: Reading, *, check: bool = False) -> Iterator[FactsStore]:
    """Open the store in a folder; without a folder, in a temporary folder for this run.

    Parameters
    ----------
    folder : Path, optional
        Created for this user alone if it does not exist.
    reading : Reading
        Decides what the facts of a line are.
    check : bool
        Read all facts completely, and skip damaged ones.

    Raises
    ------
    CacheWriteError
        The folder cannot be created or written.
    """
    if folder is None:
        with temporary_folder("coreloop-facts-") as temporary:
            yield FactsStore(temporary, reading, Lock(None), check=check)
        return
    with ExitStack() as stack:
        with _write_errors(folder):
            lock = stack.enter_context(locked(folder, shared=True))
            store = FactsStore(folder, reading, lock, check=check)
        yield store


def write_facts(tables: Facts, folder: Path) -> None:
    """Write each table as ``{name}.parquet``, for this user alone.

    Raises
    ------
    CacheWriteError
        The disk is full, or the folder cannot be written.
    """
    with _write_errors(folder):
        folder.mkdir(mode=0o700)
        for name in NAMES:
            with _create_private(_file(folder, name)) as file:
                _write(tables, name, file)


def pack_facts(tables: Facts) -> dict[str, bytes]:
    """The bytes that `write_facts` would write, by table, for a worker that cannot reach the folder."""
    packed = {name: BytesIO() for name in NAMES}
    for name, file in packed.items():
        _write(tables, name, file)
    return {name: file.getvalue() for name, file in packed.items()}


def write_packed(packed: Mapping[str, bytes], folder: Path) -> None:
    """Write the result of `pack_facts` as `write_facts` would; may raise `CacheWriteError`."""
    with _write_errors(folder):
        folder.mkdir(mode=0o700)
        for name in NAMES:
            with _create_private(_file(folder, name)) as file:
                file.write(packed[name])


def read_segments(segments: Sequence[Segment]) -> Facts:
    """The tables of segments, read on demand."""
    parts = [Facts(*(pl.scan_parquet(_file(segment.folder, name)) for name in NAMES)) for segment in segments]
    return parts[0] if len(parts) == 1 else merge_facts(parts)


def _grouped(segments: Sequence[Segment], limit: int) -> list[list[Segment]]:
    """Neighbouring segments that have at most ``limit`` bytes together."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        if groups and size + segment.n_bytes <= limit:
            groups[-1].append(segment)
            size += segment.n_bytes
        else:
            groups.append([segment])
            size = segment.n_bytes
    return groups


def _merged(segments: Sequence[Segment], folder: Path) -> Segment:
    write_facts(read_segments(segments), folder)
    return Segment(folder, sum(segment.n_bytes for segment in segments))


def _link(segment: Path, folder: Path) -> None:
    """Link the files of a segment, or copy them where the disk knows no links."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700)
    for name in NAMES:
        try:
            os.link(_file(segment, name), _file(folder, name))
        except OSError:
            with _create_private(_file(folder, name)) as file:
                file.write(_file(segment, name).read_bytes())


def _write(tables: Facts, name: str, file: BinaryIO) -> None:
    frame: pl.DataFrame = getattr(tables, name).collect()
    frame.write_parquet(file, compression="zstd")


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except WorkspaceError as error:
        raise CacheWriteError(str(error)) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise CacheWriteError(f"{folder}: cannot be written ({error})") from error


def _load(folder: Path, *, check: bool) -> StoredFacts | None:
    """Load a file's facts, or None if the folder holds no complete ones."""
    try:
        facts = msgspec.json.decode((folder / _FACTS).read_bytes(), type=StoredFile)
        return StoredFacts(folder, facts) if _is_complete(folder, facts, check=check) else None
    except (OSError, KeyError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_complete(folder: Path, facts: StoredFile, *, check: bool) -> bool:
    """Whether each table has the recorded size and, with ``check``, the recorded content."""
    written = {
        _file(_segment(folder, number), name): segment.files[name]
        for number, segment in enumerate(facts.segments)
        for name in NAMES
    }
    if any(path.stat().st_size != file.size for path, file in written.items()):
        return False
    return not check or all(_written_file(path) == file for path, file in written.items())


def _written(segment: Path) -> dict[str, WrittenFile]:
    return {name: _written_file(_file(segment, name)) for name in NAMES}


def _written_file(path: Path) -> WrittenFile:
    content = path.read_bytes()
    return WrittenFile(len(content), blake2b(content, digest_size=16).hexdigest())


def _segment(folder: Path, number: int) -> Path:
    return folder / f"{number}"


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _rules(reading: Reading, version: str) -> str:
    selectors = {tool: list(names) for tool, names in reading.selectors.items()}
    rules = msgspec.json.encode([version, selectors, reading.categories.rules], order="sorted")
    return sha256(rules).hexdigest()[:32]


def _create_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _remove(folder: Path) -> None:
    """Rename the folder to a scratch name first, so that no other run loads half of them."""
    with suppress(OSError):
        shutil.rmtree(folder.rename(folder.with_name(f"{_SCRATCH}{token_hex(8)}")), ignore_errors=True)


def _text(path: Folder | LogFile) -> str:
    if not isinstance(path, Path):
        return str(path)
    return os.fsencode(path.absolute()).decode("utf-8", "replace")
