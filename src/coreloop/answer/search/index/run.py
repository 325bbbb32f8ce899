"""The index and the files: brought up to date by ``dartlab-coreloop index``, and before each question."""

import os
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

from coreloop.answer.search.extract.document import Unreadable
from coreloop.answer.search.extract.kinds import read_document
from coreloop.answer.search.index.search_index import search_index
from coreloop.answer.search.index.store import known_files, put_document, reading, remove_document, writing
from coreloop.answer.search.index.tree import File, file_at, find_files, location_of
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base import sqlite
from coreloop.base.errors import GitError, WorkspaceError
from coreloop.base.files import locked
from coreloop.base.git.repository import Repository
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace

_MOST_COMMITS: Final = 1_000
"""Commits that are looked through for files without a date of their own: 20 to 60 ms."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update did.

    Attributes
    ----------
    counts : Counter of str
        Files that were ``added``, ``changed``, ``removed`` and ``unchanged``.
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


@dataclass(frozen=True, slots=True)
class Coverage:
    """The files that should be indexed.

    Attributes
    ----------
    fresh : int
        How many are, as they are.
    pending : tuple of File
        Those that are not, and indexed ones elsewhere that changed or were removed.
    """

    fresh: int
    pending: tuple[File, ...]


def search_files(
    workspace: Workspace, query: str, limits: SearchLimits, *, now: datetime
) -> tuple[list[Source], str]:
    """Return the passages that fit a query best, and how many changed files were not read, else "".

    Raises
    ------
    WorkspaceError
        The index cannot be read or written.
    SearchTimeoutError
        The time is up.
    """
    note = refresh_index(workspace, now=now)
    return search_index(workspace.index_file, query, limits), note


def refresh_index(workspace: Workspace, *, now: datetime) -> str:
    """Read the files that are new or changed since the last time; one without an index reads them all.

    Returns
    -------
    str
        One line if the index cannot be written, for example on a full disk, and lacks files. Else "".

    Raises
    ------
    WorkspaceError
        The index cannot be read, or there is none and it cannot be written.
    """
    root, has_index = workspace.root.resolve(), workspace.index_file.exists()
    pending = read_coverage(workspace).pending if has_index else ()
    if has_index and not pending:
        return ""
    starts = [path for path in workspace.search_paths if os.path.lexists(path)]
    try:
        index_paths(workspace, [*starts, *(root / file.location for file in pending)], now=now)
    except WorkspaceError:  # a stranger who asks a service learns no path by it
        if not has_index:
            raise
        files = number_of(len(pending), "changed file")
        return f"{files} not read yet: the index cannot be written; dartlab-coreloop index says why"
    return ""


def index_paths(workspace: Workspace, paths: Sequence[Path], *, now: datetime) -> IndexReport:
    """Bring a project's index up to date with the files at or below some paths.

    A second process waits until the first is done. A killed process leaves every file either old or new;
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
    root, index, report = workspace.root.resolve(), workspace.index_file, IndexReport()
    starts = [path.resolve() for path in paths]
    with locked(index.parent), writing(index) as connection:
        known = known_files(connection)
        for start in starts:
            if not os.path.lexists(start) and not any(
                location_of(start, root) in _above(one) for one in known
            ):
                raise WorkspaceError("does not exist", path=start)
        found = _found(workspace, starts)
        for file in found.values():
            _update(workspace, connection, file, known.get(file.location), report, now)
        named = {location_of(start, root) for start in starts}
        for location in sorted(known.keys() - found.keys()):
            if named & _above(location) and not os.path.lexists(root / location):
                remove_document(connection, location)
                report.counts["removed"] += not known[location].reason
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
    places = workspace.search_paths if starts is None else starts
    with reading(workspace.index_file) as connection:
        known = known_files(connection)
    found = _found(workspace, [path.resolve() for path in places])
    pending = tuple(file for file in found.values() if _differs(file, known.get(file.location)))
    fresh = sum(file == known.get(file.location) for file in found.values() if not file.reason)
    others = [(file_at(workspace.root / name, name), known[name]) for name in known.keys() - found.keys()]
    changed = (file for file, before in others if file.version != before.version)
    return Coverage(fresh, (*pending, *changed))


def _found(workspace: Workspace, starts: Sequence[Path]) -> Mapping[str, File]:
    return {file.location: file for start in starts for file in find_files(start, workspace)}


def _differs(file: File, before: File | None) -> bool:
    """Whether the index does not have a file as it is; one without text it should not have."""
    if file.reason or before is None:
        return not file.reason or before is not None
    return file.version != before.version


def _update(
    workspace: Workspace,
    connection: sqlite3.Connection,
    file: File,
    before: File | None,
    report: IndexReport,
    now: datetime,
) -> None:
    """Let the index have a file as it is, and count what that did."""
    had_text = before is not None and not before.reason
    reason = file.reason or (before.reason if before else "")
    if _differs(file, before):
        if file.reason:
            remove_document(connection, file.location)
        else:
            document = read_document(workspace.root / file.location, file.location, workspace.schemas)
            put_document(connection, file, document, now=now)
            reason = document.reason if isinstance(document, Unreadable) else ""
        if had_text or not reason:
            report.counts["removed" if reason else "changed" if had_text else "added"] += 1
    elif not reason:
        report.counts["unchanged"] += 1
    if reason:
        report.skip(file.location, reason)


def _date_by_git(connection: sqlite3.Connection, root: Path) -> None:
    """Date documents that say no date themselves by the newest commit that changed them."""
    undated = [path for (path,) in connection.execute("SELECT path FROM documents WHERE published = ''")]
    try:
        with Repository(root) as repository:
            days = repository.commit_days(most=_MOST_COMMITS) if undated else {}
            prefix = root.relative_to(repository.root.resolve())
    except (GitError, ValueError):  # no repository
        return
    known = [(days.get((prefix / path).as_posix()), path) for path in undated]
    with sqlite.transaction(connection):
        dated = [(day.isoformat(), path) for day, path in known if day]
        connection.executemany("UPDATE documents SET published = ? WHERE path = ?", dated)


def _above(location: str) -> set[str]:
    """Return a location and those of the folders above it."""
    path = PurePosixPath(location)
    return {str(path), *map(str, path.parents)}
