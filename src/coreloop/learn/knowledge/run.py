"""The use cases of a project's knowledge database, one function each, shared by all shells."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson

from coreloop.base.files import write_private
from coreloop.base.project.workspace import Workspace
from coreloop.learn.knowledge.audit_analysis import note_codes
from coreloop.learn.knowledge.blog import Backfill, blog_insights, compare, find_posts, save
from coreloop.learn.knowledge.cleanup import Cleaned, Notes, PlannedCleanup, clean, plan
from coreloop.learn.knowledge.insights import Insight, all_insights, recall
from coreloop.learn.knowledge.playbook import Bullet, bullets, prune, weak_bullets
from coreloop.learn.knowledge.store import reading, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRequest:
    """The options of ``backfill-blog``.

    Attributes
    ----------
    blog_root : Path
        The blog's folder.
    pattern : str
        Glob of the posts, as for `pathlib.Path.glob`.
    project : Path
        Base folder of the paths in references.
    database : Path
        Need not exist.
    confirm : bool
        Write; otherwise only compare.
    """

    blog_root: Path
    pattern: str
    project: Path
    database: Path
    confirm: bool = False


def project_database(workspace: Workspace, named: Path | None = None) -> Path:
    """Return the given database, or else the project's after restricting it to its owner."""
    if named is not None:
        return named
    for path in (workspace.knowledge_dir, workspace.knowledge_file):
        workspace.keep_private(path)
    return workspace.knowledge_file


def look_up_insights(
    database: Path, *, stock_code: str | None = None, sector: str | None = None, now: datetime
) -> list[Insight]:
    """Recall insights from a database file, see `coreloop.learn.knowledge.insights.recall`.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        return recall(connection, stock_code=stock_code, sector=sector, now=now)


def look_up_bullets(database: Path, intent: str) -> list[Bullet]:
    """Read the bullets of an intent, best first.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        return bullets(connection, intent)


def export_knowledge(database: Path, folder: Path) -> dict[Path, int]:
    """Export a database file, see `coreloop.learn.knowledge.run.export_json`.

    Raises
    ------
    WorkspaceError
        The database cannot be read, or a file cannot be written.
    """
    with reading(database) as connection:
        return export_json(connection, folder)


def prune_playbook(database: Path, *, confirm: bool) -> list[Bullet]:
    """Remove the bullets with a quality below 0.5; without ``confirm``, only list them.

    Raises
    ------
    WorkspaceError
        The database cannot be read or written.
    """
    with reading(database) as connection:
        weak = weak_bullets(connection)
    if not confirm or not weak:
        return weak
    with writing(database) as connection:
        return prune(connection)


def project_notes(workspace: Workspace) -> Notes:
    """List the companies with an audit note, and the notes' folder as used in references.

    Raises
    ------
    WorkspaceError
        The folder cannot be listed.
    """
    folder = workspace.audit_notes_dir
    below = Path(workspace.settings.data_dir, "dart", folder.name).as_posix()
    return Notes(note_codes(folder), below, None if folder.is_dir() else folder)


def clean_up(
    workspace: Workspace, database: Path, notes: Notes, *, confirm: bool, now: datetime
) -> PlannedCleanup | Cleaned:
    """Clean a database; without ``confirm``, only count the effects.

    Raises
    ------
    WorkspaceError
        A file cannot be read or written; the database is then unchanged.
    """
    if not confirm:
        return plan(database, notes, now=now)
    workspace.keep_private(workspace.archive_dir)
    return clean(database, notes, workspace.archive_dir, now=now)


def backfill_blog(request: BackfillRequest, *, now: datetime) -> Backfill:
    """Store the ``ai:`` blocks of blog posts as insights; without ``confirm``, only compare.

    Returns
    -------
    Backfill
        The changes, made only with ``confirm``; includes unreadable posts.

    Raises
    ------
    UsageError
        The pattern is not a valid relative glob.
    WorkspaceError
        The blog's folder does not exist, or the database cannot be read or written.
    """
    posts = find_posts(request.blog_root, request.pattern, project=request.project)
    known = _stored_blog_insights(request.database)
    backfill = compare(posts, known, root=request.blog_root, project=request.project)
    changed = (*backfill.new, *backfill.edited)
    if request.confirm and changed:
        with writing(request.database) as connection:
            save(connection, changed, now=now)
    return backfill


def _stored_blog_insights(database: Path) -> list[Insight]:
    if not database.exists():
        return []
    with reading(database) as connection:
        return blog_insights(connection)


_SCHEMA_VERSION: Final = 1
_OPTIONS: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def export_json(connection: sqlite3.Connection, folder: Path) -> dict[Path, int]:
    """Write ``insights.json`` and ``playbook.json``; the same rows give the same bytes.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.learn.knowledge.store.reading`.
    folder : Path
        Target folder; existing files of these names are replaced.

    Returns
    -------
    dict of Path to int
        File -> number of rows in it.

    Raises
    ------
    WorkspaceError
        A file cannot be written.
    """
    parts: dict[str, Sequence[object]] = {
        "insights": all_insights(connection),
        "playbook": bullets(connection),
    }
    row_counts = {}
    for name, rows in parts.items():
        path = folder / f"{name}.json"
        write_private(path, orjson.dumps({"schema_version": _SCHEMA_VERSION, name: rows}, option=_OPTIONS))
        row_counts[path] = len(rows)
    return row_counts
