"""The cache of rollups: a folder for each, written once and never changed, with the facts it depends on.

Runs cannot disturb each other, and a crash never leaves half a rollup. When an input changes (the file, the
settings, a verdict, coreloop), a new rollup is made: at worst a day is counted again.
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
from coreloop.learn.mine.oddities import Oddities
from coreloop.learn.mine.rollup import MineSettings, count_days
from coreloop.learn.mine.rows import id_hash
from coreloop.learn.mine.source import LogSource
from coreloop.learn.mine.tables import IDS, NAMES, Tables, concatenate
from coreloop.observe.reading.remote import Folder, LogFile

VERSION: Final = 13
"""Version of mining: increase it when the counts or the format of the tables change."""
_FACTS: Final = "rollup.json"
_SCRATCH: Final = ".making-"
_ROW_GROUP: Final = 8192


class WrittenFile(msgspec.Struct, frozen=True):
    """Size in bytes, and a digest of the content."""

    size: int
    digest: str


class RollupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """``rollup.json``.

    Attributes
    ----------
    file : str
        The log file.
    source : LogSource
        Its snapshot.
    rules : str
        Digest of the mining version and the settings.
    overlay : str
        Digest of the verdicts and replays that concern requests of the file; empty if there are no such
        verdicts and replays.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    files : dict of str to WrittenFile
        By table; a rollup with a truncated file is ignored.
    """

    file: str
    source: LogSource
    rules: str
    overlay: str
    oddities: Oddities
    days: dict[int, int]
    files: dict[str, WrittenFile]


@dataclass(frozen=True, slots=True)
class CachedRollup:
    """A rollup in the cache."""

    folder: Path
    facts: RollupFacts

    @property
    def file(self) -> Path:
        return Path(self.facts.file)

    def tables(self) -> Tables:
        """Its tables, read on demand."""
        return read_tables(self.folder)


class RollupCache:
    """The rollups that one folder holds when `open_cache` opens it, for one value of the settings."""

    def __init__(self, folder: Path, settings: MineSettings, lock: Lock, *, check: bool) -> None:
        self.folder = folder
        self._lock = lock
        self._overlay = _Overlay(settings)
        self._rules = _rules(settings)
        self._all = [
            cached for path in sorted(folder.iterdir()) if (cached := _load(path, check=check)) is not None
        ]
        self._same_rules = [cached for cached in self._all if cached.facts.rules == self._rules]
        self._used: set[Path] = set()
        self._listed: set[str] = set()
        self._added: list[CachedRollup] = []

    def find(self, sources: Mapping[LogFile, LogSource]) -> dict[LogFile, CachedRollup]:
        """Find the rollups of unchanged files."""
        self._listed = {_text(path) for path in sources}
        paths = {path.name: path for path in sources}
        unchanged = [
            cached
            for cached in self._same_rules
            if (path := paths.get(cached.file.name)) is not None
            and sources[path].is_same(cached.facts.source)
        ]
        by_path = {paths[cached.file.name]: cached for cached in self._still_valid(unchanged)}
        self._used |= {cached.folder for cached in by_path.values()}
        return by_path

    def find_beginning(self, path: LogFile, source: LogSource) -> CachedRollup | None:
        """Find the rollup of the longest beginning of a file; only the bytes after it must be counted."""
        beginnings = [
            cached
            for cached in self._same_rules
            if cached.file.name == path.name and source.begins_with(cached.facts.source, path)
        ]
        return max(self._still_valid(beginnings), key=lambda cached: cached.facts.source.size, default=None)

    def add(self, path: LogFile, source: LogSource, written: Path, oddities: Oddities) -> CachedRollup:
        """Add tables that `write_tables` wrote below the cache's folder; may raise `CacheWriteError`."""
        tables = read_tables(written)
        facts = RollupFacts(
            file=_text(path),
            source=source,
            rules=self._rules,
            overlay=self._overlay.digests([tables.ids])[0],
            oddities=oddities,
            days=count_days(tables),
            files={name: _written_file(_file(written, name)) for name in NAMES},
        )
        folder = self.folder / f"{encodable(path.stem[:40])}-{token_hex(8)}"
        with _write_errors(folder):
            with _create_private(written / _FACTS) as file:
                file.write(msgspec.json.encode(facts))
            written.rename(folder)
        self._used.add(folder)
        self._added.append(CachedRollup(folder, facts))
        return self._added[-1]

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder for tables that are not in the cache yet."""
        with _write_errors(self.folder):
            temporary = TemporaryDirectory(prefix=_SCRATCH, dir=self.folder, ignore_cleanup_errors=True)
        with temporary as name:
            yield Path(name)

    def sweep(self, folder: Folder) -> None:
        """Remove the rollups of files in ``folder`` that this run replaced, and what killed runs left."""
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

    def _is_gone(self, cached: CachedRollup, folder: Folder) -> bool:
        return not cached.file.exists() if isinstance(folder, Path) else cached.facts.file not in self._listed

    def _still_valid(self, rollups: list[CachedRollup]) -> list[CachedRollup]:
        """The rollups whose requests have the same verdicts and replays as when they were counted."""
        digests = self._overlay.digests([cached.tables().ids for cached in rollups])
        return [cached for cached, now in zip(rollups, digests, strict=True) if cached.facts.overlay == now]


class _Overlay:
    """Verdicts and replays, each of which concerns a single request."""

    def __init__(self, settings: MineSettings) -> None:
        marks = {**dict.fromkeys(settings.replayed, "replay"), **settings.verdicts}
        self._by_hash: dict[int, list[tuple[str, str]]] = {}
        for request_id, mark in sorted(marks.items()):
            self._by_hash.setdefault(id_hash(request_id), []).append((request_id, mark))

    def digests(self, ids: list[pl.LazyFrame]) -> list[str]:
        """For each file's ids, a digest of the verdicts and replays that concern them."""
        if not self._by_hash:
            return [""] * len(ids)
        numbered = (frame.with_columns(file=pl.lit(index)) for index, frame in enumerate(ids))
        all_ids = concatenate(numbered, {**IDS, "file": pl.Int32})
        marked = all_ids.filter(pl.col("id").is_in(list(self._by_hash))).sort("file", "id").collect()
        by_file: dict[int, list[tuple[str, str]]] = {}
        for number, index in marked.iter_rows():
            by_file.setdefault(index, []).extend(self._by_hash[number])
        return [_digest(by_file[index]) if index in by_file else "" for index in range(len(ids))]


