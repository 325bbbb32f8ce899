"""The cleanup: remove unverified rows, hash questions, and leave no trace of either in the file."""

import hmac
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import (
    busy,
    check_schema,
    columns,
    connect,
    create,
    empty_wal,
    keep_private,
    quoted_name,
    reason,
    sqlite_errors,
    tables,
    transaction,
    use_wal,
    version,
)
from coreloop.learn.knowledge.archive import snapshot
from coreloop.learn.knowledge.playbook import IS_GOOD
from coreloop.learn.knowledge.schema import VERSION, hashed, knowledge_schema, utc_text
from coreloop.learn.knowledge.store import reading

RETENTION_DAYS: Final = 30  # as the specification has it
_KEYED: Final = re.compile(r"keyed:[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class CleanupRule:
    """Rows of a table to remove, or to update if ``change`` is given."""

    text: str
    table: str
    where: str
    change: str | None = None


CLEANUP_RULES: Final = (
    CleanupRule("unverified live insights", "insights", "source = 'live'"),
    CleanupRule(
        "audit insights whose note is gone", "insights", "source = 'audit' AND NOT has_note(stock_code)"
    ),
    CleanupRule(
        "audit insights that get their note as evidence",
        "insights",
        "source = 'audit' AND has_note(stock_code)"
        " AND (evidence_ref != note_ref(stock_code) OR quality_gate != 'migration')",
        "evidence_ref = note_ref(stock_code), quality_gate = 'migration'",
    ),
    CleanupRule(
        "bullets with a quality below 0.75 or fewer than 5 successes", "playbook", f"NOT ({IS_GOOD})"
    ),
    CleanupRule(
        f"executions older than {RETENTION_DAYS} days",
        "executions",
        "created_at < oldest()",
    ),
    CleanupRule(
        "questions that become keyed hashes",
        "executions",
        "created_at >= oldest() AND question_hash NOT GLOB 'keyed:*'",
        "question_hash = keyed(CAST(question_hash AS BLOB))",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupEffect:
    """The effect of a rule and the number of rows concerned."""

    rule: str
    table: str
    removes: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Notes:
    """The existing audit notes.

    Attributes
    ----------
    codes : frozenset of str
        Stock codes that have a note.
    folder : str
        Folder of the notes in references, ``data/dart/auditAnalysis``.
    missing : Path or None
        The notes' folder if it does not exist.
    """

    codes: frozenset[str]
    folder: str
    missing: Path | None = None


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The result of a cleanup.

    Attributes
    ----------
    effects : tuple of CleanupEffect
        One per rule.
    archive : Path or None
        Snapshot of the state before, in clear text, or None if no rule applied.
    residue : str or None
        Why removed text is still in the file's free space, or None if the file was rewritten.
    """

    effects: tuple[CleanupEffect, ...]
    archive: Path | None
    residue: str | None


@dataclass(frozen=True, slots=True)
class PlannedCleanup:
    """The effects a cleanup would have, and whether the last cleanup failed to rewrite the file."""

    effects: tuple[CleanupEffect, ...]
    is_unscrubbed: bool

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.is_unscrubbed and not any(effect.rows for effect in self.effects)


def plan(database: Path, notes: Notes, *, now: datetime) -> PlannedCleanup:
    """Count what a cleanup would do, without changing anything.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        _add_functions(connection, notes, now)
        is_unscrubbed = connection.execute("SELECT count(*) FROM unscrubbed").fetchone()[0] > 0
        return PlannedCleanup(tuple(_count(connection)), is_unscrubbed)


def clean(database: Path, notes: Notes, archive_dir: Path, *, now: datetime) -> Cleaned:
    """Clean a database: take a snapshot, apply every rule in one transaction, then rewrite the file.

    If no rule applies to any row, there is no snapshot and only the file's free space is cleared.

    Other processes may use the database meanwhile; writers wait. After a kill the database is unchanged or
    cleaned, and the next cleanup clears its free space.

    Parameters
    ----------
    database : Path
        Of this or an older schema; an older one is migrated in the same transaction.
    notes : Notes
        The existing audit notes.
    archive_dir : Path
        Folder of the snapshot.

    Raises
    ------
    WorkspaceError
        A file cannot be read or written; the database is then unchanged.
    """
    if not database.exists():
        raise WorkspaceError("does not exist: there is nothing to clean", path=database)
    schema = knowledge_schema(now)
    with sqlite_errors(database), closing(connect(database)) as connection:
        check_schema(connection, database, schema)
        use_wal(connection)
        with transaction(connection):
            check_schema(connection, database, schema)
            _add_functions(connection, notes, now)
            # No other process can write now, so the snapshot is exactly the state before the rules.
            idle = _is_idle(connection)
            archive = None if idle else snapshot(database, archive_dir, now=now)
            create(connection, schema)
            effects = tuple(_apply(connection))
            if "question" in columns(connection, "executions"):
                connection.execute("ALTER TABLE executions DROP COLUMN question")
            connection.execute("INSERT INTO unscrubbed VALUES (?)", (utc_text(now),))
        keep_private(database)
        return Cleaned(effects, archive, _scrub(connection))


def _is_idle(connection: sqlite3.Connection) -> bool:
    """Whether neither a migration nor a rule would change anything."""
    if version(connection) < VERSION:
        return False
    has_questions = "question" in columns(connection, "executions")
    return not has_questions and not any(effect.rows for effect in _count(connection))


def _count(connection: sqlite3.Connection) -> Iterator[CleanupEffect]:
    """Count the rows of each rule; no row matches two rules, so they can be counted separately."""
    for rule in _rules(connection):
        matching = f"SELECT count(*) FROM {quoted_name(rule.table)} WHERE {rule.where}"
        yield _effect(rule, connection.execute(matching).fetchone()[0])


def _apply(connection: sqlite3.Connection) -> Iterator[CleanupEffect]:
    for rule in _rules(connection):
        table = quoted_name(rule.table)
        statement = f"UPDATE {table} SET {rule.change}" if rule.change else f"DELETE FROM {table}"
        yield _effect(rule, connection.execute(f"{statement} WHERE {rule.where}").rowcount)


def _effect(rule: CleanupRule, rows: int) -> CleanupEffect:
    return CleanupEffect(rule=rule.text, table=rule.table, removes=rule.change is None, rows=rows)


def _rules(connection: sqlite3.Connection) -> Iterable[CleanupRule]:
    """The rules, plus a rule for each other table of dartlab with questions (``skills``)."""
    yield from CLEANUP_RULES
    for table in tables(connection):
        if table != "executions" and "question" in columns(connection, table):
            yield CleanupRule(
                "questions that become keyed hashes",
                table,
                "question != keyed(CAST(question AS BLOB))",
                "question = keyed(CAST(question AS BLOB))",
            )


def _add_functions(connection: sqlite3.Connection, notes: Notes, now: datetime) -> None:
    """Register the SQL functions of the rules. Only their closure holds the key, so it is never stored."""
    key = secrets.token_bytes(32)
    oldest = utc_text(now - timedelta(days=RETENTION_DAYS))

    def keyed(question: bytes | None) -> str | None:
        text = hashed(question)
        if text is None or _KEYED.fullmatch(text):
            return text
        return f"keyed:{hmac.digest(key, text.encode(), 'sha256').hex()[:32]}"

    connection.create_function("keyed", 1, keyed, deterministic=True)
    connection.create_function("oldest", 0, lambda: oldest, deterministic=True)
    connection.create_function("has_note", 1, lambda code: code in notes.codes, deterministic=True)
    connection.create_function(
        "note_ref", 1, lambda code: f"audit:{notes.folder}/{code}.md", deterministic=True
    )


def _scrub(connection: sqlite3.Connection) -> str | None:
    """Rewrite the file and empty the WAL so that removed text is gone; return the reason if that fails."""
    try:
        connection.execute("PRAGMA temp_store = DEFAULT")  # the rows are clean by now, and may be large
        connection.execute("VACUUM")
        if not empty_wal(connection):
            return busy()
        connection.execute("DELETE FROM unscrubbed")
    except sqlite3.OperationalError as error:
        return reason(error)
    return None
