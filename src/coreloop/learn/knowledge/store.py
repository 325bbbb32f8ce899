"""The knowledge database: its tables, opening it, and their rows: insights and the playbook."""

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import encodable


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
SCHEMA: Final = sqlite.Schema("knowledge", _TABLES, {"executions", "insights"})


def project_database(workspace: Workspace) -> Path:
    """Return the project's database after restricting it to its owner."""
    for path in (workspace.knowledge_dir, workspace.knowledge_file):
        workspace.keep_private(path)
    return workspace.knowledge_file


def reading(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open a database for reading; one of dartlab through a converted copy in memory.

    Raises
    ------
    WorkspaceError
        The file does not exist, is not a knowledge database, or has another version.
    """
    if not path.exists():
        raise WorkspaceError("does not exist; `knowledge backfill-blog --confirm` creates it", path=path)
    return sqlite.reader(path, SCHEMA)


def writing(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open a database for writing; it is created, or converted from dartlab's, if necessary.

    Raises
    ------
    WorkspaceError
        The file is not a knowledge database, has another version or is not writable, or another process has
        been writing for longer than `coreloop.base.sqlite.BUSY_TIMEOUT_S`.
    """
    return sqlite.writer(path, SCHEMA)


def utc_text(moment: datetime) -> str:
    """Format a time as stored in the tables; the texts sort chronologically."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


# --- Insights about companies, and the gate for live answers.

MIN_ANSWER_CHARS: Final = 500  # as the specification has it, with the grades P and T
# 005930, 0001A0, KR7005930003; AAPL, BRK.B; but not README.
_CODE: Final = re.compile(r"(?=[A-Z]*[0-9])[A-Z0-9]{4,12}|[A-Z]{1,5}([.-][A-Z]{1,2})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A judgment about a company.

    Attributes
    ----------
    stock_code : str
        The company.
    narrative : str
        The judgment as text.
    strengths, weaknesses : tuple of str
        One statement per item.
    sector : str
        "" if unknown.
    source : str
        ``blog``, ``audit`` or ``live``; databases of dartlab may contain other values.
    key_metrics : mapping of str to float or str
        Figures by name.
    data_as_of : str
        Date or period of the figures, as the author wrote it.
    evidence_ref : str
        Its origin: ``blog:PATH``, ``audit:PATH``, ``live:REQUEST_ID``.
    quality_gate : str
        How it was checked: ``human-approved``, ``auto-extracted``, ``migration``, or "".
    """

    stock_code: str
    narrative: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    sector: str = ""
    source: str
    key_metrics: Mapping[str, float | str] = field(default_factory=dict)
    data_as_of: str = ""
    evidence_ref: str = ""
    quality_gate: str = ""


def is_stock_code(text: str) -> bool:
    """Whether a text has the form of a stock code: ``005930``, ``BRK.B``."""
    return _CODE.fullmatch(text) is not None


def save_live(
    connection: sqlite3.Connection, insight: Insight, *, answer_chars: int, grade: str | None, now: datetime
) -> str | None:
    """Store the insight of an answer, replacing the previous live insight about the company.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.learn.knowledge.store.writing`.
    insight : Insight
        Its source and gate are set to ``live`` and ``auto-extracted``.
    answer_chars : int
        Length of the answer.
    grade : str or None
        The verdict on the answer: P, T, C, V.

    Returns
    -------
    str or None
        The reason if nothing was written, else None.
    """
    if not insight.stock_code:
        return "it has no stock code"
    if answer_chars < MIN_ANSWER_CHARS:
        return f"the answer has {answer_chars} characters, fewer than {MIN_ANSWER_CHARS}"
    if grade not in {"P", "T"}:
        return f"its grade is {grade or 'unknown'}, not P (pass) or T (tolerable)"
    live = replace(insight, source="live", quality_gate="auto-extracted")
    with sqlite.transaction(connection):
        connection.execute(
            "DELETE FROM insights WHERE source = 'live' AND stock_code = ?", (insight.stock_code,)
        )
        _insert(connection, _values(live), now)
    return None


def save_by_evidence(connection: sqlite3.Connection, insight: Insight, *, now: datetime) -> None:
    """Insert an insight, or update the row with the same source and evidence; needs a transaction.

    An update leaves ``created_at`` unchanged.
    """
    values = _values(insight)
    settings = ", ".join(f"{name} = :{name}" for name in values)
    changed = connection.execute(
        f"UPDATE insights SET {settings} WHERE source = :source AND evidence_ref = :evidence_ref", values
    )
    if not changed.rowcount:
        _insert(connection, values, now)


def compare_stored(connection: sqlite3.Connection, insight: Insight) -> Literal["new", "edited", "same"]:
    """Compare an insight with the row of the same source and evidence."""
    values = _values(insight)
    query = "SELECT * FROM insights WHERE source = :source AND evidence_ref = :evidence_ref"
    row = connection.execute(query, values).fetchone()
    if row is None:
        return "new"
    return "same" if all(row[name] == value for name, value in values.items()) else "edited"


def _insert(connection: sqlite3.Connection, values: Mapping[str, Any], now: datetime) -> None:
    row = {**values, "created_at": utc_text(now)}
    names = ", ".join(row)
    connection.execute(
        f"INSERT INTO insights ({names}) VALUES ({', '.join(f':{name}' for name in row)})", row
    )


def _values(insight: Insight) -> dict[str, Any]:
    """A row for SQLite: lists and mappings as JSON, lone surrogates replaced."""
    row = {}
    for name, value in asdict(insight).items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | dict) else value
        row[name] = encodable(text) if isinstance(text, str) else text
    return row


# --- The playbook: short advice per kind of question, with counts of success and failure.

IS_GOOD: Final = "quality >= 0.75 AND success_count >= 5"  # as the specification has it, as the next
_IS_PRUNED: Final = "quality < 0.5"  # worse than one that nobody used
_SHOWN: Final = "intent, sector, bullet, success_count, fail_count, quality, source, created_at, last_used"


def good_intents(path: Path) -> frozenset[str]:
    """Return the intents with a bullet of a quality of at least 0.75 and at least 5 successes."""
    if not path.exists():
        return frozenset()
    with reading(path) as connection:
        rows = connection.execute(f"SELECT intent FROM playbook WHERE {IS_GOOD}")
        return frozenset(row["intent"] for row in rows)


def weak_bullets(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the bullets that `prune` would remove, as their rows."""
    order = "ORDER BY quality DESC, success_count DESC, id"
    rows = connection.execute(f"SELECT {_SHOWN} FROM playbook WHERE {_IS_PRUNED} {order}")
    return [dict(row) for row in rows]


def prune(connection: sqlite3.Connection) -> None:
    """Remove the bullets with a quality below 0.5."""
    connection.execute(f"DELETE FROM playbook WHERE {_IS_PRUNED}")
