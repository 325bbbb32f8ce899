"""Runs: what they did, answers whose numbers lead to the sentence in its source, limits, buttons."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from coreloop.answer.deps import open_deps
from coreloop.answer.research.research_state import MENDED, Request
from coreloop.answer.research.run import begin_research, run_research
from coreloop.base.errors import RunEndedError
from coreloop.runs.driver.driven_run import begin_driven
from coreloop.runs.events import Noted
from coreloop.web.pages.page_data import PageSource, open_source
from coreloop.web.pages.render import Frame, render
from coreloop.web.pages.runs import RUNS, passage_of, read_one, read_runs
from researching import project
from rows import each_row
from showing import words_of

QUESTION = "How long is the Han river?"


@pytest.fixture
def source(tmp_path: Path) -> Iterator[PageSource]:
    workspace = project(tmp_path)
    with open_source(workspace, {}) as source:
        yield source


def page(source: PageSource, run_id: str, **frame: bool) -> str:
    view = read_one(source, run_id)
    assert view is not None
    return render(RUNS.item, Frame(section="runs", **frame), view)


def press(source: PageSource, button: str, run_id: str) -> None:
    assert RUNS.actions[button].run(source, {"id": run_id}, "") == ("runs", run_id)


def test_a_number_leads_to_the_sentence_in_its_source(source: PageSource):
    with open_deps(source.workspace, source.runs, {}) as deps:
        run_id = run_research(QUESTION, deps=deps).run_id
    view = read_one(source, run_id)
    assert view is not None
    [line] = [re.split(r"(\[\d+\])", line) for line in view["answer"].splitlines() if "[" in line]
    number = line[1]
    shown = page(source, run_id)
    assert f'<a href="#source-{number[1:-1]}">{number}</a>' in shown
    (sentence,) = [passages[0][1] for read, passages in view["cited"] if f"[{read.number}]" == number]
    assert line[0].strip().endswith(sentence)
    assert f"<mark>{sentence}</mark>" in shown
    did = f"searched Han river: 2 results .* found {sentence} .* decided it has enough"
    assert re.search(did, words_of(shown))
    later = Noted(at=source.now + timedelta(hours=1), name=MENDED, data="")
    source.runs.append(run_id, [later], after=source.runs.newest([run_id])[run_id])
    assert dict(row[:2] for row in read_one(source, run_id)["spent"])["seconds of work"] < 60  # type: ignore[index]


def test_a_run_that_goes_on_has_buttons_and_a_list_that_grows(source: PageSource):
    with open_deps(source.workspace, source.runs, {}) as deps:
        run_id = begin_research(QUESTION, Request(), deps)
    shown = page(source, run_id, may_run=True)
    assert f'data-events="/runs/{run_id}/events"' in shown
    assert "/ui/runs/stop" in shown
    assert "/ui/runs/stop" not in page(source, run_id)
    press(source, "pause", run_id)
    assert "/ui/runs/resume" in page(source, run_id, may_run=True)
    press(source, "resume", run_id)
    assert [job.name for job in source.queue.jobs()] == ["run.research"]
    press(source, "stop", run_id)
    ended = page(source, run_id, may_run=True)
    assert "data-events" not in ended
    assert "/ui/runs/stop" not in ended
    with pytest.raises(RunEndedError):
        press(source, "stop", run_id)


def test_a_driven_run_shows_its_command_and_its_prompt_as_title_and_heading_only(source: PageSource):
    (source.workspace.root / "PROMPT.md").write_text("# Mend the failing tests\n", encoding="utf-8")
    state = begin_driven(
        source.workspace,
        source.runs,
        ("sh", "-c", "echo a b"),
        folder=source.workspace.root,
        prompt=Path("PROMPT.md"),
        max_iterations=1,
        now=source.now,
    )
    shown = page(source, state.run_id)
    assert "<code>sh -c &#39;echo a b&#39;</code>" in shown
    assert shown.count("Mend the failing tests") == 2


def test_the_list_has_no_questions_in_a_report(source: PageSource):
    with open_deps(source.workspace, source.runs, {}) as deps:
        run_research(QUESTION, deps=deps)
    view = read_runs(source)
    assert QUESTION in render("runs.html", Frame(section="runs"), view)
    assert QUESTION not in render("runs.html", Frame(section="runs", root=""), view)


@each_row(
    ("claim", "text", "found"),
    [
        ("b c", "a b c d", ("a ", "b c", " d")),
        ("b c", "a b\n  c d", ("a ", "b\n  c", " d")),
        ("…b c", "a b c d", ("a ", "b c", " d")),
        ("b.* c", "a b c", ("", "", "a b c")),
        ("", "a", ("", "", "a")),
        ("값은 3", "그 값은 3이다", ("그 ", "값은 3", "이다")),
    ],
)
def test_a_passage_is_found_across_line_breaks(claim: str, text: str, found: tuple[str, str, str]):
    assert passage_of(claim, text) == found
