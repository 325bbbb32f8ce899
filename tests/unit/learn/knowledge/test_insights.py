"""The gate for live insights, and what is stored."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.learn.knowledge.insights import (
    Insight,
    is_stock_code,
    save_live,
)
from coreloop.learn.knowledge.store import utc_text, writing
from rows import each_row

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


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
