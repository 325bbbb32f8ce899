"""Bringing the index up to date with files: what is new, changed, moved or gone, in short transactions."""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from coreloop import sqlite
from coreloop.errors import WorkspaceError
from coreloop.files import open_regular
from coreloop.search.extract.document import Document, Unreadable
from coreloop.search.extract.kinds import extractor_of
from coreloop.search.index.store import (
    FileState,
    KnownFile,
    known_files,
    place_document,
    put_document,
    remove_document,
)
from coreloop.search.index.tree import MAX_FILE_BYTES, FoundFile, SkippedFile, find_files, location_of

_BATCH_CHARS: Final = 8_000_000
_UNSETTLED_NS: Final = 2_000_000_000
"""A file that changed so shortly before it was read may have changed again in the same tick of its clock."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one document.

    Attributes
    ----------
    kind : {"added", "changed", "moved", "removed", "unchanged"}
        ``unchanged`` if only the file's time is another one.
    known_id : int or None
        None if it is added.
    file : FileState or None
        None if it is removed.
    document : Document or None
        Its text, if that is new.
    """

    kind: Literal["added", "changed", "moved", "removed", "unchanged"]
    known_id: int | None
    file: FileState | None
    document: Document | None = None


@dataclass(slots=True)
class IndexReport:
    """Counts of documents, and of skipped files by reason with the first location of each."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    first_skipped: dict[str, str] = field(default_factory=dict)

    def skip(self, file: SkippedFile) -> None:
        """Count a file that is not indexed."""
        self.skipped[file.reason] += 1
        self.first_skipped.setdefault(file.reason, file.location)


def update_index(
    connection: sqlite3.Connection, starts: Sequence[Path], *, root: Path, data_dir: Path, now: datetime
) -> IndexReport:
    """Index the files at or below some paths; documents elsewhere stay as they are.

    A killed process leaves every document either old or new. The next run completes the work.

    Parameters
    ----------
    connection : sqlite3.Connection
        Open for writing; no other process updates the index.
    starts : sequence of Path
        Absolute and resolved.
    root, data_dir : Path
        The project and its data folder, which is ignored unless a start is in it.
    now : datetime
        With a time zone.

    Raises
    ------
    WorkspaceError
        A start does not exist, and no document came from it.
    """
    report = IndexReport()
    changes = _Changes(known_files(connection), root, data_dir, report)
    for batch in _batches(changes.below(starts)):
        with sqlite.transaction(connection):
            for change in batch:
                _apply(connection, change, now)
        report.counts.update(change.kind for change in batch)
    return report


def _apply(connection: sqlite3.Connection, change: Change, now: datetime) -> None:
    if change.file is None:
        assert change.known_id is not None
        remove_document(connection, change.known_id)
    elif change.document is not None:
        put_document(connection, change.file, change.document, known_id=change.known_id, now=now)
    else:
        assert change.known_id is not None
        place_document(connection, change.known_id, change.file, now=now)


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += len(change.document.text) if change.document else 1_000
        if size > _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Changes:
    """Compares files with documents; reads a file only if its size or time is another one."""

    def __init__(self, known: dict[str, KnownFile], root: Path, data_dir: Path, report: IndexReport) -> None:
        self._known = known
        self._root = root
        self._data_dir = data_dir
        self._report = report
        self._by_hash: dict[str, list[KnownFile]] = {}
        for file in known.values():
            self._by_hash.setdefault(file.hash, []).append(file)
        self._seen: set[str] = set()

    def below(self, starts: Sequence[Path]) -> Iterator[Change]:
        for start in starts:
            self._require(start)
            for file in find_files(start, self._root, data_dir=self._data_dir):
                if file.location in self._seen:
                    continue
                change = self._refused(file) if isinstance(file, SkippedFile) else self._compared(file)
                if change is not None:
                    yield change
        yield from self._gone(starts)

    def _require(self, start: Path) -> None:
        if not os.path.lexists(start) and not any(_is_below(path, start, self._root) for path in self._known):
            raise WorkspaceError("does not exist", path=start)

    def _refused(self, file: SkippedFile) -> Change | None:
        """Count a file without text; what is known of it goes."""
        self._report.skip(file)
        known = self._known.get(file.location)
        self._seen.add(file.location)
        return Change("removed", known.id, None) if known else None

    def _compared(self, file: FoundFile) -> Change | None:
        self._seen.add(file.location)
        known = self._known.get(file.location)
        if known and _is_untouched(file, known):
            self._report.counts["unchanged"] += 1
            return None
        try:
            with open_regular(Path(file.path)) as opened:
                data = opened.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            return self._refused(SkippedFile(file.location, f"cannot be read ({error.strerror})"))
        return self._read(file, known, data)

    def _read(self, file: FoundFile, known: KnownFile | None, data: bytes) -> Change | None:
        digest = hashlib.sha256(data).hexdigest()
        state = FileState(path=file.location, hash=digest, size_bytes=file.size_bytes, mtime_ns=file.mtime_ns)
        if known and known.hash == digest:
            return Change("unchanged", known.id, state)
        moved = None if known else self._moved_from(file, digest)
        if moved:
            self._seen.add(moved.path)
            return Change("moved", moved.id, state)
        extract = extractor_of(file.path)
        assert extract is not None
        document = extract(data)
        if isinstance(document, Unreadable):
            return self._refused(SkippedFile(file.location, document.reason))
        return Change("changed" if known else "added", known.id if known else None, state, document)

    def _moved_from(self, file: FoundFile, digest: str) -> KnownFile | None:
        """Return the document with the same content whose file is gone, if it was of the same kind."""
        for known in self._by_hash.get(digest, ()):
            path = self._root / known.path
            same_kind = extractor_of(known.path) is extractor_of(file.path)
            if same_kind and known.path not in self._seen and not os.path.lexists(path):
                return known
        return None

    def _gone(self, starts: Sequence[Path]) -> Iterator[Change]:
        for path in self._known.keys() - self._seen:
            is_below = any(_is_below(path, start, self._root) for start in starts)
            if is_below and not os.path.lexists(self._root / path):
                yield Change("removed", self._known[path].id, None)


def _is_below(location: str, start: Path, root: Path) -> bool:
    place = location_of(start, root)
    return place in {".", location} or location.startswith(f"{place.rstrip('/')}/")


def _is_untouched(file: FoundFile, known: KnownFile) -> bool:
    if (file.size_bytes, file.mtime_ns) != (known.size_bytes, known.mtime_ns):
        return False
    indexed_ns = datetime.fromisoformat(known.indexed_at).timestamp() * 1e9
    return indexed_ns - file.mtime_ns > _UNSETTLED_NS
