"""The cleanup: remove unverified rows, hash questions, and leave no trace of either in the file."""

import hmac
import secrets
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, count
from pathlib import Path
from typing import Final, NamedTuple

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors, locked, replacing
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import hash_question
from coreloop.learn.knowledge.audit_analysis import note_files
from coreloop.learn.knowledge.store import IS_GOOD, SCHEMA, reading, utc_text

RETENTION_DAYS: Final = 30  # as the specification has it


class _Rule(NamedTuple):
    """Rows of a table to remove, or to update if ``change`` is given."""

    text: str
    table: str
    where: str
    change: str | None = None


_RULES: Final = (
    _Rule("unverified live insights", "insights", "source = 'live'"),
    _Rule("audit insights whose note is gone", "insights", "source = 'audit' AND note(stock_code) IS NULL"),
    _Rule(
        "audit insights that get their note as evidence",
        "insights",
        "source = 'audit' AND note(stock_code) IS NOT NULL"
        " AND (evidence_ref != note(stock_code) OR quality_gate != 'migration')",
        "evidence_ref = note(stock_code), quality_gate = 'migration'",
    ),
    _Rule("bullets with a quality below 0.75 or fewer than 5 successes", "playbook", f"NOT ({IS_GOOD})"),
    _Rule(f"executions older than {RETENTION_DAYS} days", "executions", "created_at < oldest()"),
)
_QUESTIONS: Final = _Rule(
    "questions that become keyed hashes",
    "executions",
    "created_at >= oldest()",
    "question_hash = keyed(CAST(question AS BLOB))",
)
"""Applies to a database of dartlab, whose questions are in clear text."""


@dataclass(frozen=True, slots=True)
class CleanupEffect:
    """The effect of a rule and the number of rows concerned."""

    rule: str
    table: str
    removes: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The result of a cleanup.

    Attributes
    ----------
    effects : tuple of CleanupEffect
        One per rule.
    archive : Path or None
        Snapshot of the state before, in clear text, or None if no rule applied or nothing was changed.
    residue : str or None
        Why removed text is still in the file's free space, or None if the file was rewritten.
    """

    effects: tuple[CleanupEffect, ...]
    archive: Path | None = None
    residue: str | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no rule applied to any row."""
        return not any(effect.rows for effect in self.effects)


def project_notes(workspace: Workspace) -> dict[str, str]:
    """List the companies with an audit note: ``{code}: audit:data/dart/auditAnalysis/{code}.md``.

    Raises
    ------
    WorkspaceError
        The folder cannot be listed.
    """
    folder = Path(workspace.settings.data_dir, "dart", workspace.audit_notes_dir.name).as_posix()
    return {path.stem: f"audit:{folder}/{path.name}" for path in note_files(workspace.audit_notes_dir)}


def plan(database: Path, notes: Mapping[str, str], *, now: datetime) -> Cleaned:
    """Count what a cleanup would do, without changing anything.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        return Cleaned(_effects(connection, notes, now, apply=False))


def clean(database: Path, notes: Mapping[str, str], archive_dir: Path, *, now: datetime) -> Cleaned:
    """Clean a database: apply every rule in one transaction, with a snapshot, then rewrite the file.

    Other processes may use the database meanwhile; writers wait. After a kill the database is unchanged or
    cleaned, and the next cleanup clears its free space.

    Parameters
    ----------
    database : Path
        One of dartlab is converted in the same transaction.
    notes : mapping of str to str
        Of `project_notes`.
    archive_dir : Path
        Folder of the snapshot; if no rule applies to any row there is none.

    Raises
    ------
    WorkspaceError
        A file cannot be read or written; the database is then unchanged.
    """
    if not database.exists():
        raise WorkspaceError("does not exist: there is nothing to clean", path=database)
    with sqlite.sqlite_errors(database), closing(sqlite.connect(database)) as connection:
        sqlite.check_schema(connection, database, SCHEMA)
        sqlite.use_wal(connection)
        with sqlite.transaction(connection):
            sqlite.create(connection, SCHEMA)
            cleaned = Cleaned(_effects(connection, notes, now, apply=True))
            if "question" in sqlite.columns(connection, "executions"):
                connection.execute("ALTER TABLE executions DROP COLUMN question")
            # Another connection sees the state before the rules until the transaction ends.
            archive = None if cleaned.is_idle else _snapshot(database, archive_dir, now)
        sqlite.keep_private(database)
        return Cleaned(cleaned.effects, archive, _scrub(connection))


def _effects(
    connection: sqlite3.Connection, notes: Mapping[str, str], now: datetime, *, apply: bool
) -> tuple[CleanupEffect, ...]:
    """Count the rows of each rule, and apply it."""
    _add_functions(connection, notes, now)
    has_questions = "question" in sqlite.columns(connection, "executions")
    effects = []
    for rule in (*_RULES, _QUESTIONS) if has_questions else _RULES:
        statement = f"UPDATE {rule.table} SET {rule.change}" if rule.change else f"DELETE FROM {rule.table}"
        where = f"WHERE {rule.where}"
        (rows,) = connection.execute(f"SELECT count(*) FROM {rule.table} {where}").fetchone()
        if apply:
            connection.execute(f"{statement} {where}")
        effects.append(CleanupEffect(rule.text, rule.table, rule.change is None, rows))
    return tuple(effects)


def _add_functions(connection: sqlite3.Connection, notes: Mapping[str, str], now: datetime) -> None:
    """Register the SQL functions of the rules. Only their closure holds the key, so it is never stored."""
    key = secrets.token_bytes(32)
    oldest = utc_text(now - timedelta(days=RETENTION_DAYS))

    def keyed(question: bytes | None) -> str | None:
        if question is None:
            return None
        text = hash_question(question.decode("utf-8", "replace"))
        return f"keyed:{hmac.digest(key, text.encode(), 'sha256').hex()[:32]}"

    connection.create_function("keyed", 1, keyed)
    connection.create_function("oldest", 0, lambda: oldest)
    connection.create_function("note", 1, notes.get)


def _snapshot(source: Path, folder: Path, now: datetime) -> Path:
    """Copy a database to ``{YYYY-MM-DD}-pre-cleanup.sqlite``, mode 0600; with ``-2`` if that is taken."""
    with locked(folder):
        for partial in folder.glob(".*.partial*"):  # left by a killed process, in clear text
            partial.unlink(missing_ok=True)
        start = f"{now:%Y-%m-%d}-pre-cleanup"
        names = chain([start], (f"{start}-{number}" for number in count(2)))
        path = next(path for name in names if not (path := folder / f"{name}.sqlite").exists())
        with (
            file_errors("cannot be written ({strerror})", folder),
            replacing(path) as partial,
            sqlite.sqlite_errors(source),
            closing(sqlite.connect(source)) as live,
        ):
            live.execute("VACUUM INTO ?", (f"{partial}",))
    return path


def _scrub(connection: sqlite3.Connection) -> str | None:
    """Rewrite the file and empty the WAL so that removed text is gone; return the reason if that fails."""
    try:
        connection.execute("PRAGMA temp_store = DEFAULT")  # the rows are clean by now, and may be large
        connection.execute("VACUUM")
        return None if sqlite.empty_wal(connection) else sqlite.busy()
    except sqlite3.OperationalError as error:
        return sqlite.reason(error)
