"""Databases of dartlab are converted without losing rows; new ones belong to their owner."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import version
from coreloop.learn.knowledge.store import reading, writing
from old_knowledge import bullet, execution, insight, make_old, rows_of

SECONDS = datetime(2026, 4, 25, 9, 30, tzinfo=UTC).timestamp()
TEXT = "2026-04-25T09:30:00+00:00"


def _converted(path: Path) -> Path:
    with writing(path):
        pass
    return path


def test_every_value_of_an_insight_and_a_bullet_is_kept(tmp_path: Path):
    known = insight(
        1, at=SECONDS, strengths='["a"]', weaknesses='["b"]', sector="식품", source="live", expires_at=SECONDS
    )
    advice = bullet(2, at=SECONDS, successes=5, failures=1, sector="식품", source="manual")
    path = _converted(make_old(tmp_path / "x.db", insights=[known], playbook=[advice]))
    times = {"created_at": TEXT, "expires_at": TEXT}
    added = {"key_metrics": "{}", "data_as_of": "", "evidence_ref": "", "quality_gate": ""}
    assert rows_of(path, "insights") == [{"id": 1, **known, **times, **added}]
    assert rows_of(path, "playbook") == [{"id": 1, **advice, "created_at": TEXT, "last_used": TEXT}]


def test_reading_an_old_database_converts_only_a_copy(tmp_path: Path):
    path = make_old(tmp_path / "x.db", executions=[execution(1, at=SECONDS)], wal=False)
    before = path.read_bytes()
    with reading(path) as connection:
        assert version(connection) == 1
        assert connection.execute("SELECT created_at FROM executions").fetchone()[0] == TEXT
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


def test_the_error_for_an_absent_file_names_the_command_that_creates_it(tmp_path: Path):
    with pytest.raises(WorkspaceError, match=r"does not exist; `backfill-blog --confirm` creates it"):
        reading(tmp_path / "x.db").__enter__()
    assert list(tmp_path.iterdir()) == []
