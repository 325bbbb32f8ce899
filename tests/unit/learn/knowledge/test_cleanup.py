"""A cleanup applies its rules, leaves no trace of removed text, and is atomic."""

import random
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import version
from coreloop.learn.knowledge import cleanup
from coreloop.learn.knowledge.cleanup import clean
from coreloop.learn.knowledge.store import writing
from old_knowledge import bullet, bytes_of, execution, insight, make_old, rows_of
from weekly import WEEKLY

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
SECONDS = NOW.timestamp()
NOTES = {code: f"audit:data/dart/auditAnalysis/{code}.md" for code in ("990001", "990002")}
KEYED = re.compile(r"keyed:[0-9a-f]{32}")


def _rows() -> dict[str, list[dict[str, Any]]]:
    young, old = SECONDS - 29 * 86_400, SECONDS - 31 * 86_400
    return {
        "executions": [
            execution(1, at=young),
            execution(2, at=old),
            execution(
                3, at=young, question="QUESTION1 회사1 수익성이 어떤가요??"
            ),  # the question of the first row
            execution(4, at=SECONDS + 9e6),
        ],
        "insights": [
            insight(1, at=SECONDS),
            insight(9, at=SECONDS),
            insight(2, at=SECONDS, source="live"),
            insight(3, at=SECONDS, source="live"),
            insight(4, at=SECONDS, source="blog"),
        ],
        "playbook": [
            bullet(1, at=SECONDS, successes=5, failures=1),
            bullet(2, at=SECONDS, successes=5, failures=2),
            bullet(3, at=SECONDS, successes=4),
        ],
    }


QUESTIONS = ["QUESTION1", "QUESTION2", "QUESTION4"]
REMOVED = [*QUESTIONS, "NARRATIVE2.", "NARRATIVE3.", "NARRATIVE9.", "BULLET2.", "BULLET3."]
REMAINING = ["NARRATIVE1.", "NARRATIVE4.", "BULLET1."]
EXPECTED = [2, 1, 1, 2, 1, 3]  # rows per rule


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_old(tmp_path / "knowledge" / "x.db", **_rows())


def _clean(database: Path, now: datetime = NOW) -> cleanup.Cleaned:
    return clean(database, NOTES, database.parent / "_archive", now=now)


def _texts(database: Path) -> set[str]:
    """The texts above that occur in the bytes of the database."""
    content = bytes_of(database)
    return {text for text in [*REMOVED, *REMAINING] if text.encode() in content}


def test_questions_become_hashes_that_cannot_be_guessed(database: Path):
    copy = database.with_name("copy.db")
    copy.write_bytes(database.read_bytes())
    hashes = []
    for path in (database, copy):
        _clean(path)
        keyed = [row["question_hash"] for row in rows_of(path, "executions")]
        assert all(map(KEYED.fullmatch, keyed))
        assert keyed[0] == keyed[1] != keyed[2]  # the same question, asked twice
        hashes += keyed
    assert len(set(hashes)) == 4  # a different key each time


@pytest.mark.parametrize("wal", [True, False], ids=["WAL", "journal"])
@pytest.mark.parametrize("migrated", [True, False], ids=["migrated", "old"])
def test_no_byte_of_removed_text_remains(wal: bool, migrated: bool, tmp_path: Path):
    many = {
        "executions": [execution(n, at=SECONDS - n * 86_400 / 20) for n in range(1200)],
        "insights": [
            insight(n, at=SECONDS, source="live", narrative=f"NARRATIVE{n}" * 99) for n in range(200)
        ],
        "playbook": [bullet(n, at=SECONDS, successes=1) for n in range(300)],
    }
    database = make_old(tmp_path / "x.db", wal=wal, **many)
    if migrated:
        with writing(database):
            pass
    assert b"QUESTION" in bytes_of(database)
    with closing(sqlite3.connect(database)) as other:  # keeps the WAL
        other.execute("SELECT count(*) FROM insights").fetchall()
        assert _clean(database).residue is None
        for text in (b"QUESTION", b"NARRATIVE", b"BULLET"):
            assert text not in bytes_of(database)
    assert re.search(rb"QUESTION|NARRATIVE|BULLET", bytes_of(database)) is None


