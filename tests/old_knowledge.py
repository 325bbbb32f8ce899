"""A knowledge database as dartlab made it: questions in clear text, times in seconds, no evidence."""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE executions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, stock_code TEXT, question TEXT NOT NULL,
    question_type TEXT DEFAULT '', mode TEXT DEFAULT 'analysis', result_summary TEXT DEFAULT '',
    grade TEXT DEFAULT '', key_metrics TEXT DEFAULT '', duration_sec REAL, code_rounds INTEGER DEFAULT 0,
    has_error INTEGER DEFAULT 0, provider TEXT DEFAULT '', model TEXT DEFAULT '', created_at REAL NOT NULL
);
CREATE INDEX idx_exec_ts ON executions(created_at);
CREATE TABLE skills (
    id INTEGER PRIMARY KEY AUTOINCREMENT, question TEXT NOT NULL, code_template TEXT NOT NULL,
    created_at REAL NOT NULL
);
CREATE TABLE insights (
    id INTEGER PRIMARY KEY AUTOINCREMENT, stock_code TEXT NOT NULL, narrative TEXT NOT NULL,
    strengths TEXT DEFAULT '[]', weaknesses TEXT DEFAULT '[]', sector TEXT DEFAULT '',
    source TEXT DEFAULT 'audit', created_at REAL NOT NULL, expires_at REAL
);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE playbook (
    id INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL, sector TEXT NOT NULL DEFAULT '',
    bullet TEXT NOT NULL, success_count INTEGER NOT NULL DEFAULT 0, fail_count INTEGER NOT NULL DEFAULT 0,
    quality REAL NOT NULL DEFAULT 0.5, source TEXT NOT NULL DEFAULT 'reflection', created_at REAL NOT NULL,
    last_used REAL NOT NULL
);
CREATE UNIQUE INDEX idx_pb_unique ON playbook(intent, sector, bullet);
"""
Row = Mapping[str, Any]


def make_old(path: Path, *, schema: str = SCHEMA, wal: bool = True, **rows: Iterable[Row]) -> Path:
    """Write a database of the old shape; ``rows`` are by table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        if wal:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(schema)
        for table, some in rows.items():
            insert_all(connection, table, some)
    return path


def insert_all(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    """Insert rows, each with its own columns."""
    for row in rows:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))


def execution(number: int, *, at: float, **changes: Any) -> dict[str, Any]:
    """A request about a company, whose question can be found among bytes."""
    question = f"QUESTION{number} 회사{number} 수익성이 어떤가요"
    return {"stock_code": "990168", "question": question, "created_at": at, **changes}


def insight(number: int, *, at: float, **changes: Any) -> dict[str, Any]:
    """An insight whose narrative can be found among bytes."""
    return {
        "stock_code": f"99{number:04d}",
        "narrative": f"NARRATIVE{number}.",
        "source": "audit",
        "created_at": at,
        **changes,
    }


def bullet(number: int, *, at: float, successes: int, failures: int = 0, **changes: Any) -> dict[str, Any]:
    """A bullet with the quality that dartlab gave it."""
    return {
        "intent": "profitability",
        "bullet": f"BULLET{number}.",
        "success_count": successes,
        "fail_count": failures,
        "quality": (1 + successes) / (2 + successes + failures),
        "created_at": at,
        "last_used": at,
        **changes,
    }


def rows_of(path: Path, table: str) -> list[dict[str, Any]]:
    """A table's rows, read without coreloop."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")]


def bytes_of(path: Path) -> bytes:
    """All that lies on the disk for a database: the file, its WAL, its shared memory, a journal."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(f"{path.name}*")))
