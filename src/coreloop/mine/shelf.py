"""Where rollups are kept: a folder each, written once and never changed, with the facts that it depends on.

So two runs cannot disturb each other, and a crash leaves a whole rollup or none. Whatever changes (the file,
the settings, a verdict, coreloop) makes another one: at worst a day is counted again.
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

from coreloop.errors import RollupWriteError, WorkspaceError
from coreloop.files import Lock, locked
from coreloop.leftovers import temporary_folder
from coreloop.mine.oddities import Oddities
from coreloop.mine.remote import Folder, LogFile
from coreloop.mine.rollup import MineSettings, count_days
from coreloop.mine.rows import id_hash
from coreloop.mine.source import LogSource
from coreloop.mine.tables import IDS, NAMES, Tables, side_by_side
from coreloop.records import encodable

VERSION: Final = 12
"""Of mining: what changes what is counted, or how it is written, needs the next one."""
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
        What it was like.
    rules : str
        Digest of the mining version and the settings.
    overlay : str
        Digest of the verdicts and replays that fall on requests of the file; empty without one.
    oddities : Oddities
        Lines that were not mined, and fields that were read as absent.
    days : dict of int to int
        Records by day (days since 1970).
    files : dict of str to WrittenFile
        Of each table: one that a crash of the machine cut off is no rollup.
    """

    file: str
    source: LogSource
    rules: str
    overlay: str
    oddities: Oddities
    days: dict[int, int]
    files: dict[str, WrittenFile]


@dataclass(frozen=True, slots=True)
class KeptRollup:
    """A rollup on the shelf."""

    folder: Path
    facts: RollupFacts

    @property
    def file(self) -> Path:
        return Path(self.facts.file)

    def tables(self) -> Tables:
        """Its tables, read when they are needed."""
        return read_tables(self.folder)


class Shelf:
    """The rollups in one folder, as `open_shelf` found them, for one value of the settings."""

    def __init__(self, folder: Path, settings: MineSettings, lock: Lock, *, check: bool) -> None:
        self.folder = folder
        self._lock = lock
        self._overlay = _Overlay(settings)
        self._rules = _rules(settings)
        self._all = [
            kept for path in sorted(folder.iterdir()) if (kept := _load(path, check=check)) is not None
        ]
        self._own = [kept for kept in self._all if kept.facts.rules == self._rules]
        self._used: set[Path] = set()
        self._listed: set[str] = set()
        self._made: list[KeptRollup] = []

    def find(self, sources: Mapping[LogFile, LogSource]) -> dict[LogFile, KeptRollup]:
        """The rollups of the files that are as they were."""
        self._listed = {_text(path) for path in sources}
        paths = {path.name: path for path in sources}
        same = [
            kept
            for kept in self._own
            if (path := paths.get(kept.file.name)) is not None and sources[path].is_same(kept.facts.source)
        ]
        found = {paths[kept.file.name]: kept for kept in self._still_valid(same)}
        self._used |= {kept.folder for kept in found.values()}
        return found

    def find_beginning(self, path: LogFile, source: LogSource) -> KeptRollup | None:
        """The rollup of the longest part that a file begins with; only what follows must be counted."""
        begun = [
            kept
            for kept in self._own
            if kept.file.name == path.name and source.begins_with(kept.facts.source, path)
        ]
        return max(self._still_valid(begun), key=lambda kept: kept.facts.source.size, default=None)

    def add(self, path: LogFile, source: LogSource, written: Path, oddities: Oddities) -> KeptRollup:
        """Take in tables that `write_tables` wrote below the shelf's folder; may raise `RollupWriteError`."""
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
        with _kept_or_not(folder):
            with _private(written / _FACTS) as file:
                file.write(msgspec.json.encode(facts))
            written.rename(folder)
        self._used.add(folder)
        self._made.append(KeptRollup(folder, facts))
        return self._made[-1]

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for tables on their way to the shelf; what is left in it goes."""
        with _kept_or_not(self.folder):
            made = TemporaryDirectory(prefix=_SCRATCH, dir=self.folder, ignore_cleanup_errors=True)
        with made as name:
            yield Path(name)

    def sweep(self, folder: Folder) -> None:
        """Remove what this run replaced for the files of ``folder``, and what killed runs left."""
        if not self._lock.make_exclusive():
            return
        for kept in [*self._all, *self._made]:
            is_here = kept.file.parent == Path(_text(folder))
            is_replaced = kept.facts.rules == self._rules and kept.folder not in self._used
            if is_here and (is_replaced or self._is_gone(kept, folder)):
                _remove(kept.folder)
        whole = {kept.folder for kept in self._all} | self._used
        damaged = {path.parent for path in self.folder.glob(f"*/{_FACTS}")} - whole
        for left in [*self.folder.glob(f"{_SCRATCH}*"), *damaged]:
            _remove(left)

    def _is_gone(self, kept: KeptRollup, folder: Folder) -> bool:
        return not kept.file.exists() if isinstance(folder, Path) else kept.facts.file not in self._listed

    def _still_valid(self, rollups: list[KeptRollup]) -> list[KeptRollup]:
        """Those on which the verdicts and replays of today fall as they did."""
        digests = self._overlay.digests([kept.tables().ids for kept in rollups])
        return [kept for kept, now in zip(rollups, digests, strict=True) if kept.facts.overlay == now]


class _Overlay:
    """Verdicts and replays, which fall on single requests of single files."""

    def __init__(self, settings: MineSettings) -> None:
        says = {**dict.fromkeys(settings.replayed, "replay"), **settings.verdicts}
        self._by_hash: dict[int, list[tuple[str, str]]] = {}
        for request_id, said in sorted(says.items()):
            self._by_hash.setdefault(id_hash(request_id), []).append((request_id, said))

    def digests(self, ids: list[pl.LazyFrame]) -> list[str]:
        """For each file's ids, a digest of what falls on them."""
        if not self._by_hash:
            return [""] * len(ids)
        numbered = (frame.with_columns(file=pl.lit(index)) for index, frame in enumerate(ids))
        every = side_by_side(numbered, {**IDS, "file": pl.Int32})
        hit = every.filter(pl.col("id").is_in(list(self._by_hash))).sort("file", "id").collect()
        falling: dict[int, list[tuple[str, str]]] = {}
        for number, index in hit.iter_rows():
            falling.setdefault(index, []).extend(self._by_hash[number])
        return [_digest(falling[index]) if index in falling else "" for index in range(len(ids))]


