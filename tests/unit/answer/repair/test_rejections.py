"""A rejection lasts until a person or other evidence says otherwise; its reason is used and shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from coreloop.answer.deps import Deps
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.repair.feedback import give_feedback, mending_job, read_notice
from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.repair.store import open_repair_store
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.research_state import knowledge_of
from coreloop.answer.research.run import answer, run_research
from coreloop.answer.research.verify import REJECTED
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.jobs.work import work_on_jobs
from coreloop.runs.load import load_run
from model_stand_in import model_stand_in, streams
from repairing import RETURN_QUESTION, limit_paths, shop, shop_deps
from researching import MOMENT, deps_in, plan, project, reflection, synthesis
from walking import LENGTH, PARTS, SEOUL, finding, walk_in

LENGTH_QUESTION = PARTS[0]
SAME_QUESTION = "within how many days can a parcel be returned"


def reject(deps: Deps, answered: AgentResponse, reason: str = "") -> AgentResponse | None:
    given = give_feedback(deps, answered.run_id, "down", reason=reason)
    work_on_jobs(deps.queue, all_handlers(deps), [mending_job(deps, answered.run_id, given.mended_by).id])
    return read_notice(deps, answered.run_id).answer


def write(folder: Path, name: str, text: str) -> None:
    (folder / "docs" / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("again", [RETURN_QUESTION, SAME_QUESTION], ids=["same", "other words"])
def test_a_rejected_sentence_is_never_marked_again(again: str, tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        assert reject(deps, answer(RETURN_QUESTION, deps=deps)) is None
        (gap,) = deps.tables.gaps()
        found = answer(again, deps=deps)
        assert (found.supported, found.end) == (False, "nothing_said_so")
        assert not any(passage.end for passage in found.passages)
        assert gap.id in {left.id for left in deps.tables.gaps()}


@pytest.mark.parametrize(("wrong", "right"), [("30", "60"), ("60", "30")])
def test_the_reason_says_which_side_of_a_contradiction_is_rejected(wrong: str, right: str, tmp_path: Path):
    limit_paths(tmp_path, "docs")
    with shop_deps(shop(tmp_path)) as deps:
        write(tmp_path, "new.md", "# Since May\n\nA parcel can be returned within 60 days after delivery.\n")
        both = answer(RETURN_QUESTION, deps=deps)
        assert "Contradiction" in both.final_answer
        reason = f"A parcel can be returned within {wrong} days after delivery: superseded"
        left = reject(deps, both, reason)
    assert left is not None
    assert f"{right} days" in left.final_answer
    assert f"{wrong} days" not in left.final_answer


def test_no_research_believes_a_rejected_sentence(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        reject(deps, answer(LENGTH_QUESTION, deps=deps))
        found = run_research(LENGTH_QUESTION, deps=deps, max_iters=2)
        state = load_run(deps.store, found.run_id)[0].state
        assert (state.status, [part.findings for part in state.sub_questions]) == ("stopped", [[]])
        assert "494" not in found.final_answer


@pytest.mark.parametrize("said", ["Its length is 494 kilometres.", LENGTH])
def test_no_model_brings_a_rejected_sentence_back(said: str, tmp_path: Path):
    finding = {"text": said, "sources": ["[1]"], "answers": ["q1"]}
    replies = [plan("Han river length", tier="simple"), *[reflection(finding, sufficient=True)] * 2]
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        offline = replace(deps, ladder=Ladder([]))
        reject(offline, answer(LENGTH_QUESTION, deps=offline))
        server.acts += [streams(reply) for reply in (*replies, synthesis(f"{said} [1]"))]
        found = run_research(LENGTH_QUESTION, deps=deps, max_iters=2)
        state = load_run(deps.store, found.run_id)[0].state
    assert (state.status, state.stop_reason) == ("stopped", "max_iterations")
    assert {claim.reason for claim in knowledge_of(state).dropped} == {REJECTED}
    assert "494" not in found.final_answer


@pytest.mark.parametrize(
    "quote",
    [LENGTH, LENGTH.removesuffix("."), "494 kilometres long", f"{LENGTH} {SEOUL}", f"Han river {LENGTH}"],
)
def test_no_agent_brings_a_rejected_sentence_back(quote: str, tmp_path: Path):
    with walk_in(tmp_path) as walk, open_repair_store(open_workspace(tmp_path), environ={}) as tables:
        tables.reject("How long is the Han river?", [LENGTH], reason="", now=MOMENT)
        walk.plan()
        walk.read("docs/han.md")
        done = walk.record(finding(quote, "[01]", "q1"), finding(SEOUL, 1, "q2"))
        assert [(one.sentence, one.reason) for one in done.unbelieved] == [(quote, REJECTED)]
        assert [part.is_settled for part in walk.state.sub_questions] == [False, True, False]


def test_other_evidence_answers_and_closes_the_gap(tmp_path: Path):
    limit_paths(tmp_path, "docs")
    with shop_deps(shop(tmp_path)) as deps:
        assert reject(deps, answer(RETURN_QUESTION, deps=deps)) is None
        write(tmp_path, "new.md", "# Returns since May\n\nA parcel can be returned within 60 days.\n")
        found = answer(RETURN_QUESTION, deps=deps)
        assert "60 days" in found.final_answer
        assert "30 days" not in found.final_answer
        assert deps.tables.gaps() == []


def test_a_person_takes_a_rejection_back(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        first = answer(RETURN_QUESTION, deps=deps)
        reject(deps, first)
        give_feedback(deps, first.run_id, "up")
        assert answer(RETURN_QUESTION, deps=deps).supported
