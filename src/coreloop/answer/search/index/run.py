"""The use case behind ``dartlab-coreloop index``."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from coreloop.answer.search.index.changes import IndexReport
from coreloop.answer.search.index.store import writing
from coreloop.answer.search.index.tree import SkippedFile
from coreloop.answer.search.index.update import update_index
from coreloop.base.files import locked
from coreloop.base.project.workspace import Workspace


def index_paths(workspace: Workspace, paths: Sequence[Path], *, now: datetime) -> IndexReport:
    """Bring a project's index up to date with the files at or below some paths.

    A second process waits until the first is done.

    Parameters
    ----------
    workspace : Workspace
        The project.
    paths : sequence of Path
        Files or folders, absolute; they may be outside of the project.
    now : datetime
        With a time zone.

    Raises
    ------
    WorkspaceError
        A path does not exist, or the index cannot be written.
    """
    root, file = workspace.root.resolve(), workspace.index_file
    data_dir = (root / workspace.settings.data_dir).resolve()
    starts = [path.resolve() for path in paths]
    with locked(file.parent), writing(file, now=now) as connection:
        schemas = workspace.schemas
        report = update_index(connection, starts, root=root, data_dir=data_dir, now=now, schemas=schemas)
    for schema in sorted(schemas):
        if not (root / schema).exists():
            report.skip(SkippedFile(schema, "declared schema does not exist"))
    return report
