"""Files that should be indexed and are not, or that changed since."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from coreloop.answer.search.index.store import KnownFile, known_files, reading, unread_files
from coreloop.answer.search.index.tree import MAX_FILE_BYTES, FoundFile, find_files
from coreloop.base.files import open_regular
from coreloop.base.project.workspace import Workspace


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
    with reading(workspace.index_file) as connection:
        known, unread = known_files(connection), unread_files(connection)
    fresh, pending, seen = 0, {}, set[str]()
    for file in _files(workspace, workspace.search_paths if starts is None else starts):
        seen.add(file.location)
        before = known.get(file.location) or unread.get(file.location)
        if before and (before.size_bytes, before.mtime_ns) == (file.size_bytes, file.mtime_ns):
            fresh += isinstance(before, KnownFile)
        else:
            pending[file.location] = PendingFile(
                location=file.location,
                reason="changed" if before else "new",
                version=f"{file.size_bytes}-{file.mtime_ns}",
            )
    others = (_moved_on(workspace.root / file.path, file) for file in known.values() if file.path not in seen)
    return Coverage(fresh, tuple(pending.values()), tuple(file for file in others if file is not None))


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
        if sha256(opened.read(MAX_FILE_BYTES + 1)).hexdigest() == known.hash:
            return None
    return file


def _files(workspace: Workspace, starts: Sequence[Path]) -> Iterator[FoundFile]:
    root, settings = workspace.root.resolve(), workspace.settings
    data_dir = (root / settings.data_dir).resolve()
    for start in starts:
        for file in find_files(start.resolve(), root, data_dir=data_dir, schemas=workspace.schemas):
            if isinstance(file, FoundFile):
                yield file
