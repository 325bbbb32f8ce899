"""The examples and figures in docs/how-to/knowledge.md are valid."""

import re
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.sqlite import BUSY_TIMEOUT_S
from coreloop.learn.knowledge.audit_analysis import improvement_bullets
from coreloop.learn.knowledge.blog import read_post
from coreloop.learn.knowledge.cleanup import RETENTION_DAYS
from coreloop.learn.knowledge.insights import MIN_ANSWER_CHARS, Insight
from coreloop.learn.knowledge.playbook import GOOD_QUALITY, GOOD_SUCCESSES, MAX_BULLET_CHARS, PRUNED_BELOW
from coreloop.learn.knowledge.store import reading

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "knowledge.md").read_text(encoding="utf-8")
NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


def _block(language: str) -> str:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(block)


def test_the_program_of_the_page_runs(tmp_path: Path):
    insight = Insight(stock_code="990168", narrative="좋다", source="live")
    names = {
        "path": tmp_path / "x.db",
        "insight": insight,
        "answer": "x" * 500,
        "now": NOW,
    }
    exec(_block("python"), names)
    assert names["refused"] is None
    assert [insight.narrative for insight in names["known"]] == ["좋다"]
    with reading(tmp_path / "x.db") as connection:
        assert connection.execute("SELECT count(*) FROM playbook").fetchone()[0] == 1


def test_the_post_of_the_page_is_valid():
    post = read_post(_block("markdown"), evidence_ref="blog:x")
    assert isinstance(post, Insight)
    assert (post.stock_code, post.data_as_of) == ("990168", "2026-03-31")
    assert post.key_metrics == {"영업이익률": 9.4, "부채비율": 41}


def test_the_headings_of_the_page_open_the_section():
    for heading in ("## 엔진 개선", "## 개선 제안", "### Engine Improvements"):
        assert heading.lstrip("# ") in " ".join(PAGE.split())
        assert improvement_bullets(f"{heading}\n- a") == ["a"]


def test_the_figures_of_the_page_match_the_constants():
    for phrase in (
        f"has {MIN_ANSWER_CHARS} characters or more",
        f"quality {GOOD_QUALITY} or more, {GOOD_SUCCESSES} successes or more",
        f"at most {MAX_BULLET_CHARS} characters",
        f"removes those below {PRUNED_BELOW}",
        f"Executions older than {RETENTION_DAYS} days are removed",
        f"waits up to {BUSY_TIMEOUT_S:.0f} seconds",
    ):
        assert phrase in " ".join(PAGE.split()), phrase
