"""What can be done with a project's knowledge database: one function per use case, for every shell."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.knowledge.audit_analysis import note_codes
from coreloop.knowledge.blog import Backfill, blog_insights, compare, find_posts, save
from coreloop.knowledge.cleanup import Cleaned, Notes, Planned, clean, plan
from coreloop.knowledge.export import export_json
from coreloop.knowledge.insights import Insight, recall
from coreloop.knowledge.playbook import Bullet, bullets, prune, weak_bullets
from coreloop.knowledge.store import reading, writing
from coreloop.project.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRequest:
    """What ``backfill-blog`` is asked for.

    Attributes
    ----------
    blog_root : Path
        The blog's folder.
    pattern : str
        Which of its files are posts, as `pathlib.Path.glob` takes it.
    project : Path
        What paths in references are below of.
    database : Path
        Need not be there.
    confirm : bool
        Write; without it, only compare.
    """

    blog_root: Path
    pattern: str
    project: Path
    database: Path
    confirm: bool = False


def project_database(workspace: Workspace, named: Path | None = None) -> Path:
    """The database that somebody names, else the project's, which is closed to other users."""
    if named is not None:
        return named
    for path in (workspace.knowledge_dir, workspace.knowledge_file):
        workspace.keep_private(path)
    return workspace.knowledge_file


def look_up_insights(
    database: Path, *, stock_code: str | None = None, sector: str | None = None, now: datetime
) -> list[Insight]:
    """`coreloop.knowledge.insights.recall` of a file.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        return recall(connection, stock_code=stock_code, sector=sector, now=now)


def look_up_bullets(database: Path, intent: str) -> list[Bullet]:
    """The bullets of an intent, the best first.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        return bullets(connection, intent)


def export_knowledge(database: Path, folder: Path) -> dict[Path, int]:
    """`coreloop.knowledge.export.export_json` of a file.

    Raises
    ------
    WorkspaceError
        The database cannot be read, or a file cannot be written.
    """
    with reading(database) as connection:
        return export_json(connection, folder)


def prune_playbook(database: Path, *, confirm: bool) -> list[Bullet]:
    """Remove the bullets of a quality below 0.5; without ``confirm``, only find them.

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
    """Which companies have an audit note, and how a reference names the notes' folder.

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
) -> Planned | Cleaned:
    """Clean a database; without ``confirm``, only count what that would do.

    Parameters
    ----------
    workspace : Workspace
        Its archive gets the snapshot of the state before.
    database : Path
        Of this or an older shape.
    notes : Notes
        Of `project_notes`.
    confirm : bool
        Do it.
    now : datetime
        With a zone.

    Raises
    ------
    WorkspaceError
        A file cannot be read or written; the database is then as it was.
    """
    if not confirm:
        return plan(database, notes, now=now)
    workspace.keep_private(workspace.archive_dir)
    return clean(database, notes, workspace.archive_dir, now=now)


def backfill_blog(request: BackfillRequest, *, now: datetime) -> Backfill:
    """Make the ai blocks of blog posts insights; without ``confirm``, only compare.

    Parameters
    ----------
    request : BackfillRequest
        The blog and the database.
    now : datetime
        With a zone.

    Returns
    -------
    Backfill
        What changes or, confirmed, was changed; posts that cannot be read are in it.

    Raises
    ------
    UsageError
        The pattern cannot be meant.
    WorkspaceError
        The blog's folder is not there, or the database cannot be read or written.
    """
    posts = find_posts(request.blog_root, request.pattern, project=request.project)
    known = _known_from_blogs(request.database)
    backfill = compare(posts, known, root=request.blog_root, project=request.project)
    changed = (*backfill.new, *backfill.edited)
    if request.confirm and changed:
        with writing(request.database) as connection:
            save(connection, changed, now=now)
    return backfill


def _known_from_blogs(database: Path) -> list[Insight]:
    if not database.exists():
        return []
    with reading(database) as connection:
        return blog_insights(connection)
