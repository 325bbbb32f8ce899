"""The use case behind ``dartlab-coreloop index``."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from coreloop.answer.search.index.changes import IndexReport
from coreloop.answer.search.index.store import writing
from coreloop.answer.search.index.tree import SkippedFile
from coreloop.answer.search.index.update import update_index
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
