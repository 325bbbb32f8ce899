"""Files that should be indexed and are not, or that changed since."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from coreloop.project.workspace import Workspace
from coreloop.search.index.store import known_files, reading
from coreloop.search.index.tree import FoundFile, find_files


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingFile:
    """A file that the index lacks.

    Attributes
    ----------
    location : str
        See `coreloop.search.source.Source`.
    reason : str
        ``new``, or ``changed`` since it was indexed.
    version : str
        Of its content, as far as size and time tell.
    """

    location: str
    reason: Literal["new", "changed"]
    version: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The files that should be indexed: how many are, and which are not."""

    fresh: int
    pending: tuple[PendingFile, ...]


def read_coverage(workspace: Workspace, *, now: datetime) -> Coverage:
    """Compare the files below the setting ``search: paths`` with the index, by size and time.

    Parameters
    ----------
    workspace : Workspace
        The project.
    now : datetime
        With a time zone; for an index of an older version.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    with reading(workspace.index_file, now=now) as connection:
        known = known_files(connection)
    fresh, pending = 0, {}
    for file in _files(workspace):
        before = known.get(file.location)
        if before and (before.size_bytes, before.mtime_ns) == (file.size_bytes, file.mtime_ns):
            fresh += 1
        else:
            pending[file.location] = PendingFile(
                location=file.location,
                reason="changed" if before else "new",
                version=f"{file.size_bytes}-{file.mtime_ns}",
            )
    return Coverage(fresh, tuple(pending.values()))


def _files(workspace: Workspace) -> Iterator[FoundFile]:
    root, settings = workspace.root.resolve(), workspace.settings
    data_dir = (root / settings.data_dir).resolve()
    for start in workspace.search_paths:
        for file in find_files(start.resolve(), root, data_dir=data_dir, schemas=frozenset(settings.schemas)):
            if isinstance(file, FoundFile):
                yield file
