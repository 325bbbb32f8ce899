"""What `ask` and a research share: sources, passages, citations that are computed, differing answers."""

import json
import subprocess
from pathlib import Path

import pytest

from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.run import answer, run_research
from coreloop.answer.search.index.run import index_paths
from model_stand_in import model_stand_in, streams
from researching import MOMENT, deps_in, plan, project, reflection, synthesis

RIVER = "The Han river is 494 kilometres long."
LENGTH = "How long is the Han river?"


def asked_both(folder: Path, question: str) -> list[AgentResponse]:
    with deps_in(project(folder)) as deps:
        index_paths(deps.workspace, [folder], now=MOMENT)
        return [answer(question, deps=deps), run_research(question, deps=deps)]


def written_by_a_model(folder: Path, text: str) -> AgentResponse:
    """A research whose model writes this; its reflection reports nothing."""
    with model_stand_in() as server, deps_in(project(folder), url=server.url) as deps:
        server.acts += [streams(reply) for reply in (plan("Han river length"), reflection(), synthesis(text))]
        return run_research(LENGTH, deps=deps, max_iters=1)


def test_of_two_without_a_date_git_says_which_is_newer(tmp_path: Path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    as_ = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for name, days, year in (("a", 60, 2026), ("b", 30, 2023)):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nA parcel returns within {days} days.\n")
        subprocess.run([*as_, "add", f"{name}.md"], check=True)
        subprocess.run([*as_, "commit", "-qm", "x", f"--date={year}-01-01T00:00:00Z"], check=True)
    first, _ = asked_both(tmp_path, "Within how many days does a parcel return?")
    assert first.summary.startswith("⚠ Contradiction: A parcel returns within 60 days. [1] (2026-01-01, git)")
    assert [source.published for source in first.sources] == ["2026-01-01, git", "2023-01-01, git"]


def test_a_model_need_not_cite(tmp_path: Path):
    response = written_by_a_model(tmp_path, RIVER)
    assert (response.final_answer, response.supported) == (f"{RIVER} [1]", True)


@pytest.mark.parametrize("claim", ["The moon is made of cheese.", "Cheese.", "Nobody knows."])
def test_the_questions_words_are_no_evidence_of_a_short_sentence(tmp_path: Path, claim: str):
    response = written_by_a_model(tmp_path, f"{claim} [1]")
    assert not response.supported
    assert claim not in response.final_answer


def test_a_file_that_the_text_search_misses_answers_a_research_by_its_schema(tmp_path: Path):
    settings = {"schemas": ["api.json"]}
    (tmp_path / "coreloop.yaml").write_text(json.dumps(settings), encoding="utf-8")
    schema = {"properties": {"refund_days": {"type": "integer", "description": "Days until a refund ends."}}}
    (tmp_path / "api.json").write_text(json.dumps(schema), encoding="utf-8")
    for response in asked_both(tmp_path, "What are refund_days until a refund ends?"):
        assert [source.type for source in response.sources] == ["schema"]


def test_an_answer_far_down_a_long_file_is_found(tmp_path: Path):
    said = "The alarm code of the cellar is 4711."
    pots = "\n\n".join(f"Paragraph {number} is about the kitchen and its many pots." for number in range(120))
    (tmp_path / "handbook.md").write_text(f"# Handbook\n\n{pots}\n\n{said}\n", encoding="utf-8")
    for response in asked_both(tmp_path, "What is the alarm code of the cellar?"):
        assert (response.verdict, response.final_answer.startswith(said)) == ("says so", True)
