"""Whole copies of the knowledge database: a proven snapshot before something is removed, and the way back."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from coreloop.errors import UsageError, WorkspaceError
from coreloop.files import locked, replacing
from coreloop.knowledge.schema import KNOWLEDGE
from coreloop.sqlite import (
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


def snapshot(source: Path, folder: Path, occasion: str, *, now: datetime) -> Path:
    """Copy a database to a file of its own, and prove the copy.

    The copy is what the database held at one moment, whatever other processes do. It is sound and has as many
    rows in every table, or there is none.

    Parameters
    ----------
    source : Path
        The database.
    folder : Path
        Where the copy goes; made with mode 0700.
    occasion : str
        ``pre-cleanup`` or ``pre-restore``.
    now : datetime
        Its UTC day leads the name.

    Returns
    -------
    Path
        ``{YYYY-MM-DD}-{occasion}.sqlite``, mode 0600; with ``-2`` and so on where the name is taken.

    Raises
    ------
    WorkspaceError
        The copy cannot be written, or is not what the database holds.
    """
    name = f"{now:%Y-%m-%d}-{occasion}"
    with locked(folder):
        for left in folder.glob(".*.partial*"):  # by a process that was killed
            left.unlink(missing_ok=True)
        path = _free(folder, name)
        try:
            with replacing(path) as partial:
                _copy(source, partial)
            _sync(folder)
        except OSError as error:
            raise WorkspaceError(f"cannot be written ({error.strerror})", path=folder) from error
    return path


def restore(archive: Path, database: Path, folder: Path, *, now: datetime) -> Path | None:
    """Make a database what it was when a snapshot was taken.

    Other processes may have it open: they wait, and then see the restored rows. What is there now is copied
    first.

    Parameters
    ----------
    archive : Path
        A snapshot.
    database : Path
        What is replaced; made where it is missing.
    folder : Path
        Where the copy of the present state goes.
    now : datetime
        With a zone.

    Returns
    -------
    Path or None
        The copy of the state before; None when there was no database.

    Raises
    ------
    UsageError
        The archive is the database itself.
    WorkspaceError
        The archive is no sound knowledge database, or one of the files cannot be read or written. The
        database is then as it was.
    """
    if not archive.is_file():
        raise WorkspaceError("does not exist", path=archive)
    if database.exists() and archive.samefile(database):
        raise UsageError("the archive is the database itself; name a file in its _archive folder")
    with sqlite_errors(archive), closing(connect(archive)) as copy:
        check_schema(copy, archive, KNOWLEDGE)
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
        live.execute("BEGIN")  # the counts and the copy are of one moment
        expected = _counts(live)
        with sqlite_errors(target.parent), closing(sqlite3.connect(target, isolation_level=None)) as copy:
            live.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it
            _refuse_damage(copy, source)
            if _counts(copy) != expected:
                raise WorkspaceError("the copy has other rows; nothing was changed", path=source)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    return {
        table: connection.execute(f"SELECT count(*) FROM {quoted_name(table)}").fetchone()[0]
        for table in tables(connection)
    }


def _refuse_damage(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise WorkspaceError(f"is damaged ({found}); nothing was changed", path=path)


def _free(folder: Path, name: str) -> Path:
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
