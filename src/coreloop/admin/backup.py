"""What a project keeps of runs, feedback and jobs: a copy of it, its way back, and the removal of a run."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Final

from coreloop.answer.repair.forget import forget_answer
from coreloop.answer.repair.store import FILE_NAME as REPAIR_FILE
from coreloop.answer.repair.tables import REPAIR
from coreloop.base import sqlite
from coreloop.base.database import sqlite_database, store_errors
from coreloop.base.errors import RunStoreError, UsageError
from coreloop.base.files import replacing
from coreloop.base.project.workspace import Workspace
from coreloop.runs.folder import kept_sessions
from coreloop.runs.jobs.queue import FILE_NAME as JOBS_FILE
from coreloop.runs.jobs.sql_queue import JOBS
from coreloop.runs.manage import forget_run
from coreloop.runs.state import State
from coreloop.runs.stores.sqlite import RUNS, sqlite_store
from coreloop.runs.stores.store import FILE_NAME as RUNS_FILE
from coreloop.runs.stores.store import Store, is_written, require_none_lost

# Runs first: a job that is copied without its run does nothing, a run without its job would wait forever.
_PARTS: Final[Mapping[str, sqlite.Schema]] = {RUNS_FILE: RUNS, REPAIR_FILE: REPAIR, JOBS_FILE: JOBS}


def back_up(workspace: Workspace, folder: Path, *, environ: Mapping[str, str]) -> list[Path]:
    """Copy runs, feedback and jobs into a new folder, mode 0700, while processes work on them.

    Parameters
    ----------
    folder : Path
        Appears when it is complete.
    environ : mapping
        Without ``CORELOOP_DATABASE_URL``.

    Returns
    -------
    list of Path
        The files: one of each database that the project has.

    Raises
    ------
    UsageError
        The folder exists, or the databases are in Postgres, which has a tool of its own.
    RunStoreError
        A database cannot be used or is damaged, or the folder cannot be written.
    """
    _require_files(environ, "pg_dump --schema=coreloop")
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder}: exists; name a new folder for the backup")
    present = {name: schema for name, schema in _PARTS.items() if (workspace.runs_dir / name).exists()}
    if not is_written(workspace.runs_dir / RUNS_FILE):
        require_none_lost(workspace)
    if RUNS_FILE not in present:
        raise UsageError(f"{workspace.runs_dir}: has no runs yet; there is nothing to back up")
    partial = folder.with_name(f".{folder.name}.partial")
    with ExitStack() as leaving, _file_errors(folder):
        rmtree(partial, ignore_errors=True)  # of a killed backup
        partial.mkdir(mode=0o700)
        leaving.callback(rmtree, partial, ignore_errors=True)
        for name, schema in present.items():
            with sqlite_database(workspace.runs_dir / name, schema) as database:
                database.backup(partial / name)
            _require_whole(partial / name, schema)
        partial.rename(folder)
    return [folder / name for name in present]


def check(workspace: Workspace, store: Store, *, environ: Mapping[str, str]) -> list[str]:
    """Look for damage in runs, feedback and jobs: each page, and each row against its checksum and events.

    Parameters
    ----------
    workspace, store : Workspace, Store
        The project's.
    environ : mapping
        With ``CORELOOP_DATABASE_URL``, the rows of the runs are checked; the pages are the server's.

    Returns
    -------
    list of str
        A line for each damage.
    """
    files = {} if environ.get("CORELOOP_DATABASE_URL") else _PARTS
    found = []
    for name, schema in files.items():
        if (path := workspace.runs_dir / name).exists():
            found += _file_damage(path, schema)
    try:
        found += store.damage()
    except RunStoreError as error:
        found.append(str(error))
    if not found:
        lost = set(kept_sessions(workspace.root)) - {row.run_id for row in store.runs()}
        found += [
            f"run {run_id}: it has a state in .research, and the store has lost it" for run_id in sorted(lost)
        ]
    return list(dict.fromkeys(found))


def _file_damage(path: Path, schema: sqlite.Schema) -> list[str]:
    try:
        with sqlite_database(path, schema) as database:
            return [f"{path}: {line}" for line in database.damage(schema)]
    except RunStoreError as error:
        return [str(error)]


def restore(workspace: Workspace, folder: Path, *, environ: Mapping[str, str]) -> list[Path]:
    """Copy a backup into a project that has no runs, feedback or jobs: all of it or nothing.

    Parameters
    ----------
    folder : Path
        The folder of `back_up`; it is not changed.
    environ : mapping
        Without ``CORELOOP_DATABASE_URL``.

    Returns
    -------
    list of Path
        The restored files.

    Raises
    ------
    UsageError
        The folder is not a backup, the project has such files, or its databases are in Postgres.
    RunStoreError
        A file of the backup is damaged or of a newer version, or the project cannot be written.
    """
    _require_files(environ, "pg_restore")
    present = {folder / name: schema for name, schema in _PARTS.items() if (folder / name).exists()}
    if folder / RUNS_FILE not in present:
        raise UsageError(f"{folder}: is not a folder of `runs backup`: it has no {RUNS_FILE}")
    for name in _PARTS:
        for file in sorted(workspace.runs_dir.glob(f"{name}*")):
            raise UsageError(f"{file}: exists; stop what works with it and move it away before a restore")
    restored = [workspace.runs_dir / source.name for source in present]
    with _file_errors(workspace.runs_dir), ExitStack() as renamed:
        workspace.runs_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        for (source, schema), target in zip(present.items(), restored, strict=True):
            _copy(source, schema, renamed.enter_context(replacing(target)))
    return restored


def forget(
    workspace: Workspace, store: Store, run_id: str | None, *, confirm: bool, environ: Mapping[str, str]
) -> State:
    """Remove a run, and what people said of its answer; see `coreloop.runs.manage.forget_run`.

    The record of an answer stays in the log of requests, which has a retention of its own.
    """
    state = forget_run(workspace, store, run_id, confirm=confirm)
    if confirm:
        forget_answer(workspace, state, environ=environ)  # also of a run whose kind cannot be read
    return state


def _require_whole(copy: Path, schema: sqlite.Schema) -> None:
    """Refuse a copy of a damaged database: it would replace one that is whole."""
    found = _file_damage(copy, schema)
    if not found and copy.name == RUNS_FILE:
        with sqlite_store(copy) as store:
            found = list(store.damage())
    for file in copy.parent.glob(f"{copy.name}-*"):  # of the check
        file.unlink()
    if found:
        raise RunStoreError(
            f"the project's {copy.name} is damaged, so no backup was made ({found[0]}); restore "
            "an older backup: dartlab-coreloop runs restore BACKUP"
        )


def _require_files(environ: Mapping[str, str], tool: str) -> None:
    if environ.get("CORELOOP_DATABASE_URL"):
        raise UsageError(f"the runs are in Postgres; use its own tool: {tool}")


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunStoreError(f"{path}: cannot be written ({error.strerror or error})") from error


def _copy(source: Path, schema: sqlite.Schema, target: Path) -> None:
    """Copy a database that is whole and of a version that this program reads."""
    with (
        store_errors(source),
        sqlite.reader(source, schema) as connection,
        closing(sqlite.connect(target)) as copy,
    ):
        sqlite.overwrite(copy, connection, target)
        ((state, *_), *_) = copy.execute("PRAGMA quick_check(1)").fetchall()
        copy.execute("PRAGMA journal_mode = DELETE")
    if state != "ok":
        raise RunStoreError(f"{source}: is damaged ({state}); restore another backup")