@contextmanager
def open_cache(folder: Path | None, settings: MineSettings, *, check: bool = False) -> Iterator[RollupCache]:
    """Open the cache in a folder; without a folder, in a temporary folder for this run.

    Parameters
    ----------
    folder : Path, optional
        Created for this user alone if it does not exist.
    settings : MineSettings
        Decides how records count.
    check : bool
        Read every rollup completely, and skip damaged rollups.

    Raises
    ------
    CacheWriteError
        The folder cannot be created or written.
    """
    if folder is None:
        with temporary_folder("coreloop-rollups-") as temporary:
            yield RollupCache(temporary, settings, Lock(None), check=check)
        return
    with ExitStack() as stack:
        with _write_errors(folder):
            lock = stack.enter_context(locked(folder, shared=True))
            cache = RollupCache(folder, settings, lock, check=check)
        yield cache


def write_tables(tables: Tables, folder: Path) -> None:
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


def pack_tables(tables: Tables) -> dict[str, bytes]:
    """The bytes that `write_tables` would write, by table, for a worker that cannot reach the folder."""
    packed = {name: BytesIO() for name in NAMES}
    for name, file in packed.items():
        _write(tables, name, file)
    return {name: file.getvalue() for name, file in packed.items()}


def write_packed(packed: Mapping[str, bytes], folder: Path) -> None:
    """Write the result of `pack_tables` as `write_tables` would; may raise `CacheWriteError`."""
    with _write_errors(folder):
        folder.mkdir(mode=0o700)
        for name in NAMES:
            with _create_private(_file(folder, name)) as file:
                file.write(packed[name])


def read_tables(folder: Path) -> Tables:
    """The tables of a folder, read on demand."""
    return Tables(*(pl.scan_parquet(_file(folder, name)) for name in NAMES))


def _write(tables: Tables, name: str, file: BinaryIO) -> None:
    frame: pl.DataFrame = getattr(tables, name).collect()
    frame.write_parquet(file, compression="lz4", row_group_size=_ROW_GROUP)


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except WorkspaceError as error:
        raise CacheWriteError(str(error)) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise CacheWriteError(f"{folder}: cannot be written ({error})") from error


def _load(folder: Path, *, check: bool) -> CachedRollup | None:
    """Load a rollup, or None if the folder holds no complete rollup."""
    try:
        facts = msgspec.json.decode((folder / _FACTS).read_bytes(), type=RollupFacts)
        return CachedRollup(folder, facts) if _is_complete(folder, facts, check=check) else None
    except (OSError, KeyError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_complete(folder: Path, facts: RollupFacts, *, check: bool) -> bool:
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


def _rules(settings: MineSettings) -> str:
    selectors = {tool: list(names) for tool, names in settings.selectors.items()}
    return _digest(
        [VERSION, settings.min_chunk_len, selectors, settings.categories.rules, sorted(settings.handoff)]
    )


def _digest(value: object) -> str:
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def _create_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _remove(folder: Path) -> None:
    """Rename the folder to a scratch name first, so that no other run loads half a rollup."""
    with suppress(OSError):
        shutil.rmtree(folder.rename(folder.with_name(f"{_SCRATCH}{token_hex(8)}")), ignore_errors=True)


def _text(path: Folder | LogFile) -> str:
    if not isinstance(path, Path):
        return str(path)
    return os.fsencode(path.absolute()).decode("utf-8", "replace")
