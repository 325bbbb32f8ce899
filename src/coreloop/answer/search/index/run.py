"""The use case behind ``dartlab-coreloop index``: one walk over the files, compared with the index."""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.kinds import extractor_of
from coreloop.answer.search.index.store import (
    FileState,
    KnownFile,
    UnreadFile,
    known_files,
    place_document,
    put_document,
    put_unread,
    reading,
    remove_document,
    unread_files,
    writing,
)
from coreloop.answer.search.index.tree import MAX_FILE_BYTES, FoundFile, SkippedFile, find_files, location_of
from coreloop.base import sqlite
from coreloop.base.errors import GitError, WorkspaceError
from coreloop.base.files import locked, open_regular
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace

_MOST_COMMITS: Final = 1_000
"""Commits that are looked through for files without a date of their own: 20 to 60 ms."""
_UNSETTLED_NS: Final = 2_000_000_000
"""A file that changed so shortly before it was read may have changed again in the same tick of its clock."""
_BATCH_BYTES: Final = 8_000_000
"""Of files that become one transaction."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update did.

    Attributes
    ----------
    counts : Counter of str
        Documents that were ``added``, ``changed``, ``moved``, ``removed`` and ``unchanged``.
    skipped : Counter of str
        Files that were not indexed, by reason.
    first_skipped : dict of str
        The first location of each reason.
    """

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    first_skipped: dict[str, str] = field(default_factory=dict)

    def skip(self, location: str, reason: str) -> None:
        """Count a file that is not indexed."""
        self.skipped[reason] += 1
        self.first_skipped.setdefault(reason, location)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingFile:
    """A file that the index lacks.

    Attributes
    ----------
    location : str
        See `coreloop.answer.search.source.Source`.
    reason : str
        ``new``, or ``changed`` or ``removed`` since it was indexed.
    version : str
        Of its content, as far as size and time tell.
    """

    location: str
    reason: Literal["new", "changed", "removed"]
    version: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The files that should be indexed.

    Attributes
    ----------
    fresh : int
        How many are, as they are.
    pending : tuple of PendingFile
        Those that are not.
    elsewhere : tuple of PendingFile
        Indexed files that changed or were removed, and are not among those that should be indexed.
    """

    fresh: int
    pending: tuple[PendingFile, ...]
    elsewhere: tuple[PendingFile, ...] = ()


@dataclass(slots=True)
class _Walk:
    """What a walk found, beside what the index knows; ``left`` are known files that it did not come by."""

    known: dict[str, KnownFile]
    fresh: int = 0
    todo: list[FoundFile] = field(default_factory=list)
    refused: list[SkippedFile] = field(default_factory=list)
    left: dict[str, KnownFile] = field(default_factory=dict)


def index_paths(workspace: Workspace, paths: Sequence[Path], *, now: datetime) -> IndexReport:
    """Bring a project's index up to date with the files at or below some paths.

    A second process waits until the first is done. A killed process leaves every document either old or new;
    the next run completes the work.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders, absolute; they may be outside of the project.

    Raises
    ------
    WorkspaceError
        A path does not exist, and no document came from it, or the index cannot be written.
    """
    root, file, report = workspace.root.resolve(), workspace.index_file, IndexReport()
    starts = [path.resolve() for path in paths]
    with locked(file.parent), writing(file) as connection:
        walk = _walk(workspace, connection, starts, is_settled=True)
        _require(starts, walk, root)
        _Update(workspace, connection, walk, report, now).run(starts)
        if report.counts["added"] or report.counts["changed"]:
            _date_by_git(connection, root)
    for schema in sorted(workspace.schemas):
        if not (root / schema).exists():
            report.skip(schema, "declared schema does not exist")
    return report


def read_coverage(workspace: Workspace, *, starts: Sequence[Path] | None = None) -> Coverage:
    """Compare files with the index, by size and time; files that have no text are left out.

    Parameters
    ----------
    starts : sequence of Path or None
        Files and folders that should be indexed; None for the setting ``search: paths``.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    places = [path.resolve() for path in (workspace.search_paths if starts is None else starts)]
    with reading(workspace.index_file) as connection:
        walk = _walk(workspace, connection, places, is_settled=False)
    pending = tuple(
        PendingFile(
            location=file.location,
            reason="changed" if file.location in walk.known else "new",
            version=f"{file.size_bytes}-{file.mtime_ns}",
        )
        for file in walk.todo
    )
    others = (_moved_on(workspace.root / path, file) for path, file in walk.left.items())
    return Coverage(walk.fresh, pending, tuple(file for file in others if file is not None))


