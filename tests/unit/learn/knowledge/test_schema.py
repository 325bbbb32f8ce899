"""Databases of dartlab are migrated completely or not at all, without losing rows."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.records import hash_question
from coreloop.base.sqlite import columns, tables, version
from coreloop.learn.knowledge.schema import SCHEMA, VERSION
from coreloop.learn.knowledge.store import reading, writing
from old_knowledge import bullet, bytes_of, execution, insert_all, insight, make_old, rows_of

AT = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
SECONDS = AT.timestamp()
TEXT = "2026-04-25T09:30:00+00:00"
COLUMNS = {
    "executions": "id stock_code question_hash question_type mode result_summary grade key_metrics "
    "duration_s rounds has_error provider model created_at",
    "insights": "id stock_code narrative strengths weaknesses sector source key_metrics data_as_of "
    "evidence_ref quality_gate created_at expires_at",
    "playbook": "id intent sector bullet success_count fail_count quality source created_at last_used",
}


def _migrated(path: Path) -> Path:
    with writing(path):
        pass
    return path


@pytest.mark.parametrize("old", [False, True], ids=["new", "migrated"])
def test_the_tables_have_the_columns_of_the_documents(old: bool, tmp_path: Path):
    path = tmp_path / "x.db"
    if old:
        make_old(path, executions=[execution(1, at=SECONDS)])
    with writing(path) as connection:
        for table, names in COLUMNS.items():
            assert columns(connection, table) == names.split()
        assert version(connection) == VERSION


def test_the_schema_explains_every_table():
    for table in (statement.split(" ", 1)[0] for statement in SCHEMA.split("CREATE TABLE ")[1:]):
        before = SCHEMA.split(f"CREATE TABLE {table} ")[0]
        assert before.rstrip().splitlines()[-1].startswith("-- "), table


def test_every_value_of_an_execution_is_kept(tmp_path: Path):
    values = {
        "question_type": "compare",
        "mode": "coding",
        "result_summary": "요약",
        "grade": "P",
        "key_metrics": '{"roe": 3}',
        "has_error": 1,
        "provider": "openai",
        "model": "m",
    }
    row = execution(1, at=SECONDS, duration_sec=1.5, code_rounds=4, id=7, **values)
    path = _migrated(make_old(tmp_path / "x.db", executions=[row]))
    expected = {"id": 7, "stock_code": "990168", "duration_s": 1.5, "rounds": 4, "created_at": TEXT, **values}
    assert rows_of(path, "executions") == [{**expected, "question_hash": hash_question(row["question"])}]
    assert rows_of(path, "clear_questions") == [{"execution_id": 7, "question": row["question"]}]


def test_every_value_of_an_insight_and_a_bullet_is_kept(tmp_path: Path):
    known = insight(
        1, at=SECONDS, strengths='["a"]', weaknesses='["b"]', sector="식품", source="live", expires_at=SECONDS
    )
    advice = bullet(2, at=SECONDS, successes=5, failures=1, sector="식품", source="manual")
    path = _migrated(make_old(tmp_path / "x.db", insights=[known], playbook=[advice]))
    times = {"created_at": TEXT, "expires_at": TEXT}
    added = {"key_metrics": "{}", "data_as_of": "", "evidence_ref": "", "quality_gate": ""}
    assert rows_of(path, "insights") == [{"id": 1, **known, **times, **added}]
    assert rows_of(path, "playbook") == [{"id": 1, **advice, "created_at": TEXT, "last_used": TEXT}]


def test_other_tables_stay_as_they_are(tmp_path: Path):
    skill = {"id": 1, "question": "q", "code_template": "x = 1", "created_at": 1.0}
    path = _migrated(make_old(tmp_path / "x.db", skills=[skill], meta=[{"key": "v", "value": "1"}]))
    assert rows_of(path, "skills") == [skill]
    assert rows_of(path, "meta") == [{"key": "v", "value": "1"}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SECONDS, TEXT),
        (int(SECONDS), TEXT),
        (SECONDS + 0.9, TEXT),
        ("yesterday", None),
        ("", None),
        (1e300, None),
    ],
)
def test_times_are_kept_and_invalid_times_become_now(value: Any, expected: str | None, tmp_path: Path):
    before = datetime.now(UTC) - timedelta(seconds=1)
    path = _migrated(make_old(tmp_path / "x.db", executions=[execution(1, at=value)]))
    (row,) = rows_of(path, "executions")
    if expected is None:
        assert before < datetime.fromisoformat(row["created_at"]) < datetime.now(UTC) + timedelta(seconds=1)
    else:
        assert row["created_at"] == expected


@pytest.mark.parametrize("known", ["sha256:0123456789abcdef", f"keyed:{'0' * 32}"])
def test_a_question_that_is_already_a_hash_is_unchanged(known: str, tmp_path: Path):
    path = _migrated(make_old(tmp_path / "x.db", executions=[execution(1, at=1.0, question=known)]))
    assert [row["question_hash"] for row in rows_of(path, "executions")] == [known]
    assert rows_of(path, "clear_questions") == []


def test_duplicate_bullets_are_merged_with_all_counts(tmp_path: Path):
    path = make_old(tmp_path / "x.db")
    twice = [
        bullet(1, at=SECONDS, successes=6, failures=1, quality=0.8),
        bullet(1, at=SECONDS, successes=1, failures=2, quality=0.3),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX idx_pb_unique")
        insert_all(connection, "playbook", twice)
    (row,) = rows_of(_migrated(path), "playbook")
    assert (row["success_count"], row["fail_count"], row["quality"]) == (7, 3, 0.8)


def test_a_quality_that_does_not_fit_its_counts_is_kept(tmp_path: Path):
    inconsistent = bullet(1, at=SECONDS, successes=5, failures=5, quality=0.9)
    assert (
        rows_of(_migrated(make_old(tmp_path / "x.db", playbook=[inconsistent])), "playbook")[0]["quality"]
        == 0.9
    )


def test_reading_an_old_database_migrates_only_a_copy(tmp_path: Path):
    path = make_old(tmp_path / "x.db", executions=[execution(1, at=SECONDS)], wal=False)
    before = path.read_bytes()
    with reading(path) as connection:
        assert version(connection) == VERSION
        assert connection.execute("SELECT created_at FROM executions").fetchone()[0] == TEXT
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


def test_a_failed_migration_changes_nothing(tmp_path: Path):
    path = make_old(tmp_path / "x.db", executions=[execution(1, at=SECONDS)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE unscrubbed (x)")  # makes the last statement fail
    before = rows_of(path, "executions")
    with pytest.raises(WorkspaceError, match=r"x\.db: cannot be used \(table unscrubbed already exists\)"):
        _migrated(path)
    assert rows_of(path, "executions") == before
    with closing(sqlite3.connect(path)) as connection:
        assert version(connection) == 0
        assert "old_executions" not in tables(connection)


OPEN = """
import sys
from pathlib import Path
from coreloop.learn.knowledge.store import writing
from coreloop.base.sqlite import transaction
print("ready", flush=True)
sys.stdin.readline()
with writing(Path(sys.argv[1])) as connection, transaction(connection):
    connection.execute("INSERT INTO insights (stock_code, narrative, created_at) VALUES ('1', 'x', 'y')")
"""


@pytest.mark.slow
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_eight_simultaneous_processes_migrate_once(old: bool, tmp_path: Path):
    path = tmp_path / "x.db"
    if old:
        make_old(path, executions=[execution(n, at=SECONDS) for n in range(500)], wal=False)
    command = [sys.executable, "-c", OPEN, str(path)]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    processes = [subprocess.Popen(command, encoding="utf-8", **pipes) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 8
    assert [process.returncode for process in processes] == [0] * 8
    assert len(rows_of(path, "insights")) == 8
    assert len(rows_of(path, "executions")) == (500 if old else 0)


def test_the_clear_text_of_an_old_database_is_only_in_its_own_table(tmp_path: Path):
    path = _migrated(make_old(tmp_path / "x.db", executions=[execution(1, at=SECONDS)]))
    with writing(path) as connection:
        connection.execute("DELETE FROM executions")
        assert (
            connection.execute("SELECT count(*) FROM clear_questions").fetchone()[0] == 0
        )  # deleted along with the execution
    assert b"QUESTION1" not in bytes_of(path)
