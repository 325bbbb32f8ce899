"""Databases of dartlab are migrated completely or not at all, without losing rows."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.sqlite import columns, version
from coreloop.learn.knowledge.schema import VERSION
from coreloop.learn.knowledge.store import reading, writing
from old_knowledge import bullet, execution, insight, make_old, rows_of

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


def test_the_tables_have_the_columns_of_the_documents(tmp_path: Path):
    with writing(tmp_path / "x.db") as connection:
        for table, names in COLUMNS.items():
            assert columns(connection, table) == names.split()
        assert version(connection) == VERSION


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


def test_reading_an_old_database_migrates_only_a_copy(tmp_path: Path):
    path = make_old(tmp_path / "x.db", executions=[execution(1, at=SECONDS)], wal=False)
    before = path.read_bytes()
    with reading(path) as connection:
        assert version(connection) == VERSION
        assert connection.execute("SELECT created_at FROM executions").fetchone()[0] == TEXT
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
