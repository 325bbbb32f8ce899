"""Copies of the knowledge database: a verified snapshot before rows are removed, and its restoration."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import file_errors, locked, replacing
from coreloop.base.sqlite import (
    check_schema,
    connect,
    empty_wal,
    keep_private,
    overwrite,
    quoted_name,
    sqlite_errors,
    tables,
    use_wal,
)
from coreloop.learn.knowledge.schema import knowledge_schema


def snapshot(source: Path, folder: Path, occasion: str, *, now: datetime) -> Path:
    """Copy a database to a new file and verify the copy.

    The copy is consistent even while other processes write. If it fails the integrity check or the row counts
    of its tables differ, it is removed.

    Parameters
    ----------
    source : Path
        The database.
    folder : Path
        Folder of the copy; created with mode 0700.
    occasion : str
        ``pre-cleanup`` or ``pre-restore``.
    now : datetime
        Its UTC date begins the file name.

    Returns
    -------
    Path
        ``{YYYY-MM-DD}-{occasion}.sqlite``, mode 0600; with ``-2`` and so on if the name is taken.

    Raises
    ------
    WorkspaceError
        The copy cannot be written, or differs from the database.
    """
    name = f"{now:%Y-%m-%d}-{occasion}"
    with locked(folder):
        for partial in folder.glob(".*.partial*"):  # left by a killed process
            partial.unlink(missing_ok=True)
        path = _unused_path(folder, name)
        with file_errors("cannot be written ({strerror})", folder):
            with replacing(path) as partial:
                _copy(source, partial)
            _sync(folder)
    return path


def restore(archive: Path, database: Path, folder: Path, *, now: datetime) -> Path | None:
    """Restore a database from a snapshot, after a snapshot of its present state.

    Other processes may have it open: they wait, and then see the restored rows.

    Parameters
    ----------
    archive : Path
        A snapshot.
    database : Path
        The database to replace; created if absent.
    folder : Path
        Folder of the snapshot of the present state.

    Returns
    -------
    Path or None
        The snapshot of the state before, or None if there was no database.

    Raises
    ------
    UsageError
        The archive is the database itself.
    WorkspaceError
        The archive is not an intact knowledge database, or a file cannot be read or written. The database is
        then unchanged.
    """
    if not archive.is_file():
        raise WorkspaceError("does not exist", path=archive)
    if database.exists() and archive.samefile(database):
        raise UsageError("the archive is the database itself; name a file in its _archive folder")
    with sqlite_errors(archive), closing(connect(archive)) as copy:
        check_schema(copy, archive, knowledge_schema(now))
        if not tables(copy):
            raise WorkspaceError("is empty: there is nothing to restore", path=archive)
        _refuse_damage(copy, archive)
        before = snapshot(database, folder, "pre-restore", now=now) if database.exists() else None
        with sqlite_errors(database), closing(connect(database, make=True)) as live:
            use_wal(live)
            overwrite(live, copy, database)
            empty_wal(live)
        keep_private(database)
    return before


def _copy(source: Path, target: Path) -> None:
    with sqlite_errors(source), closing(connect(source)) as live:
        live.execute("BEGIN")  # the counts and the copy see the same state
        expected = _counts(live)
        with sqlite_errors(target.parent), closing(sqlite3.connect(target, isolation_level=None)) as copy:
            live.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # a single file without a WAL
            _refuse_damage(copy, source)
            if _counts(copy) != expected:
                raise WorkspaceError("the copy differs in its row counts; nothing was changed", path=source)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    return {
        table: connection.execute(f"SELECT count(*) FROM {quoted_name(table)}").fetchone()[0]
        for table in tables(connection)
    }


def _refuse_damage(connection: sqlite3.Connection, path: Path) -> None:
    result = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if result != "ok":
        raise WorkspaceError(f"is damaged ({result}); nothing was changed", path=path)


def _unused_path(folder: Path, name: str) -> Path:
    path, number = folder / f"{name}.sqlite", 2
    while path.exists():
        path, number = folder / f"{name}-{number}.sqlite", number + 1
    return path


def _sync(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
