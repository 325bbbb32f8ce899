"""Health: alarms with what to do, from records to merges, where things fall, and what failures cost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.answer.repair.store import AnswerRow
from coreloop.base.project.workspace import open_workspace
from coreloop.web.pages.health import HEALTH
from coreloop.web.pages.page_data import PageSource, open_source
from logs import call, failed, on_days, record, repeated
from merging import open_promotion, promote, revert
from promoting import Project, candidate, make_project, write_candidates
from showing import log_of, page, table, words_of

LOOPED = repeated(3, provider="openai")


@pytest.fixture
def source(tmp_path: Path, quiet_git: None) -> Iterator[PageSource]:
    """A project without records, git and a forge."""
    with open_source(open_workspace(tmp_path), {}) as source:
        yield source


@pytest.fixture
def project(tmp_path: Path, quiet_git: None) -> Project:
    """A project under git with one candidate."""
    return make_project(tmp_path)


@pytest.fixture
def cloned(project: Project) -> Iterator[PageSource]:
    """What pages read of it, without an address of a forge."""
    (project.root / "coreloop.yaml").write_text("{}\n")
    with open_source(open_workspace(project.root), {}) as source:
        yield source


def falls(html: str) -> dict[tuple[str, str], int]:
    """How many fell, by stage and reason."""
    rows = table(html, "What was left out")
    return {(stage, said.partition("\n")[0]): int(n.replace(",", "")) for stage, n, said in rows}


def funnel(html: str) -> dict[str, int]:
    return {stage: int(n.replace(",", "")) for stage, n in table(html, "From records to merges")}


def rows(html: str, label: str) -> dict[str, list[str]]:
    return {first: rest for first, *rest in table(html, label)}


@pytest.mark.parametrize("has_folder", [False, True], ids=["no folder", "empty folder"])
def test_without_records_the_page_says_how_to_begin(source: PageSource, has_folder: bool):
    if has_folder:
        source.workspace.records_dir.mkdir(parents=True)
    assert "dartlab-coreloop demo --out demo" in words_of(page(source, HEALTH))


def test_where_things_fall_and_why(source: PageSource):
    log_of(
        source,
        record(),
        record(tool_calls=[failed(error="Too many requests")], error="Too many requests"),
        record(category_hash="A", tool_calls=[call("scan")]),
    )
    with source.workspace.records_dir.joinpath("2026-04-25.jsonl").open("ab") as file:
        file.write(b'{"torn\n')
    write_candidates(
        source.workspace.candidates_dir / "2026-04-25-candidates.json",
        candidate(suggested_append=None, refused="weak: as good as the rest"),
    )
    html = page(source, HEALTH)
    assert falls(html) == {
        ("Records", "neither success nor failure"): 1,
        ("Sequences", "too few requests"): 2,
        ("Proposals", "the evidence is weak"): 1,
    }
    assert "record more, or run pattern with a lower --min-repeat" in html
    assert funnel(html) == {"Records": 3, "Sequences": 2, "Proposals": 1, "Proposals with a text": 0}


def test_calls_that_are_unknown_or_only_read_like_failures_are_shown_apart(source: PageSource):
    refused = call("f", ok=None, unknown="refused by a person")
    guessed = {**failed("f"), "unknown": "reads like a failure"}
    log_of(source, *on_days(record(tool_calls=[made]) for made in (refused, guessed, call("f"))))
    shown = falls(page(source, HEALTH))
    assert shown["Calls", "unknown whether they worked: refused by a person"] == 1
    assert shown["Calls", "failed, but only read like failures"] == 1


def test_the_funnel_ends_in_merges_and_reverts_are_counted(cloned: PageSource, project: Project):
    log_of(cloned, *on_days(LOOPED))
    promote(project, "0000000000000001")
    revert(project, promote(project, "0000000000000002"))
    open_promotion(project, "0000000000000003")
    project.git("push", "--quiet", "origin", "main")
    html = page(cloned, HEALTH)
    assert (funnel(html)["Pull requests"], funnel(html)["Merged"]) == (3, 1)
    assert "1 reverted" in words_of(html)
    assert "1 open, the oldest of" in words_of(html)


def test_questions_and_open_gaps_are_counted_without_records(source: PageSource):
    assert "open gaps" not in words_of(page(source, HEALTH))
    source.tables.keep_answer(AnswerRow(run_id="a", ended_at=source.now))
    source.tables.open_gap(topic="Who?", file="", symbol="", reason="search_miss", now=source.now)
    assert "Questions: 1; open gaps: 1" in words_of(page(source, HEALTH))
