"""The index brought up to date before a question; a great change is read beside it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from coreloop.answer.search.index.run import index_paths, read_coverage
from coreloop.answer.search.index.search_index import search_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.errors import WorkspaceError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace

MOST_BEFORE: Final = 500
"""Changed files that are read before the answer: about two seconds. More of them are read beside it."""
_reading: set[Path] = set()
"""Indexes that a thread of this process updates."""
_failed: set[Path] = set()
"""Those that such a thread could not write; the next question says so."""
_lock: Final = Lock()


@dataclass(frozen=True, slots=True)
class FoundFresh:
    """Passages, best first; ``note`` says which files they lack, else ""."""

    sources: tuple[Source, ...]
    note: str


def refresh_index(workspace: Workspace, *, now: datetime) -> str:
    """Read the files that are new or changed since the last time; one without an index reads them all.

    Parameters
    ----------
    workspace : Workspace
        The project, whose files below the setting ``search: paths`` should be indexed.

    Returns
    -------
    str
        One line if the answer will not have all files as they are now: so much changed that it is read
        beside the question, or the index cannot be written, for example on a full disk. Else "".

    Raises
    ------
    WorkspaceError
        The index cannot be read, or there is none and it cannot be written.
    """
    starts = [path for path in workspace.search_paths if os.path.lexists(path)]
    if not workspace.index_file.exists():
        index_paths(workspace, starts, now=now)
        return ""
    coverage = read_coverage(workspace)
    changed = [*coverage.pending, *coverage.elsewhere]
    if not changed:
        return ""
    starts += [workspace.root / file.location for file in coverage.elsewhere]
    if workspace.index_file in _failed:
        _failed.discard(workspace.index_file)
        return _unwritten(len(changed))
    if len(changed) <= MOST_BEFORE and workspace.index_file not in _reading:
        try:
            index_paths(workspace, starts, now=now)
        except WorkspaceError:
            return _unwritten(len(changed))
        return ""
    _read_beside(workspace, starts, now)
    files = number_of(len(changed), "changed file")
    return f"{files} are still being read; ask again for what they say"


def _unwritten(changed: int) -> str:
    """The line about an index that stays as it was; a stranger who asks a service learns no path by it."""
    files = number_of(changed, "changed file")
    return f"without {files}, since the index cannot be written; dartlab-coreloop index says why"


def search_files(workspace: Workspace, query: str, limits: SearchLimits, *, now: datetime) -> FoundFresh:
    """Return the passages that fit a query best, of the files as they are now.

    Raises
    ------
    WorkspaceError
        The index cannot be read or written.
    SearchTimeoutError
        The time is up.
    """
    note = refresh_index(workspace, now=now)
    return FoundFresh(tuple(search_index(workspace.index_file, query, limits)), note)


def _read_beside(workspace: Workspace, starts: Sequence[Path], now: datetime) -> None:
    """Update an index in a thread that the process waits for at its end; one at a time."""
    with _lock:
        if workspace.index_file in _reading:
            return
        _reading.add(workspace.index_file)

    def read() -> None:
        try:
            index_paths(workspace, starts, now=now)
        except WorkspaceError:
            _failed.add(workspace.index_file)
        finally:
            _reading.discard(workspace.index_file)

    Thread(target=read, name="index").start()
