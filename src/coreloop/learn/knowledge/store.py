"""The knowledge database: its tables, opening it, and converting rows for SQLite."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import encodable

_TABLES: Final = """
-- Requests that an agent of dartlab answered.
CREATE TABLE IF NOT EXISTS executions (
    id             INTEGER PRIMARY KEY,
    stock_code     TEXT,
    question_hash  TEXT,                         -- keyed:…, since the first cleanup
    created_at     TEXT NOT NULL                 -- this and every other time: UTC, YYYY-MM-DDTHH:MM:SS+00:00
);

-- Judgments about companies.
CREATE TABLE IF NOT EXISTS insights (
    id             INTEGER PRIMARY KEY,
    stock_code     TEXT NOT NULL,
    narrative      TEXT NOT NULL,
    strengths      TEXT NOT NULL DEFAULT '[]',   -- JSON, a list of texts
    weaknesses     TEXT NOT NULL DEFAULT '[]',   -- JSON, a list of texts
    sector         TEXT NOT NULL DEFAULT '',
    source         TEXT NOT NULL DEFAULT 'audit',  -- blog, audit, live
    key_metrics    TEXT NOT NULL DEFAULT '{}',   -- JSON, name to number or text
    data_as_of     TEXT NOT NULL DEFAULT '',     -- as its author wrote it
    evidence_ref   TEXT NOT NULL DEFAULT '',     -- blog:PATH, audit:PATH, live:REQUEST_ID
    quality_gate   TEXT NOT NULL DEFAULT '',     -- human-approved, auto-extracted, migration
    created_at     TEXT NOT NULL,
    expires_at     TEXT                          -- NULL: never
);

-- Advice per kind of question.
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
"""
_OF_DARTLAB: Final = """
ALTER TABLE executions ADD COLUMN question_hash TEXT;
ALTER TABLE insights ADD COLUMN key_metrics TEXT NOT NULL DEFAULT '{}';
ALTER TABLE insights ADD COLUMN data_as_of TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN evidence_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN quality_gate TEXT NOT NULL DEFAULT '';
"""
"""What a database of dartlab lacks; its column ``question`` goes with the first cleanup."""
_TIMES: Final = {
    "executions": ("created_at",),
    "insights": ("created_at", "expires_at"),
    "playbook": ("created_at", "last_used"),
}
"""Dartlab has them in seconds since 1970."""


def _create_or_adopt(connection: sqlite3.Connection) -> None:
    is_of_dartlab = bool(sqlite.tables(connection))
    sqlite.run_script(connection, _TABLES)
    if is_of_dartlab:
        sqlite.run_script(connection, _OF_DARTLAB)
        for table, columns in _TIMES.items():
            for name in columns:
                text = f"strftime('%Y-%m-%dT%H:%M:%S+00:00', {name}, 'unixepoch')"
                connection.execute(f"UPDATE {table} SET {name} = coalesce({text}, {name})")


SCHEMA: Final = sqlite.Schema("knowledge", _create_or_adopt, {"executions", "insights"})


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


def storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row for SQLite: lists and mappings to JSON, lone surrogates replaced."""
    texts = {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict) else value
        for name, value in row.items()
    }
    return {name: encodable(text) if isinstance(text, str) else text for name, text in texts.items()}