def test_the_archive_is_a_private_copy_of_the_state_before(database: Path):
    before = {table: rows_of(database, table) for table in ("executions", "insights", "playbook")}
    archive = _clean(database).archive
    assert archive == database.parent / "_archive" / "2026-04-25-pre-cleanup.sqlite"
    assert {table: rows_of(archive, table) for table in before} == before
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert stat.S_IMODE(archive.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in archive.parent.iterdir()) == [".lock", archive.name]


def test_a_failed_snapshot_changes_nothing(database: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: Any, **__: Any) -> Path:
        raise WorkspaceError("cannot be written (No space left on device)", path=database)

    before = rows_of(database, "executions")
    monkeypatch.setattr(cleanup, "_snapshot", fails)
    with pytest.raises(WorkspaceError, match="No space left"):
        _clean(database)
    assert rows_of(database, "executions") == before
    assert _texts(database) == {*REMOVED, *REMAINING}


# --- other processes -------------------------------------------------------------------------------


def test_text_that_a_reader_keeps_in_the_file_is_reported_and_cleared_by_the_next_cleanup(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.2)
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM insights").fetchall()
        cleaned = _clean(database)
        assert cleaned.residue == "another process has been using it for 0 s"
        assert [effect.rows for effect in cleaned.effects] == EXPECTED
        assert _texts(database) & set(REMOVED)
        reader.execute("COMMIT")
    again = _clean(database)
    assert (again.residue, sum(effect.rows for effect in again.effects)) == (None, 0)
    assert _texts(database) == set(REMAINING)


CLEAN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from coreloop.learn.knowledge.cleanup import clean
path = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
cleaned = clean(path, {}, path.parent / "_archive", now=datetime.now(UTC))
print(cleaned.residue)
"""


def _start(code: str, *args: str) -> "subprocess.Popen[str]":
    """A process that has finished its imports and waits for a line."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", code, *args], encoding="utf-8", **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def _big(path: Path, rows: int) -> Path:
    now = time.time() - 3600  # no row passes the age of 30 days while a test runs
    return make_old(
        path,
        executions=[execution(n, at=now - n % 60 * 86_400) for n in range(rows)],
        insights=[insight(n, at=now, source="live") for n in range(rows // 10)],
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killing_a_cleanup_at_any_time_leaves_the_old_or_the_new_state(tmp_path: Path):
    rows = 3_000
    source = _big(tmp_path / "source.db", rows)
    timed = tmp_path / "timed" / "x.db"
    timed.parent.mkdir()
    timed.write_bytes(source.read_bytes())
    process = _start(CLEAN, str(timed))
    started = time.perf_counter()
    _go(process)
    assert process.communicate(timeout=60)[0] == "None\n"
    duration_s = time.perf_counter() - started
    states = []
    chance = random.Random(7)
    for n in range(16 if WEEKLY else 5):
        database = tmp_path / str(n) / "x.db"
        database.parent.mkdir()
        database.write_bytes(source.read_bytes())
        process = _start(CLEAN, str(database))
        _go(process)
        time.sleep(chance.uniform(0, 1.1 * duration_s))  # kills at a random moment
        process.kill()
        process.communicate(timeout=60)
        states.append(_state(database, rows))
        assert clean(database, {}, tmp_path / str(n) / "_archive", now=datetime.now(UTC)).residue is None
        assert re.search(rb"QUESTION|NARRATIVE", bytes_of(database)) is None
        assert [*(tmp_path / str(n) / "_archive").glob("*partial*")] == []
    assert set(states) <= {"before", "after"}, states


def _state(database: Path, rows: int) -> str:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        n_live = connection.execute("SELECT count(*) FROM insights").fetchone()[0]
        n_executions = connection.execute("SELECT count(*) FROM executions").fetchone()[0]
        is_new = version(connection) == 1
        if not is_new:
            assert (n_live, n_executions) == (rows // 10, rows)
            return "before"
        assert n_live == 0
        assert rows // 2 <= n_executions < rows
        unkeyed = "SELECT count(*) FROM executions WHERE question_hash NOT GLOB 'keyed:*'"
        assert connection.execute(unkeyed).fetchone() == (0,)
        return "after"
