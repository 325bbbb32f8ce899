"""The tables of the knowledge database, and how they are filled from a database of dartlab."""

import re
import sqlite3
from datetime import UTC, datetime
from functools import partial
from typing import Final

from coreloop.base.records import hash_question
from coreloop.base.sqlite import Schema, columns, run_script, tables, with_tables

SCHEMA: Final = """
-- Requests that an agent answered.
CREATE TABLE executions (
    id             INTEGER PRIMARY KEY,
    stock_code     TEXT,
    question_hash  TEXT,                         -- sha256:… as in the audit log, keyed:… after a cleanup
    question_type  TEXT NOT NULL DEFAULT '',
    mode           TEXT NOT NULL DEFAULT '',
    result_summary TEXT NOT NULL DEFAULT '',
    grade          TEXT NOT NULL DEFAULT '',     -- P, T, C, V as in judgments
    key_metrics    TEXT NOT NULL DEFAULT '',     -- JSON, as the agent gave it
    duration_s     REAL,
    rounds         INTEGER NOT NULL DEFAULT 0,
    has_error      INTEGER NOT NULL DEFAULT 0,
    provider       TEXT NOT NULL DEFAULT '',
    model          TEXT NOT NULL DEFAULT '',
    created_at     TEXT NOT NULL                 -- this and every other time: UTC, YYYY-MM-DDTHH:MM:SS+00:00
);

-- Questions of a database of dartlab, from its migration to the first cleanup.
CREATE TABLE clear_questions (
    execution_id   INTEGER PRIMARY KEY REFERENCES executions(id) ON DELETE CASCADE,
    question       TEXT NOT NULL
);

-- Judgments about companies.
CREATE TABLE insights (
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
CREATE INDEX insights_by_company ON insights(stock_code);
CREATE INDEX insights_by_evidence ON insights(evidence_ref);

-- Advice per kind of question.
CREATE TABLE playbook (
    id             INTEGER PRIMARY KEY,
    intent         TEXT NOT NULL,
    sector         TEXT NOT NULL DEFAULT '',     -- empty: every sector
    bullet         TEXT NOT NULL,
    success_count  INTEGER NOT NULL DEFAULT 0,
    fail_count     INTEGER NOT NULL DEFAULT 0,
    quality        REAL NOT NULL DEFAULT 0.5,    -- 0 to 1, see coreloop.learn.knowledge.playbook.quality
    source         TEXT NOT NULL DEFAULT '',
    created_at     TEXT NOT NULL,
    last_used      TEXT NOT NULL,
    UNIQUE (intent, sector, bullet)
);

-- Has a row from a cleanup's transaction until the file is rewritten without the removed text.
CREATE TABLE unscrubbed (
    since          TEXT NOT NULL
);
"""
TABLES: Final = ("executions", "insights", "playbook")
_DARTLABS_NAMES: Final = {"duration_s": "duration_sec", "rounds": "code_rounds"}
_TIMES: Final = frozenset({"created_at", "expires_at", "last_used"})
_HASH: Final = re.compile(r"sha256:[0-9a-f]{16,64}|keyed:[0-9a-f]{32}")


def utc_text(moment: datetime) -> str:
    """Format a time as stored in the tables; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _create_or_adopt(connection: sqlite3.Connection, now: datetime) -> None:
    """Create the tables and copy the rows of dartlab's, if there are any."""
    old = [table for table in TABLES if table in tables(connection)]
    for table in old:
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    run_script(connection, SCHEMA)
    _add_functions(connection, now)
    for table in old:
        connection.execute(_copy(connection, table))
    if "question" in columns(connection, "old_executions"):
        connection.execute(
            "INSERT INTO clear_questions SELECT new.id, question FROM old_executions AS old"
            " JOIN executions AS new ON new.id = old.rowid WHERE question != question_hash"
        )
    for table in old:
        connection.execute(f"DROP TABLE old_{table}")


def knowledge_schema(now: datetime) -> Schema:
    """Return the schema; rows of dartlab without a valid time get this one."""
    return Schema("knowledge", partial(_create_or_adopt, now=now), with_tables({"executions", "insights"}))


VERSION: Final = knowledge_schema(datetime.max).version


def _copy(connection: sqlite3.Connection, table: str) -> str:
    """Build the statement that copies the rows of a table of dartlab into the new table."""
    had = columns(connection, f"old_{table}")
    names, values = [], []
    described = connection.execute(f"PRAGMA table_info({table})")
    for _, name, _, is_required, default, _ in described.fetchall():
        value = _value(name, had)
        if is_required:
            value = f"coalesce({value}, {'now()' if name in _TIMES else default or repr('')})"
        names.append(name)
        values.append(value)
    merged = (
        " ON CONFLICT (intent, sector, bullet) DO UPDATE SET"
        " success_count = success_count + excluded.success_count,"
        " fail_count = fail_count + excluded.fail_count,"
        " quality = max(quality, excluded.quality)"
        if table == "playbook"
        else ""
    )
    copied = f"SELECT {', '.join(values)} FROM old_{table} WHERE true"
    return f"INSERT INTO {table} ({', '.join(names)}) {copied}{merged}"


def _value(name: str, had: list[str]) -> str:
    if name == "id":
        return "rowid"  # an alias of the id, whatever the old table calls its key
    old = next((column for column in (name, _DARTLABS_NAMES.get(name)) if column in had), None)
    if name == "question_hash" and old is None and "question" in had:
        return "hashed(CAST(question AS BLOB))"
    if old is None:
        return "NULL"
    # A Python function call for each of 100,000 times would double the duration.
    return f"strftime('%Y-%m-%dT%H:%M:%S+00:00', {old}, 'unixepoch')" if name in _TIMES else old


def _add_functions(connection: sqlite3.Connection, now: datetime) -> None:
    connection.create_function("now", 0, lambda: utc_text(now))
    connection.create_function("hashed", 1, hashed, deterministic=True)


def hashed(question: bytes | None) -> str | None:
    """Hash a question; hashes are returned unchanged, and None or "" gives None.

    Takes bytes because sqlite3 cannot pass text that is not UTF-8 to a function.
    """
    if not question:
        return None
    text = question.decode("utf-8", "replace")
    return text if _HASH.fullmatch(text) else hash_question(text)
