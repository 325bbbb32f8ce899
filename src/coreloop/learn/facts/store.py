"""The facts of files on disk: a folder for each, written once and never changed.

Runs cannot disturb each other, and a crash never leaves half of a file's facts. When an input changes (the
file, categories, selectors, coreloop, polars), its facts are made again: at worst a day is read again.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
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
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read import Reading
from coreloop.learn.facts.schema import NAMES, Facts
from coreloop.learn.facts.source import LogSource
from coreloop.observe.reading.remote import Folder, LogFile

VERSION: Final = f"15, polars {pl.__version__}"
"""Increase the number when the facts of a line or the format of the tables change. Values are hashed by
polars, which hashes alike only within one of its versions."""
_FACTS: Final = "facts.json"
_SCRATCH: Final = ".making-"


class WrittenFile(msgspec.Struct, frozen=True):
    """Size in bytes, and a digest of the content."""

    size: int
    digest: str


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """``facts.json``.

    Attributes
    ----------
    file : str
        The log file.
    source : LogSource
        Its snapshot.
    rules : str
        Digest of the version and the settings of reading.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    files : dict of str to WrittenFile
        By table; facts with a truncated file are ignored.
    """

    file: str
    source: LogSource
    rules: str
    oddities: Oddities
    days: dict[int, int]
    files: dict[str, WrittenFile]


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The facts of a file in the store."""

    folder: Path
    facts: StoredFile

    @property
    def file(self) -> Path:
        return Path(self.facts.file)

    def tables(self) -> Facts:
        """Its tables, read on demand."""
        return read_stored(self.folder)


class FactsStore:
    """The facts that one folder holds when `open_store` opens it, for one value of the settings."""

    def __init__(self, folder: Path, reading: Reading, lock: Lock, *, check: bool) -> None:
        self.folder = folder
        self._lock = lock
        self._rules = _rules(reading)
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

    def add(self, path: LogFile, source: LogSource, written: Path, oddities: Oddities) -> StoredFacts:
        """Add tables that `write_facts` wrote below the store's folder; may raise `CacheWriteError`."""
        tables = read_stored(written)
        facts = StoredFile(
            file=_text(path),
            source=source,
            rules=self._rules,
            oddities=oddities,
            days=count_days(tables.requests),
            files={name: _written_file(_file(written, name)) for name in NAMES},
        )
        folder = self.folder / f"{encodable(path.stem[:40])}-{token_hex(8)}"
        with _write_errors(folder):
            with _create_private(written / _FACTS) as file:
                file.write(msgspec.json.encode(facts))
            written.rename(folder)
        self._used.add(folder)
        self._added.append(StoredFacts(folder, facts))
        return self._added[-1]

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
            is_replaced = cached.facts.rules == self._rules and cached.folder not in self._used
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


def read_stored(folder: Path) -> Facts:
    """The tables of a folder, read on demand."""
    return Facts(*(pl.scan_parquet(_file(folder, name)) for name in NAMES))


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
    files = {name: _file(folder, name) for name in NAMES}
    if any(path.stat().st_size != facts.files[name].size for name, path in files.items()):
        return False
    return not check or all(_written_file(path) == facts.files[name] for name, path in files.items())


def _written_file(path: Path) -> WrittenFile:
    content = path.read_bytes()
    return WrittenFile(len(content), blake2b(content, digest_size=16).hexdigest())


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _rules(reading: Reading) -> str:
    selectors = {tool: list(names) for tool, names in reading.selectors.items()}
    key = sha256(reading.case_key).hexdigest()
    rules = msgspec.json.encode([VERSION, selectors, reading.categories.rules, key], order="sorted")
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
