"""Posts become insights: what is read, what is skipped and why, and the effect of a second run."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.knowledge.blog import Backfill, NoInsight, backfill_blog, read_post
from coreloop.learn.knowledge.store import Insight
from old_knowledge import rows_of
from rows import each_row

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


def _read(text: str) -> Insight | NoInsight:
    return read_post(text, evidence_ref="blog:blog/a/index.md")


def _post(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "text"])


@each_row(
    ("text", "reason"),
    [
        ("# no front matter", "no front matter"),
        (_post("title: x"), "no ai block"),
        (_post("ai: {verdict: x}"), "no stockCode"),
        (_post("ai: {verdict: x}", "stockCode:"), "no stockCode"),
        (_post("ai:", "stockCode: '005930'"), "no verdict and no narrative"),
        (_post("ai: {verdict: ' ', narrative: ~}", "stockCode: '005930'"), "no verdict and no narrative"),
    ],
)
def test_a_post_without_an_insight_is_skipped_with_what_it_lacks(text: str, reason: str):
    assert _read(text) == NoInsight(reason)


@each_row(
    ("text", "line", "reason"),
    [
        (_post("title: a: b"), 2, "mapping values are not allowed here"),
        ("---\na: 1\n", 1, "the front matter has no closing ---"),
        (_post("a: 1", "", "b: [1, 2"), 4, "expected ',' or ']'"),
        (_post("a: \x07"), 1, "a character that YAML does not allow"),
        (f"---\na: {'[' * 5000}\n---\n", 1, "nested too deeply"),
        (_post("a: !!python/object/apply:os.system ['x']"), None, "no ai block"),
        (_post("ai: text"), 1, "ai must be a mapping"),
        (_post("ai: {verdict: x}", "stockCode: 삼성전자"), 1, "stockCode '삼성전자' is not a stock code"),
        (_post("stockCode: '005930'", "ai:", "  verdict: {a: 1}"), 1, "verdict must be a single value"),
        (
            _post("stockCode: '005930'", "ai: {verdict: x, strengths: [[1]]}"),
            1,
            "an entry of strengths must be a single value",
        ),
        (
            _post("stockCode: '005930'", "ai: {verdict: x, keyMetrics: {a: {b: 1}}}"),
            1,
            "keyMetrics 'a' must be a single value",
        ),
    ],
)
def test_an_unreadable_post_is_reported(text: str, line: int | None, reason: str):
    unread = _read(text)
    assert isinstance(unread, NoInsight)
    assert (unread.line, reason in unread.reason) == (line, True), unread


def test_exponentially_growing_aliases_are_refused():
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    text = _post(*lines, "stockCode: '005930'", "ai: {verdict: x, strengths: *a39}")
    assert _read(text) == NoInsight("an entry of strengths must be a single value", 1)


# --- a folder of posts -----------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    (tmp_path / "coreloop.yaml").write_text("data_dir: data\n")
    return open_workspace(tmp_path)


def _write(project: Workspace, name: str, verdict: str = "좋다", code: str = "990168") -> Path:
    path = project.root / "blog" / name / "index.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = _post(f"stockCode: '{code}'", f"ai: {{verdict: {verdict}}}")
    path.write_text(text, encoding="utf-8")
    return path


def _backfill(project: Workspace) -> Backfill:
    return backfill_blog(
        project.root / "blog", project=project.root, database=project.knowledge_file, confirm=True, now=NOW
    )


def _sizes(backfill: Backfill) -> dict[str, int]:
    return {name: len(posts) for name, posts in backfill.items() if posts}


def test_a_file_that_is_not_utf_8_is_reported_with_its_line(project: Workspace):
    path = _write(project, "a")
    path.write_bytes("---\ntitle: x\nsector: 식품\n---\n".encode("euc-kr"))
    (content,) = _backfill(project)["malformed"].values()
    assert content == NoInsight("is not UTF-8", 3)


def test_a_lone_surrogate_in_a_post_does_not_stop_the_others(project: Workspace):
    _write(project, "a", verdict='"\\ud83d", keyMetrics: {"\\ud83d": 1}')
    _write(project, "b")
    assert _sizes(_backfill(project)) == {"new": 2}
    assert _sizes(_backfill(project)) == {"same": 2}
    assert rows_of(project.knowledge_file, "insights")[0]["narrative"] == "?"
