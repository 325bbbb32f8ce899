"""The gate for live insights, and the order of recall."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.learn.knowledge.insights import (
    Insight,
    blog_insights,
    is_stock_code,
    recall,
    save_by_evidence,
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
    (stored,) = recall(knowledge, now=NOW)
    assert (stored.narrative, stored.source, stored.quality_gate) == ("좋다", "live", "auto-extracted")
    assert (stored.strengths, stored.key_metrics) == (("a", "b"), {"roe": 3.1, "매출": "1.2조"})
    assert (stored.evidence_ref, stored.created_at) == ("live:req-1", utc_text(NOW))


def test_blog_comes_before_audit_before_live_and_the_newest_first(knowledge):
    for hours, source in enumerate(["live", "blog", "audit", "blog", "other"]):
        insight = Insight(stock_code="990168", narrative=str(hours), source=source, evidence_ref=str(hours))
        save_by_evidence(knowledge, insight, now=NOW + timedelta(hours=hours))
    assert [insight.narrative for insight in recall(knowledge, stock_code="990168", now=NOW)] == list("31204")


def test_expired_insights_are_not_recalled(knowledge):
    for seconds, narrative in ((-1, "expired"), (0, "just expired"), (1, "valid")):
        expires = utc_text(NOW + timedelta(seconds=seconds))
        insight = Insight(
            stock_code="990168",
            narrative=narrative,
            source="blog",
            evidence_ref=narrative,
            expires_at=expires,
        )
        save_by_evidence(knowledge, insight, now=NOW)
    assert [insight.narrative for insight in recall(knowledge, stock_code="990168", now=NOW)] == ["valid"]
    assert len(blog_insights(knowledge)) == 3


@pytest.mark.parametrize(
    ("sector", "expected"), [("식품", "12"), ("food", "3"), ("FOOD", "3"), ("%", ""), ("x", "")]
)
def test_a_sector_is_matched_by_a_part_of_its_name(sector, expected, knowledge):
    for number, name in enumerate(["식품", "식품·음료", "Food"], 1):
        insight = Insight(
            stock_code=f"99000{number}", narrative=str(number), sector=name, source="blog", evidence_ref=name
        )
        save_by_evidence(knowledge, insight, now=NOW)
    narratives = {insight.narrative for insight in recall(knowledge, sector=sector, now=NOW)}
    assert narratives == set(expected)


@each_row("code", ["005930", "0001A0", "KR7005930003", "AAPL", "BRK.B", "F"])
def test_stock_codes(code):
    assert is_stock_code(code)


@each_row("text", ["", "README", "삼성전자", "005930 ", "../5930", "5930", "a" * 20, "005930\n", "aapl"])
def test_other_texts_are_not_stock_codes(text):
    assert is_stock_code(text) == (text == "5930")
