"""Where runs are kept: the store of a workspace."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.base.errors import RunStoreError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.runs.folder import FOLDER, kept_sessions
from coreloop.runs.person_or_agent import driving_run
from coreloop.runs.stores.sql import Store
from coreloop.runs.stores.sqlite import sqlite_store

__all__ = ["FILE_NAME", "Store", "is_written", "open_store", "require_none_lost"]

FILE_NAME: Final = "runs.db"


@contextmanager
def open_store(workspace: Workspace, *, environ: Mapping[str, str] = os.environ) -> Iterator[Store]:
    """Open the store of a workspace; it is created if necessary.

    Parameters
    ----------
    environ : mapping
        ``CORELOOP_DATABASE_URL`` is the address of a Postgres database. Without it, the store is the SQLite
        file ``runs.db`` in `Workspace.runs_dir`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    MissingExtraError
        Postgres needs an extra.
    """
    from coreloop.runs.published import publish

    if address := environ.get("CORELOOP_DATABASE_URL"):
        from coreloop.runs.stores.postgres import postgres_store

        with postgres_store(address) as postgres:
            postgres.parent, postgres.publish = driving_run(environ), partial(publish, workspace.root)
            postgres.address = address
            yield postgres
        return
    path = workspace.runs_dir / FILE_NAME
    if not is_written(path):
        require_none_lost(workspace)
    workspace.keep_private(workspace.runs_dir)
    with sqlite_store(path) as store:
        if not store.runs(limit=1):
            require_none_lost(workspace)
        store.parent, store.publish = driving_run(environ), partial(publish, workspace.root)
        yield store


def is_written(path: Path) -> bool:
    """Whether the file of a store exists and is not empty, as something that truncated it leaves it."""
    return path.exists() and path.stat().st_size > 0


def require_none_lost(workspace: Workspace) -> None:
    """Refuse a file without runs where a run has left its state, which goes before its run does.

    Raises
    ------
    RunStoreError
        The message says what to restore.
    """
    if lost := kept_sessions(workspace.root):
        path, folder = workspace.runs_dir / FILE_NAME, workspace.root / FOLDER / "sessions"
        raise RunStoreError(
            f"{path}: was removed or emptied: {folder} has the state of "
            f"{number_of(len(lost), 'run')}, and the store has none. Restore a backup: move "
            "data/runs away, then dartlab-coreloop runs restore BACKUP. Set "
            "CORELOOP_DATABASE_URL if the runs are in Postgres; to begin without them, move that "
            "folder away"
        )
