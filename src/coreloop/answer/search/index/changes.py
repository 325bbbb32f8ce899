"""What changed between the index and the files: a file is read only if its size or time is another one."""

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.kinds import Extractor, extractor_of
from coreloop.answer.search.index.store import FileState, KnownFile, UnreadFile
from coreloop.answer.search.index.tree import MAX_FILE_BYTES, FoundFile, SkippedFile, find_files, location_of
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import open_regular

_UNSETTLED_NS: Final = 2_000_000_000
"""A file that changed so shortly before it was read may have changed again in the same tick of its clock."""


@dataclass(frozen=True, slots=True)
class Put:
    """A new text of a document; ``known_id`` is None if the document is new."""

    kind: Literal["added", "changed"]
    file: FileState
    document: Document
    known_id: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """The same text at another path, or with another time."""

    kind: Literal["moved", "unchanged"]
    file: FileState
    known_id: int


@dataclass(frozen=True, slots=True)
class Drop:
    """A document whose file is gone or has no text anymore."""

    known_id: int
    kind: Literal["removed"] = "removed"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file without text that can be indexed; it is not read again before it changes."""

    file: UnreadFile
    known_id: int | None
    kind: Literal["unread"] = "unread"


Change = Put | Place | Drop | Unread


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

    def skip(self, file: SkippedFile) -> None:
        """Count a file that is not indexed."""
        self.skipped[file.reason] += 1
        self.first_skipped.setdefault(file.reason, file.location)


class Comparison:
    """Compares files with documents.

    Parameters
    ----------
    known : mapping of str to KnownFile
        Every document, by path.
    root, data_dir : Path
        The project and its data folder, absolute and resolved.
    report : IndexReport
        Counts skipped files, and those that are unchanged without a change to store.
    schemas : collection of str
        Locations of declared schemas.
    unread : mapping of str to UnreadFile
        Files that had no text when they were last read, by path.
    """

    def __init__(
        self,
        known: Mapping[str, KnownFile],
        root: Path,
        data_dir: Path,
        report: IndexReport,
        schemas: Collection[str] = (),
        unread: Mapping[str, UnreadFile] | None = None,
    ) -> None:
        self._schemas = schemas
        self._known = known
        self._unread = unread or {}
        self._root = root
        self._data_dir = data_dir
        self._report = report
        self._seen: set[str] = set()
        self._by_hash: dict[str, list[KnownFile]] = {}
        for file in known.values():
            self._by_hash.setdefault(file.hash, []).append(file)

    def changes(self, starts: Sequence[Path]) -> Iterator[Change]:
        """Yield what to do so that the index has the files at or below some paths.

        Raises
        ------
        WorkspaceError
            A path does not exist, and no document came from it.
        """
        for start in starts:
            self._require(start)
            for file in find_files(start, self._root, data_dir=self._data_dir, schemas=self._schemas):
                if file.location not in self._seen:
                    self._seen.add(file.location)
                    yield from self._refused(file) if isinstance(file, SkippedFile) else self._compared(file)
        yield from self._gone(starts)

    def _require(self, start: Path) -> None:
        if not os.path.lexists(start) and not any(_is_below(path, start, self._root) for path in self._known):
            raise WorkspaceError("does not exist", path=start)

    def _refused(self, file: SkippedFile) -> Iterator[Change]:
        self._report.skip(file)
        known = self._known.get(file.location)
        if known:
            yield Drop(known.id)

    def _compared(self, file: FoundFile) -> Iterator[Change]:
        known = self._known.get(file.location)
        if known and _is_untouched(file, known):
            self._report.counts["unchanged"] += 1
            return
        unread = self._unread.get(file.location)
        if unread and (unread.size_bytes, unread.mtime_ns) == (file.size_bytes, file.mtime_ns):
            self._report.skip(SkippedFile(file.location, unread.reason))
            return
        try:
            with open_regular(Path(file.path)) as opened:
                data = opened.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            yield from self._refused(SkippedFile(file.location, f"cannot be read ({error.strerror})"))
            return
        yield from self._read(file, known, data)

    def _read(self, file: FoundFile, known: KnownFile | None, data: bytes) -> Iterator[Change]:
        extract = extractor_of(file.location, self._schemas)
        digest = hashlib.sha256(data).hexdigest()
        state = FileState(file.location, digest, file.size_bytes, file.mtime_ns)
        moved = None if known else self._moved_from(digest, extract)
        if known and known.hash == digest:
            yield Place("unchanged", state, known.id)
        elif moved:
            self._seen.add(moved.path)
            yield Place("moved", state, moved.id)
        elif extract:
            document = extract(data)
            if isinstance(document, Unreadable):
                self._report.skip(SkippedFile(file.location, document.reason))
                without_text = UnreadFile(file.location, file.size_bytes, file.mtime_ns, document.reason)
                yield Unread(without_text, known.id if known else None)
            else:
                yield Put("changed" if known else "added", state, document, known.id if known else None)

    def _moved_from(self, digest: str, extract: Extractor | None) -> KnownFile | None:
        """Return the document with the same content whose file is gone, if it was of the same kind."""
        for known in self._by_hash.get(digest, ()):
            is_same_kind = extractor_of(known.path, self._schemas) is extract
            if is_same_kind and known.path not in self._seen and _is_gone(self._root / known.path):
                return known
        return None

    def _gone(self, starts: Sequence[Path]) -> Iterator[Change]:
        for path in self._known.keys() - self._seen:
            is_below = any(_is_below(path, start, self._root) for start in starts)
            if is_below and _is_gone(self._root / path):
                yield Drop(self._known[path].id)


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


def _is_untouched(file: FoundFile, known: KnownFile) -> bool:
    if (file.size_bytes, file.mtime_ns) != (known.size_bytes, known.mtime_ns):
        return False
    indexed_ns = datetime.fromisoformat(known.indexed_at).timestamp() * 1e9
    return indexed_ns - file.mtime_ns > _UNSETTLED_NS
