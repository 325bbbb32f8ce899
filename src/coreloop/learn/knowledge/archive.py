"""Copies of the knowledge database, made before rows are removed."""

from contextlib import closing
from datetime import datetime
from pathlib import Path

from coreloop.base.files import file_errors, locked, replacing
from coreloop.base.sqlite import connect, sqlite_errors


def snapshot(source: Path, folder: Path, *, now: datetime) -> Path:
    """Copy a database to a new file, consistent even while other processes write.

    Parameters
    ----------
    source : Path
        The database.
    folder : Path
        Folder of the copy; created with mode 0700.
    now : datetime
        Its UTC date begins the file name.

    Returns
    -------
    Path
        ``{YYYY-MM-DD}-pre-cleanup.sqlite``, mode 0600; with ``-2`` and so on if the name is taken.

    Raises
    ------
    WorkspaceError
        The database is damaged, or the copy cannot be written.
    """
    with locked(folder):
        for partial in folder.glob(".*.partial*"):  # left by a killed process
            partial.unlink(missing_ok=True)
        path = _unused_path(folder, f"{now:%Y-%m-%d}-pre-cleanup")
        with (
            file_errors("cannot be written ({strerror})", folder),
            replacing(path) as partial,
            sqlite_errors(source),
            closing(connect(source)) as live,
        ):
            live.execute("VACUUM INTO ?", (f"{partial}",))
    return path


def _unused_path(folder: Path, name: str) -> Path:
    path, number = folder / f"{name}.sqlite", 2
    while path.exists():
        path, number = folder / f"{name}-{number}.sqlite", number + 1
    return path
