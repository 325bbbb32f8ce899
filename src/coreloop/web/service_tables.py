"""The service's own tables: idempotency keys, and what the runs of each caller have spent."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from coreloop.base.database import Database, Tables
from coreloop.base.postgres import project_database
from coreloop.base.project.workspace import Workspace

_SCRIPT: Final = """
-- Requests that had an idempotency key.
CREATE TABLE claims (
    owner       TEXT NOT NULL,  -- the name of the API key
    key         TEXT NOT NULL,
    request     BLOB NOT NULL,  -- SHA-256 of what was asked
    run_id      TEXT NOT NULL,
    created_at  TEXT NOT NULL,  -- UTC
    PRIMARY KEY (owner, key)
);

-- Runs under way, if there is a limit of what a caller may spend.
CREATE TABLE owners (
    run_id      TEXT PRIMARY KEY,
    owner       TEXT NOT NULL   -- the name of the API key, or the address
);

-- What the ended runs of a caller have spent.
CREATE TABLE spending (
    owner       TEXT NOT NULL,
    day         TEXT NOT NULL,  -- UTC
    microusd    BIGINT NOT NULL,
    PRIMARY KEY (owner, day)
);
"""


_SCHEMA: Final = Tables("service", _SCRIPT)


@contextmanager
def open_tables(workspace: Workspace, environ: Mapping[str, str]) -> Iterator[Database]:
    """Open the tables beside the store of runs, see `coreloop.runs.stores.store.open_store`.

    Raises
    ------
    RunStoreError
        The database cannot be used.
    """
    workspace.keep_private(workspace.runs_dir)
    with project_database(workspace.runs_dir, _SCHEMA, environ) as database:
        yield database