def stale_files(workspace: Workspace, locations: Collection[str]) -> list[PendingFile]:
    """Return those of some files whose content is not the indexed one.

    Parameters
    ----------
    locations : collection of str
        Of passages that were found; what the index does not have is left out.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    with reading(workspace.index_file) as connection:
        known = known_files(connection, only=locations)
    compared = (_compared(workspace.root / location, known[location]) for location in sorted(known))
    return [file for file in compared if file is not None]


def _walk(
    workspace: Workspace, connection: sqlite3.Connection, starts: Sequence[Path], *, is_settled: bool
) -> _Walk:
    """Compare the files at or below some paths with the index, by size and time."""
    root = workspace.root.resolve()
    data_dir = (root / workspace.settings.data_dir).resolve()
    known, unread = known_files(connection), unread_files(connection)
    walk, seen = _Walk(known), set[str]()
    for start in starts:
        for file in find_files(start, root, data_dir=data_dir, schemas=workspace.schemas):
            if file.location in seen:
                continue
            seen.add(file.location)
            if isinstance(file, SkippedFile):
                walk.refused.append(file)
            elif _is_same(file, before := known.get(file.location), is_settled=is_settled):
                walk.fresh += 1
            elif before is None and _is_same(file, without := unread.get(file.location), is_settled=False):
                walk.refused.append(SkippedFile(file.location, without.reason if without else ""))
            else:
                walk.todo.append(file)
    walk.left = {path: file for path, file in known.items() if path not in seen}
    return walk


def _is_same(file: FoundFile, before: KnownFile | UnreadFile | None, *, is_settled: bool) -> bool:
    if before is None or (file.size_bytes, file.mtime_ns) != (before.size_bytes, before.mtime_ns):
        return False
    if not is_settled or isinstance(before, UnreadFile):
        return True
    indexed_ns = datetime.fromisoformat(before.indexed_at).timestamp() * 1e9
    return indexed_ns - file.mtime_ns > _UNSETTLED_NS


def _require(starts: Sequence[Path], walk: _Walk, root: Path) -> None:
    for start in starts:
        if not os.path.lexists(start) and not any(_is_below(path, start, root) for path in walk.known):
            raise WorkspaceError("does not exist", path=start)


@dataclass(frozen=True, slots=True)
class _Update:
    """Writes what a walk found into the index."""

    workspace: Workspace
    connection: sqlite3.Connection
    walk: _Walk
    report: IndexReport
    now: datetime

    def run(self, starts: Sequence[Path]) -> None:
        root = self.workspace.root.resolve()
        gone = {path: file for path, file in self.walk.left.items() if _is_gone(root / path)}
        if self.walk.fresh:
            self.report.counts["unchanged"] = self.walk.fresh
        for batch in _batches(self.walk.todo):
            with sqlite.transaction(self.connection):
                for found in batch:
                    self._put(found, gone)
        with sqlite.transaction(self.connection):
            for refused in self.walk.refused:
                self._refuse(refused.location, refused.reason)
            for path, file in gone.items():
                if any(_is_below(path, start, root) for start in starts):
                    self._remove(file)

    def _put(self, found: FoundFile, gone: dict[str, KnownFile]) -> None:
        known = self.walk.known.get(found.location)
        try:
            with open_regular(Path(found.path)) as opened:
                data = opened.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            self._refuse(found.location, f"cannot be read ({error.strerror})")
            return
        extract = extractor_of(found.location, self.workspace.schemas)
        state = FileState(found.location, hashlib.sha256(data).hexdigest(), found.size_bytes, found.mtime_ns)
        moved = None if known else next((file for file in gone.values() if self._is_moved(file, state)), None)
        if known and known.hash == state.hash:
            self._place("unchanged", state, known)
        elif moved:
            del gone[moved.path]
            self._place("moved", state, moved)
        elif extract:
            self._write(state, extract(data), known)

    def _write(self, state: FileState, document: Document | Unreadable, known: KnownFile | None) -> None:
        if isinstance(document, Unreadable):
            self._refuse(state.path, document.reason)
            unread = UnreadFile(state.path, state.size_bytes, state.mtime_ns, document.reason)
            put_unread(self.connection, unread)
            return
        self.report.counts["changed" if known else "added"] += 1
        key = known.id if known else None
        put_document(self.connection, state, document, known_id=key, now=self.now)

    def _is_moved(self, file: KnownFile, state: FileState) -> bool:
        """Whether the content of a file that is gone stands elsewhere, read in the same way."""
        schemas = self.workspace.schemas
        is_same_kind = extractor_of(file.path, schemas) is extractor_of(state.path, schemas)
        return file.hash == state.hash and is_same_kind

    def _place(self, kind: str, state: FileState, known: KnownFile) -> None:
        self.report.counts[kind] += 1
        place_document(self.connection, state, known_id=known.id, now=self.now)

    def _refuse(self, location: str, reason: str) -> None:
        self.report.skip(location, reason)
        if location in self.walk.known:
            self._remove(self.walk.known[location])

    def _remove(self, known: KnownFile) -> None:
        self.report.counts["removed"] += 1
        remove_document(self.connection, known.id)


def _batches(files: Sequence[FoundFile]) -> Iterator[list[FoundFile]]:
    batch: list[FoundFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size_bytes
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _date_by_git(connection: sqlite3.Connection, root: Path) -> None:
    """Date documents that say no date themselves by the newest commit that changed them."""
    undated = dict(connection.execute("SELECT path, id FROM documents WHERE published = ''").fetchall())
    if not undated:
        return
    try:
        with Repository(root) as repository:
            days = repository.commit_days(most=_MOST_COMMITS)
            prefix = root.relative_to(repository.root.resolve()).as_posix()
    except (GitError, ValueError):  # no repository
        return
    start = "" if prefix == "." else f"{prefix}/"
    known = {key: days.get(f"{start}{path}") for path, key in undated.items()}
    dated = [(day.isoformat(), key) for key, day in known.items() if day]
    with sqlite.transaction(connection):
        connection.executemany("UPDATE documents SET published = ? WHERE id = ?", dated)


def _is_gone(path: Path) -> bool:
    """Whether there is no such file; a folder that cannot be read just now keeps its documents."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_below(location: str, start: Path, root: Path) -> bool:
    place = location_of(start, root)
    return place in {".", location} or location.startswith(f"{place.rstrip('/')}/")


def _moved_on(path: Path, known: KnownFile) -> PendingFile | None:
    """Compare a file by size and time alone."""
    try:
        state = path.stat()
    except OSError:
        return PendingFile(location=known.path, reason="removed", version=f"removed-{known.hash}")
    if (state.st_size, state.st_mtime_ns) == (known.size_bytes, known.mtime_ns):
        return None
    return PendingFile(location=known.path, reason="changed", version=f"{state.st_size}-{state.st_mtime_ns}")


def _compared(path: Path, known: KnownFile) -> PendingFile | None:
    file = _moved_on(path, known)
    if file is None or file.reason == "removed":
        return file
    with suppress(OSError), open_regular(path) as opened:
        if hashlib.sha256(opened.read(MAX_FILE_BYTES + 1)).hexdigest() == known.hash:
            return None
    return file
