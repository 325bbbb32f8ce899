"""Posts become insights: what is read, what is skipped and why, and the effect of a second run."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.knowledge.blog import (
    Backfill,
    Post,
    SkippedPost,
    blog_insights,
    compare,
    find_posts,
    read_post,
    reference,
    save,
    upsert_ai_frontmatter_to_insights,
)
from coreloop.learn.knowledge.front_matter import Malformed
from coreloop.learn.knowledge.insights import Insight, InsightSource
from coreloop.learn.knowledge.store import reading, writing
from rows import each_row

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
EXAMPLES = Path(__file__).parents[4] / "examples" / "knowledge"
FULL = """---
title: 들찬푸드
stockCode: 035720
sector: 식품
ai:
  verdict: >-
    마진이
    돌아왔다.
  narrative: 쓰이지 않는다
  strengths: [간편식, 순현금]
  weaknesses:
    - 내수 의존
  keyMetrics: {영업이익률: 9.4, 부채비율: 41, 순이익: "1.2조", 성장: -5.8, 없음: ~, 큰수: 1e999}
  dataAsOf: 2026-03-31
---
# 본문
"""


def _read(text: str) -> Insight | SkippedPost | Malformed:
    return read_post(text, evidence_ref="blog:blog/a/index.md")


def _post(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "text"])


def test_every_key_is_read():
    assert _read(FULL) == Insight(
        stock_code="035720",
        narrative="마진이 돌아왔다.",
        strengths=("간편식", "순현금"),
        weaknesses=("내수 의존",),
        sector="식품",
        source="blog",
        key_metrics={"영업이익률": 9.4, "부채비율": 41, "순이익": "1.2조", "성장": -5.8, "큰수": "1e999"},
        data_as_of="2026-03-31",
        evidence_ref="blog:blog/a/index.md",
        quality_gate="human-approved",
    )


def test_windows_line_endings_make_no_difference():
    assert _read(FULL.replace("\n", "\r\n")) == _read(FULL)


def test_a_narrative_replaces_an_absent_verdict_and_keys_may_be_in_snake_case():
    insight = _read(
        _post("stock_code: AAPL", "ai:", "  narrative: ok", "  key_metrics: {a: 1}", "  data_as_of: 2026Q1")
    )
    assert isinstance(insight, Insight)
    assert (insight.stock_code, insight.narrative, insight.key_metrics, insight.data_as_of) == (
        "AAPL",
        "ok",
        {"a": 1},
        "2026Q1",
    )


@each_row(
    ("text", "reason"),
    [
        ("# no front matter", "no front matter"),
        (_post("title: x"), "no ai block"),
        (_post("ai: {verdict: x}"), "no stockCode"),
        (_post("ai: {verdict: x}", "stockCode:"), "no stockCode"),
        (_post("ai: {verdict: x}", "stockCode: ''"), "no stockCode"),
        (_post("ai:", "stockCode: '005930'"), "no verdict and no narrative"),
        (_post("ai: {verdict: ' ', narrative: ~}", "stockCode: '005930'"), "no verdict and no narrative"),
    ],
)
def test_a_post_without_an_insight_is_skipped_with_what_it_lacks(text: str, reason: str):
    assert _read(text) == SkippedPost(reason)


@each_row(
    ("text", "line", "reason"),
    [
        (_post("title: a: b"), 2, "mapping values are not allowed here"),
        (_post("ai: text"), 2, "ai must be a mapping"),
        (_post("ai: {verdict: x}", "stockCode: 삼성전자"), 3, "stockCode '삼성전자' is not a stock code"),
        (_post("ai: {verdict: x}", "stockCode: [1]"), 3, "stockCode must be a single value"),
        (_post("stockCode: '005930'", "ai:", "  verdict: {a: 1}"), 4, "verdict must be a single value"),
        (
            _post("stockCode: '005930'", "ai:", "  verdict: x", "  strengths: [[1]]"),
            5,
            "an entry of strengths",
        ),
        (
            _post("stockCode: '005930'", "ai:", "  verdict: x", "  keyMetrics: [1]"),
            5,
            "keyMetrics must be a mapping",
        ),
        (
            _post("stockCode: '005930'", "ai:", "  verdict: x", "  keyMetrics:", "    a: {b: 1}"),
            6,
            "keyMetrics 'a' must be a single value",
        ),
    ],
)
def test_an_unreadable_post_is_reported_with_its_line(text: str, line: int, reason: str):
    malformed = _read(text)
    assert isinstance(malformed, Malformed)
    assert (malformed.line, reason in malformed.reason) == (line, True), malformed


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


def _backfill(project: Workspace, *, confirm: bool = True, glob: str = "**/index.md") -> Backfill:
    root = project.root / "blog"
    posts = find_posts(root, glob, project=project.root)
    with writing(project.knowledge_file) as connection:
        backfill = compare(posts, blog_insights(connection), root=root, project=project.root)
        if confirm:
            save(connection, (*backfill.new, *backfill.edited), now=NOW)
    return backfill


def _known(project: Workspace) -> list[Insight]:
    with reading(project.knowledge_file) as connection:
        return blog_insights(connection)


def _sizes(backfill: Backfill) -> dict[str, int]:
    return {name: len(getattr(backfill, name)) for name in Backfill.__slots__ if getattr(backfill, name)}


def test_a_second_run_changes_nothing(project: Workspace):
    for name in "abc":
        _write(project, name)
    assert _sizes(_backfill(project)) == {"new": 3}
    before = _known(project)
    assert _sizes(_backfill(project)) == {"same": 3}
    assert _known(project) == before
    assert [insight.evidence_ref for insight in before] == [f"blog:blog/{name}/index.md" for name in "abc"]


def test_an_edited_post_updates_its_row(project: Workspace):
    _write(project, "a")
    _write(project, "b")
    _backfill(project)
    _write(project, "a", verdict="나쁘다", code="990021")
    assert _sizes(_backfill(project)) == {"edited": 1, "same": 1}
    assert [(insight.stock_code, insight.narrative) for insight in _known(project)] == [
        ("990021", "나쁘다"),
        ("990168", "좋다"),
    ]


@pytest.mark.parametrize("how", ["deleted", "renamed", "emptied"])
def test_the_row_of_a_post_without_an_insight_is_reported_and_kept(how: str, project: Workspace):
    path = _write(project, "a")
    _backfill(project)
    if how == "deleted":
        path.unlink()
    elif how == "renamed":
        path.parent.rename(path.parent.with_name("b"))
    else:
        path.write_text("# no front matter now")
    backfill = _backfill(project)
    assert [insight.evidence_ref for insight in backfill.gone] == ["blog:blog/a/index.md"]
    assert len(backfill.new) == (how == "renamed")
    assert "blog:blog/a/index.md" in {insight.evidence_ref for insight in _known(project)}


def test_posts_of_another_blog_or_outside_the_pattern_are_not_reported_as_gone(project: Workspace):
    _write(project, "a")
    _write(project, "b")
    elsewhere = Insight(stock_code="1", narrative="x", source="blog", evidence_ref="blog:news/a/index.md")
    neighbour = Insight(stock_code="1", narrative="x", source="blog", evidence_ref="blog:blog2/a/index.md")
    with writing(project.knowledge_file) as connection:
        save(connection, [Post(Path("x"), insight) for insight in (elsewhere, neighbour)], now=NOW)
    _backfill(project)
    assert _sizes(_backfill(project, glob="a/*.md")) == {"same": 1}


def test_a_malformed_post_does_not_stop_the_others(project: Workspace):
    _write(project, "b")
    broken = _write(project, "a")
    broken.write_text("---\ntitle: a: b\n---\n")
    backfill = _backfill(project)
    assert _sizes(backfill) == {"new": 1, "malformed": 1}
    assert backfill.malformed[0].path == broken


def test_the_row_of_a_malformed_post_is_kept_and_not_reported_as_gone(project: Workspace):
    path = _write(project, "a")
    _backfill(project)
    path.write_text("---\ntitle: a: b\n---\n")
    assert _sizes(_backfill(project)) == {"malformed": 1}
    assert len(_known(project)) == 1


def test_a_file_that_is_not_utf_8_is_reported_with_its_line(project: Workspace):
    path = _write(project, "a")
    path.write_bytes("---\ntitle: x\nsector: 식품\n---\n".encode("euc-kr"))
    (post,) = _backfill(project).malformed
    assert post.content == Malformed(3, "is not UTF-8")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can read everything")
def test_a_file_without_read_permission_is_malformed(project: Workspace):
    _write(project, "a").chmod(0)
    assert "cannot be read" in str(_backfill(project).malformed[0].content)


@pytest.mark.skipif(os.name != "posix", reason="needs a name of bytes")
def test_a_path_that_is_not_utf_8_is_malformed(project: Workspace):
    path = _write(project, "a")
    path.parent.rename(path.parent.with_name(os.fsdecode(b"a\xff")))
    (post,) = _backfill(project).malformed
    assert post.content == Malformed(1, "its path is not UTF-8; rename it")


def test_a_lone_surrogate_in_a_post_does_not_stop_the_others(project: Workspace):
    _write(project, "a", verdict='"\\ud83d", keyMetrics: {"\\ud83d": 1}')
    _write(project, "b")
    assert _sizes(_backfill(project)) == {"new": 2}
    assert _sizes(_backfill(project)) == {"same": 2}
    assert _known(project)[0].narrative == "?"


def test_only_files_are_posts_in_order_of_their_paths(project: Workspace):
    for name in "ba":
        _write(project, name)
    (project.root / "blog" / "c" / "index.md").mkdir(parents=True)
    posts = find_posts(project.root / "blog", "**/index.md", project=project.root)
    assert [post.path.parent.name for post in posts] == ["a", "b"]


@pytest.mark.parametrize("pattern", ["", "/abs/*.md"])
def test_an_invalid_pattern_is_refused(pattern: str, project: Workspace):
    _write(project, "a")
    with pytest.raises(UsageError, match=r"--glob .* is not a valid pattern; write for example"):
        find_posts(project.root / "blog", pattern, project=project.root)


def test_an_absent_blog_is_refused(project: Workspace):
    with pytest.raises(WorkspaceError, match="is not a folder; pass the blog's folder with --blog-root"):
        find_posts(project.root / "nowhere", "*", project=project.root)


def test_a_reference_is_relative_to_the_project_or_absolute(tmp_path: Path):
    assert reference(InsightSource.BLOG, tmp_path / "블로그" / "a b.md", tmp_path) == "blog:블로그/a b.md"
    outside = tmp_path / "other" / "a.md"
    assert reference(InsightSource.BLOG, outside, tmp_path / "project") == f"blog:{outside.as_posix()}"


def test_posts_outside_the_project_are_recognized_again(
    project: Workspace, tmp_path_factory: pytest.TempPathFactory
):
    blog = tmp_path_factory.mktemp("elsewhere")
    (blog / "index.md").write_text(_post("stockCode: '990168'", "ai: {verdict: x}"))
    for expected in ({"new": 1}, {"same": 1}):
        posts = find_posts(blog, "*.md", project=project.root)
        with writing(project.knowledge_file) as connection:
            backfill = compare(posts, blog_insights(connection), root=blog, project=project.root)
            save(connection, backfill.new, now=NOW)
        assert _sizes(backfill) == expected
    (blog / "index.md").unlink()
    assert _sizes(compare([], _known(project), root=blog, project=project.root)) == {"gone": 1}


# --- a publisher's hook ----------------------------------------------------------------------------


def test_the_hook_and_the_backfill_write_the_same_row(project: Workspace, monkeypatch: pytest.MonkeyPatch):
    path = _write(project, "a")
    monkeypatch.chdir(path.parent)
    written = upsert_ai_frontmatter_to_insights("index.md")
    assert isinstance(written, Insight)
    assert _sizes(_backfill(project)) == {"same": 1}
    _write(project, "a", verdict="나쁘다")
    upsert_ai_frontmatter_to_insights(path, project=project.root)
    assert [insight.narrative for insight in _known(project)] == ["나쁘다"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("# x", SkippedPost("no front matter")),
        ("---\na: b: c\n---", Malformed(2, "is not YAML: mapping values are not allowed here")),
    ],
)
def test_the_hook_says_why_nothing_was_written(text: str, outcome, project: Workspace):
    path = _write(project, "a")
    path.write_text(text)
    assert upsert_ai_frontmatter_to_insights(path, project=project.root) == outcome
    assert not project.knowledge_file.exists()


def test_the_hook_reports_an_absent_post(project: Workspace):
    outcome = upsert_ai_frontmatter_to_insights(project.root / "x.md", project=project.root)
    assert outcome == Malformed(1, "cannot be read (No such file or directory)")


# --- the example -----------------------------------------------------------------------------------


def test_all_posts_of_the_example_are_read():
    posts = find_posts(EXAMPLES / "blog", "**/index.md", project=EXAMPLES)
    backfill = compare(posts, [], root=EXAMPLES / "blog", project=EXAMPLES)
    assert _sizes(backfill) == {"new": 31, "skipped": 4}
    reasons = {post.content.reason for post in backfill.skipped if isinstance(post.content, SkippedPost)}
    assert reasons == {"no front matter", "no ai block", "no stockCode", "no verdict and no narrative"}
    insights = [post.content for post in backfill.new if isinstance(post.content, Insight)]
    assert all(insight.sector and insight.data_as_of for insight in insights)
    assert len({insight.stock_code for insight in insights}) == 30
