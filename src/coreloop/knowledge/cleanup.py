"""The cleanup: what nobody verified is removed, questions become hashes, and no trace of either stays."""

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

from coreloop.errors import WorkspaceError
from coreloop.knowledge.archive import snapshot
from coreloop.knowledge.playbook import IS_GOOD
from coreloop.knowledge.schema import KNOWLEDGE, hashed, utc_text
from coreloop.knowledge.store import reading
from coreloop.sqlite import (
    busy,
    check_schema,
    columns,
    connect,
    empty_wal,
    keep_private,
    migrate,
    quoted_name,
    reason,
    sqlite_errors,
    tables,
    transaction,
    use_wal,
    version,
)

KEPT_DAYS: Final = 30
_KEYED: Final = re.compile(r"keyed:[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class CleanupRule:
    """Rows of a table that are removed, or changed where ``change`` says how."""

    text: str
    table: str
    where: str
    change: str | None = None


CLEANUP_RULES: Final = (
    CleanupRule("live insights, which nobody verified", "insights", "source = 'live'"),
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
    CleanupRule("bullets of a quality below 0.75 or under 5 successes", "playbook", f"NOT ({IS_GOOD})"),
    CleanupRule(f"executions older than {KEPT_DAYS} days", "executions", "created_at < oldest()"),
    CleanupRule(
        "questions that become keyed hashes",
        "executions",
        "created_at >= oldest() AND question_hash NOT GLOB 'keyed:*'",
        "question_hash = keyed(CAST(question_hash AS BLOB))",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a rule does, and to how many rows."""

    rule: str
    table: str
    removes: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Notes:
    """The audit notes that are there.

    Attributes
    ----------
    codes : frozenset of str
        Stock codes that have a note.
    folder : str
        What leads a note's name in a reference, ``data/dart/auditAnalysis``.
    missing : Path or None
        The notes' folder where it does not exist.
    """

    codes: frozenset[str]
    folder: str
    missing: Path | None = None


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a cleanup did.

    Attributes
    ----------
    effects : tuple of Effect
        One per rule.
    archive : Path or None
        The state before, in clear text; None where there was nothing to do.
    residue : str or None
        Why removed text is still in the file's free space; None when the file was rewritten without it.
    """

    effects: tuple[Effect, ...]
    archive: Path | None
    residue: str | None


@dataclass(frozen=True, slots=True)
class Planned:
    """What a cleanup would do, and whether the last one was interrupted before it had rewritten the file."""

    effects: tuple[Effect, ...]
    is_unscrubbed: bool

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.is_unscrubbed and not any(effect.rows for effect in self.effects)


def plan(database: Path, notes: Notes, *, now: datetime) -> Planned:
    """What a cleanup would do; changes nothing.

    Raises
    ------
    WorkspaceError
        The database cannot be read.
    """
    with reading(database) as connection:
        _add_functions(connection, notes, now)
        is_unscrubbed = connection.execute("SELECT count(*) FROM unscrubbed").fetchone()[0] > 0
        return Planned(tuple(_count(connection)), is_unscrubbed)


def clean(database: Path, notes: Notes, archive_dir: Path, *, now: datetime) -> Cleaned:
    """Clean a database: first a snapshot, then every rule in one transaction, then the file is rewritten.

    Where no rule finds a row there is no snapshot, and nothing but the file's free space is rewritten.

    Other processes may use the database meanwhile; those that write wait. A process that is killed leaves the
    database as it was or cleaned; what it left in the file's free space, the next cleanup takes out.

    Parameters
    ----------
    database : Path
        Of this or an older shape; an older one is migrated in the same transaction.
    notes : Notes
        Which audit insights have a note.
    archive_dir : Path
        Where the snapshot goes.
    now : datetime
        With a zone.

    Raises
    ------
    WorkspaceError
        A file cannot be read or written; the database is then as it was.
    """
    if not database.exists():
        raise WorkspaceError("does not exist: there is nothing to clean", path=database)
    with sqlite_errors(database), closing(connect(database)) as connection:
        check_schema(connection, database, KNOWLEDGE)
        use_wal(connection)
        with transaction(connection):
            check_schema(connection, database, KNOWLEDGE)
            _add_functions(connection, notes, now)
            # Nobody else can write now, so the snapshot is exactly what the rules are applied to.
            idle = _is_idle(connection)
            archive = None if idle else snapshot(database, archive_dir, "pre-cleanup", now=now)
            migrate(connection, KNOWLEDGE, now=now)
            effects = tuple(_apply(connection))
            connection.execute("DELETE FROM clear_questions")
            connection.execute("INSERT INTO unscrubbed VALUES (?)", (utc_text(now),))
        keep_private(database)
        return Cleaned(effects, archive, _scrub(connection))


def _is_idle(connection: sqlite3.Connection) -> bool:
    """Whether neither a migration nor a rule would change anything."""
    if version(connection) < KNOWLEDGE.version:
        return False
    questions = connection.execute("SELECT count(*) FROM clear_questions").fetchone()[0]
    return not questions and not any(effect.rows for effect in _count(connection))


def _count(connection: sqlite3.Connection) -> Iterator[Effect]:
    """What the rules would do; no two of them meet in a row, so each can be counted by itself."""
    for rule in _rules(connection):
        matching = f"SELECT count(*) FROM {quoted_name(rule.table)} WHERE {rule.where}"
        yield _effect(rule, connection.execute(matching).fetchone()[0])


def _apply(connection: sqlite3.Connection) -> Iterator[Effect]:
    for rule in _rules(connection):
        table = quoted_name(rule.table)
        what = f"UPDATE {table} SET {rule.change}" if rule.change else f"DELETE FROM {table}"
        yield _effect(rule, connection.execute(f"{what} WHERE {rule.where}").rowcount)


def _effect(rule: CleanupRule, rows: int) -> Effect:
    return Effect(rule=rule.text, table=rule.table, removes=rule.change is None, rows=rows)


def _rules(connection: sqlite3.Connection) -> Iterable[CleanupRule]:
    """The rules, and one for each table of dartlab's that holds questions too (``skills``)."""
    yield from CLEANUP_RULES
    for table in tables(connection):
        if table != "clear_questions" and "question" in columns(connection, table):
            yield CleanupRule(
                "questions that become keyed hashes",
                table,
                "question != keyed(CAST(question AS BLOB))",
                "question = keyed(CAST(question AS BLOB))",
            )


def _add_functions(connection: sqlite3.Connection, notes: Notes, now: datetime) -> None:
    """What the rules call. The key lives in the closure, so it is gone with the connection."""
    key = secrets.token_bytes(32)
    oldest = utc_text(now - timedelta(days=KEPT_DAYS))

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
    """Rewrite the file and empty the WAL, so that neither holds what was removed; why not, where it fails."""
    try:
        connection.execute("PRAGMA temp_store = DEFAULT")  # clean by now, and large
        connection.execute("VACUUM")
        if not empty_wal(connection):
            return busy()
        connection.execute("DELETE FROM unscrubbed")
    except sqlite3.OperationalError as error:
        return reason(error)
    return None
