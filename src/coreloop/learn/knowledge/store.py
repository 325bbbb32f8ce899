"""The knowledge database: its tables, and opening it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace


def _utc(column: str) -> str:
    text = f"strftime('%Y-%m-%dT%H:%M:%S+00:00', {column}, 'unixepoch')"
    return f"{column} = coalesce({text}, {column})"


# Makes the tables, or completes those of dartlab: its times are in seconds since 1970, and its column
# ``executions.question`` goes with the first cleanup, which fills ``question_hash``.
_TABLES: Final = f"""
CREATE TABLE IF NOT EXISTS executions (
    id             INTEGER PRIMARY KEY,
    stock_code     TEXT,
    created_at     TEXT NOT NULL                 -- this and every other time: UTC, YYYY-MM-DDTHH:MM:SS+00:00
);
CREATE TABLE IF NOT EXISTS insights (
    id             INTEGER PRIMARY KEY,
    stock_code     TEXT NOT NULL,
    narrative      TEXT NOT NULL,
    strengths      TEXT NOT NULL DEFAULT '[]',   -- JSON, a list of texts
    weaknesses     TEXT NOT NULL DEFAULT '[]',   -- JSON, a list of texts
    sector         TEXT NOT NULL DEFAULT '',
    source         TEXT NOT NULL DEFAULT 'audit',  -- blog, audit, live
    created_at     TEXT NOT NULL,
    expires_at     TEXT                          -- NULL: never
);
CREATE TABLE IF NOT EXISTS playbook (
    id             INTEGER PRIMARY KEY,
    intent         TEXT NOT NULL,
    sector         TEXT NOT NULL DEFAULT '',     -- empty: every sector
    bullet         TEXT NOT NULL,
    success_count  INTEGER NOT NULL DEFAULT 0,
    fail_count     INTEGER NOT NULL DEFAULT 0,
    quality        REAL NOT NULL DEFAULT 0.5,    -- 0 to 1
    source         TEXT NOT NULL DEFAULT '',
    created_at     TEXT NOT NULL,
    last_used      TEXT NOT NULL,
    UNIQUE (intent, sector, bullet)
);
ALTER TABLE executions ADD COLUMN question_hash TEXT;
ALTER TABLE insights ADD COLUMN key_metrics TEXT NOT NULL DEFAULT '{{}}';
ALTER TABLE insights ADD COLUMN data_as_of TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN evidence_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN quality_gate TEXT NOT NULL DEFAULT '';
UPDATE executions SET {_utc("created_at")};
UPDATE insights SET {_utc("created_at")}, {_utc("expires_at")};
UPDATE playbook SET {_utc("created_at")}, {_utc("last_used")};
"""
SCHEMA: Final = sqlite.Schema("knowledge", _TABLES, sqlite.with_tables({"executions", "insights"}))


def project_database(workspace: Workspace, named: Path | None = None) -> Path:
    """Return the given database, or else the project's after restricting it to its owner."""
    if named is not None:
        return named
    for path in (workspace.knowledge_dir, workspace.knowledge_file):
        workspace.keep_private(path)
    return workspace.knowledge_file


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading; one of dartlab through a converted copy in memory.

    Raises
    ------
    WorkspaceError
        The file does not exist, is not a knowledge database, or has another version.
    """
    if not path.exists():
        raise WorkspaceError("does not exist; `backfill-blog --confirm` creates it", path=path)
    with sqlite.reader(path, SCHEMA) as connection:
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for writing; it is created, or converted from dartlab's, if necessary.

    Raises
    ------
    WorkspaceError
        The file is not a knowledge database, has another version or is not writable, or another process has
        been writing for longer than `coreloop.base.sqlite.BUSY_TIMEOUT_S`.
    """
    with sqlite.writer(path, SCHEMA) as connection:
        yield connection


def utc_text(moment: datetime) -> str:
    """Format a time as stored in the tables; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
