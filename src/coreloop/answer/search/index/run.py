"""The use case behind ``dartlab-coreloop index``."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from coreloop.answer.search.index.changes import Change, Comparison, Drop, IndexReport, Put, Unread
from coreloop.answer.search.index.store import (
    known_files,
    place_document,
    put_document,
    put_unread,
    remove_document,
    unread_files,
    writing,
)
from coreloop.answer.search.index.tree import SkippedFile
from coreloop.base import sqlite
from coreloop.base.errors import GitError
from coreloop.base.files import locked
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace

_MOST_COMMITS: Final = 1_000
"""Commits that are looked through for files without a date of their own: 20 to 60 ms."""


def index_paths(workspace: Workspace, paths: Sequence[Path], *, now: datetime) -> IndexReport:
    """Bring a project's index up to date with the files at or below some paths.

    A second process waits until the first is done.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders, absolute; they may be outside of the project.

    Raises
    ------
    WorkspaceError
        A path does not exist, or the index cannot be written.
    """
    root, file = workspace.root.resolve(), workspace.index_file
    data_dir = (root / workspace.settings.data_dir).resolve()
    starts = [path.resolve() for path in paths]
    with locked(file.parent), writing(file) as connection:
        schemas = workspace.schemas
        report = update_index(connection, starts, root=root, data_dir=data_dir, now=now, schemas=schemas)
        if report.counts["added"] or report.counts["changed"]:
            _date_by_git(connection, root)
    for schema in sorted(schemas):
        if not (root / schema).exists():
            report.skip(SkippedFile(schema, "declared schema does not exist"))
    return report


def _date_by_git(connection: Connection, root: Path) -> None:
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


_BATCH_CHARS: Final = 8_000_000
_CHANGE_CHARS: Final = 1_000
"""What a change without text counts as."""


def update_index(
    connection: sqlite3.Connection,
    starts: Sequence[Path],
    *,
    root: Path,
    data_dir: Path,
    now: datetime,
    schemas: Collection[str] = (),
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
    schemas : collection of str
        Locations of declared schemas.

    Raises
    ------
    WorkspaceError
        A start does not exist, and no document came from it.
    """
    report = IndexReport()
    known, unread = known_files(connection), unread_files(connection)
    comparison = Comparison(known, root, data_dir, report, schemas, unread)
    for batch in _batches(comparison.changes(starts)):
        with sqlite.transaction(connection):
            for change in batch:
                _apply(connection, change, now)
        report.counts.update(_counted(change) for change in batch)
        del report.counts["unread"]
    return report


def _counted(change: Change) -> str:
    """What a change counts as; a new file without text is among the skipped ones alone."""
    return "removed" if isinstance(change, Unread) and change.known_id is not None else change.kind


def _apply(connection: sqlite3.Connection, change: Change, now: datetime) -> None:
    if isinstance(change, Drop):
        remove_document(connection, change.known_id)
    elif isinstance(change, Put):
        put_document(connection, change.file, change.document, known_id=change.known_id, now=now)
    elif isinstance(change, Unread):
        put_unread(connection, change.file, known_id=change.known_id)
    else:
        place_document(connection, change.file, known_id=change.known_id, now=now)


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += len(change.document.text) if isinstance(change, Put) else _CHANGE_CHARS
        if size > _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