@contextmanager
def open_shelf(folder: Path | None, settings: MineSettings, *, check: bool = False) -> Iterator[Shelf]:
    """Use the rollups in a folder; without one, keep those of this run in a temporary folder.

    Parameters
    ----------
    folder : Path, optional
        Is made, for this user alone.
    settings : MineSettings
        What counts as what.
    check : bool
        Read every rollup whole, and take no damaged one.

    Raises
    ------
    RollupWriteError
        The folder cannot be made or written.
    """
    if folder is None:
        with temporary_folder("coreloop-rollups-") as made:
            yield Shelf(made, settings, Lock(None), check=check)
        return
    with ExitStack() as held:
        with _kept_or_not(folder):
            lock = held.enter_context(locked(folder, shared=True))
            shelf = Shelf(folder, settings, lock, check=check)
        yield shelf


def write_tables(tables: Tables, folder: Path) -> None:
    """Write each table as ``{name}.parquet``, for this user alone.

    Raises
    ------
    RollupWriteError
        The disk is full, or the folder cannot be written.
    """
    with _kept_or_not(folder):
        folder.mkdir(mode=0o700)
        for name in NAMES:
            with _private(_file(folder, name)) as file:
                _write(tables, name, file)


def pack_tables(tables: Tables) -> dict[str, bytes]:
    """Tables by name as the bytes that `write_tables` writes, for a worker that does not see the folder."""
    packed = {name: BytesIO() for name in NAMES}
    for name, file in packed.items():
        _write(tables, name, file)
    return {name: file.getvalue() for name, file in packed.items()}


def write_packed(packed: Mapping[str, bytes], folder: Path) -> None:
    """Write what `pack_tables` packed as `write_tables` would have; may raise `RollupWriteError`."""
    with _kept_or_not(folder):
        folder.mkdir(mode=0o700)
        for name in NAMES:
            with _private(_file(folder, name)) as file:
                file.write(packed[name])


def read_tables(folder: Path) -> Tables:
    """The tables of a folder, read when they are needed."""
    return Tables(*(pl.scan_parquet(_file(folder, name)) for name in NAMES))


def _write(tables: Tables, name: str, file: BinaryIO) -> None:
    frame: pl.DataFrame = getattr(tables, name).collect()
    frame.write_parquet(file, compression="lz4", row_group_size=_ROW_GROUP)


@contextmanager
def _kept_or_not(folder: Path) -> Iterator[None]:
    try:
        yield
    except WorkspaceError as error:
        raise RollupWriteError(str(error)) from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RollupWriteError(f"{folder}: cannot be written ({error})") from error


def _load(folder: Path, *, check: bool) -> KeptRollup | None:
    """A whole rollup; whatever else lies there is none."""
    try:
        facts = msgspec.json.decode((folder / _FACTS).read_bytes(), type=RollupFacts)
        return KeptRollup(folder, facts) if _is_whole(folder, facts, check=check) else None
    except (OSError, KeyError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_whole(folder: Path, facts: RollupFacts, *, check: bool) -> bool:
    """Whether each table has its size and, when that is to be checked, its content."""
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
    own = {tool: list(names) for tool, names in settings.selectors.items()}
    return _digest(
        [VERSION, settings.min_chunk_len, own, settings.categories.rules, sorted(settings.handoff)]
    )


def _digest(value: object) -> str:
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _remove(folder: Path) -> None:
    """Under a scratch name first, so that nobody takes half a rollup for a whole one."""
    with suppress(OSError):
        shutil.rmtree(folder.rename(folder.with_name(f"{_SCRATCH}{token_hex(8)}")), ignore_errors=True)


def _text(path: Folder | LogFile) -> str:
    if not isinstance(path, Path):
        return str(path)
    return os.fsencode(path.absolute()).decode("utf-8", "replace")
