"""Whole researches: offline over an index, and with a model behind a real HTTP server."""

from pathlib import Path

import pytest

from coreloop.answer.research.research_state import knowledge_of
from coreloop.answer.research.run import run_research
from coreloop.answer.search.provider import Empty, Found
from coreloop.base.errors import UsageError
from coreloop.runs.manage import read_run
from model_stand_in import answers, model_stand_in, streams
from researching import ScriptedProvider, deps_in, plan, project, reflection, source, synthesis

RIVER = "The Han river is 494 kilometres long."


def test_no_total_is_exceeded_whatever_is_found(tmp_path: Path):
    few = Found((source("one", "https://1.example"), source("two", "https://2.example")))
    provider = ScriptedProvider(Empty(), few, Empty())
    with deps_in(project(tmp_path), provider=provider) as deps:
        question = "Why did prices rise, and who said so, and when was it?"
        response = run_research(question, deps=deps, max_queries=4, max_sources=1)
        state = read_run(deps.store, None)
    assert len(provider.queries) == response.usage.queries <= 4
    assert len(state.read_sources) == 1


def test_a_simple_research_keeps_sources_for_its_second_iteration(tmp_path: Path):
    pages = {f"{number}.md": f"# Page {number}\n\nAn account has {number} names.\n" for number in range(5)}
    pages["buttons.md"] = "# Buttons\n\nThe red button removes an account for ever.\n"
    for number in range(5):
        pages[f"text{number}.md"] = f"# Text {number}\n\nWords delete nothing; delete them {number} times.\n"
    with deps_in(project(tmp_path, pages)) as deps:
        response = run_research("How do I delete an account?", deps=deps)
        sources = knowledge_of(read_run(deps.store, None)).sources
    assert (2, "docs/buttons.md") in [(read.iteration, read.source.location) for read in sources]
    assert response.iterations == 2


def test_an_exhaustive_research_needs_a_model(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps, pytest.raises(UsageError, match="CORELOOP_MODEL"):
        run_research("How long is the Han river?", deps=deps, exhaust=True)


@pytest.mark.slow
def test_a_model_that_is_busy_is_asked_again_when_it_says(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        server.acts += [
            answers(429, {"error": {"message": "slow down"}}, retry_after="0"),
            streams(plan("Han river length")),
            answers(503, {"error": {"message": "overloaded"}}, retry_after="0"),
            streams(reflection({"text": RIVER, "sources": ["[1]"], "answers": ["q1"]})),
            streams(synthesis(f"{RIVER} [1]")),
        ]
        response = run_research("How long is the Han river?", deps=deps)
        errors = [error["error"] for error in read_run(deps.store, None).error_log]
    assert response.final_answer == f"{RIVER} [1]"
    assert [("429" in error, "503" in error) for error in errors] == [(True, False), (False, True)]
