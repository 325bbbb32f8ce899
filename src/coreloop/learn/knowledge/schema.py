"""The tables of the knowledge database, and how they are filled from a database of dartlab."""

import re
import sqlite3
from datetime import UTC, datetime
from functools import partial
from typing import Final

from coreloop.base.records import hash_question
from coreloop.base.sqlite import Schema, run_script, tables, with_tables

SCHEMA: Final = """
-- Requests that an agent answered.
CREATE TABLE IF NOT EXISTS executions (
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
CREATE INDEX IF NOT EXISTS insights_by_company ON insights(stock_code);
CREATE INDEX IF NOT EXISTS insights_by_evidence ON insights(evidence_ref);

-- Advice per kind of question.
CREATE TABLE IF NOT EXISTS playbook (
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
CREATE TABLE IF NOT EXISTS unscrubbed (
    since          TEXT NOT NULL
);
"""
_OF_DARTLAB: Final = """
ALTER TABLE executions ADD COLUMN question_hash TEXT;
UPDATE executions SET question_hash = hashed(CAST(question AS BLOB)), created_at = utc(created_at);
ALTER TABLE insights ADD COLUMN key_metrics TEXT NOT NULL DEFAULT '{}';
ALTER TABLE insights ADD COLUMN data_as_of TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN evidence_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE insights ADD COLUMN quality_gate TEXT NOT NULL DEFAULT '';
UPDATE insights SET created_at = utc(created_at), expires_at = iif(expires_at, utc(expires_at), NULL);
"""
"""What a database of dartlab lacks; its column ``question`` goes with the first cleanup."""
_LAST_SECOND: Final = 253_402_300_799  # of the year 9999
_HASH: Final = re.compile(r"sha256:[0-9a-f]{16,64}|keyed:[0-9a-f]{32}")


def utc_text(moment: datetime) -> str:
    """Format a time as stored in the tables; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _create_or_adopt(connection: sqlite3.Connection, now: datetime) -> None:
    """Create the tables; those of dartlab get what they lack."""
    if "executions" in tables(connection):
        connection.create_function("hashed", 1, hashed, deterministic=True)
        connection.create_function("utc", 1, lambda seconds: _utc(seconds, now), deterministic=True)
        run_script(connection, _OF_DARTLAB)
        if "playbook" in tables(connection):
            connection.execute("UPDATE playbook SET created_at = utc(created_at), last_used = utc(last_used)")
    run_script(connection, SCHEMA)


def _utc(seconds: object, now: datetime) -> str:
    """Seconds since 1970 as stored in the tables; now if they are not."""
    if isinstance(seconds, int | float) and 0 <= seconds <= _LAST_SECOND:
        return utc_text(datetime.fromtimestamp(seconds, UTC))
    return utc_text(now)


def knowledge_schema(now: datetime) -> Schema:
    """Return the schema; rows of dartlab without a valid time get this one."""
    return Schema("knowledge", partial(_create_or_adopt, now=now), with_tables({"executions", "insights"}))


VERSION: Final = knowledge_schema(datetime.max).version


def hashed(question: bytes | None) -> str | None:
    """Hash a question; hashes are returned unchanged, and None or "" gives None.

    Takes bytes because sqlite3 cannot pass text that is not UTF-8 to a function.
    """
    if not question:
        return None
    text = question.decode("utf-8", "replace")
    return text if _HASH.fullmatch(text) else hash_question(text)
