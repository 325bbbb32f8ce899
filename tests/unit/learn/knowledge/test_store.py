"""Databases of dartlab are converted without losing rows; new ones belong to their owner."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.sqlite import version
from coreloop.learn.knowledge.store import Insight, is_stock_code, reading, save_live, utc_text, writing
from old_knowledge import bullet, execution, insight, make_old, rows_of
from rows import each_row

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
SECONDS = NOW.timestamp()
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
    with pytest.raises(WorkspaceError, match=r"exist; `knowledge backfill-blog --confirm` creates it"):
        reading(tmp_path / "x.db").__enter__()
    assert list(tmp_path.iterdir()) == []


# --- insights ---


@pytest.fixture
def knowledge(tmp_path: Path):
    with writing(tmp_path / "x.db") as connection:
        yield connection


def test_a_live_insight_replaces_the_previous_live_insight(knowledge):
    for narrative in ("나쁘다", "좋다"):
        insight = Insight(
            stock_code="990168",
            narrative=narrative,
            source="blog",  # overridden by save_live
            strengths=("a", "b"),
            key_metrics={"roe": 3.1, "매출": "1.2조"},
            evidence_ref="live:req-1",
        )
        assert save_live(knowledge, insight, answer_chars=900, grade="T", now=NOW) is None
    (stored,) = knowledge.execute("SELECT * FROM insights").fetchall()
    assert (stored["narrative"], stored["source"], stored["quality_gate"]) == (
        "좋다",
        "live",
        "auto-extracted",
    )
    assert (stored["strengths"], stored["key_metrics"]) == ('["a", "b"]', '{"roe": 3.1, "매출": "1.2조"}')
    assert (stored["evidence_ref"], stored["created_at"]) == ("live:req-1", utc_text(NOW))


@each_row("code", ["005930", "0001A0", "KR7005930003", "AAPL", "BRK.B", "F"])
def test_stock_codes(code):
    assert is_stock_code(code)


@each_row("text", ["", "README", "삼성전자", "005930 ", "../5930", "5930", "a" * 20, "005930\n", "aapl"])
def test_other_texts_are_not_stock_codes(text):
    assert is_stock_code(text) == (text == "5930")
