"""A rejection lasts until a person or other evidence says otherwise; its reason is used and shown."""

from pathlib import Path

import pytest

from coreloop.answer.deps import Deps
from coreloop.answer.repair.every_job import all_handlers
from coreloop.answer.repair.feedback import give_feedback, mending_job, wait_for_notice
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.run import answer
from coreloop.runs.jobs.work import work_on_jobs
from repairing import RETURN_QUESTION, limit_paths, shop, shop_deps

SAME_QUESTION = "within how many days can a parcel be returned"


def reject(deps: Deps, answered: AgentResponse, reason: str = "") -> AgentResponse | None:
    give_feedback(deps, answered.run_id, "down", reason=reason)
    work_on_jobs(deps.queue, all_handlers(deps), [mending_job(deps, answered.run_id).id])
    return wait_for_notice(deps, answered.run_id, 0).answer


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


def test_other_evidence_answers_and_closes_the_gap(tmp_path: Path):
    limit_paths(tmp_path, "docs")
    with shop_deps(shop(tmp_path)) as deps:
        assert reject(deps, answer(RETURN_QUESTION, deps=deps)) is None
        write(tmp_path, "new.md", "# Returns since May\n\nA parcel can be returned within 60 days.\n")
        found = answer(RETURN_QUESTION, deps=deps)
        assert (found.supported, "60 days" in found.final_answer, "30 days" in found.final_answer) == (
            True,
            True,
            False,
        )
        assert deps.tables.gaps() == []


def test_a_person_takes_a_rejection_back(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        first = answer(RETURN_QUESTION, deps=deps)
        reject(deps, first)
        give_feedback(deps, first.run_id, "up")
        assert answer(RETURN_QUESTION, deps=deps).supported


def test_an_answer_that_is_too_short_gets_longer_instead_of_other_words(tmp_path: Path):
    limit_paths(tmp_path, "docs")
    workspace = shop(tmp_path)
    for number in range(6):
        write(
            tmp_path, f"more_{number}.md", f"# Parcels {number}\n\nA parcel of size {number} is returned.\n"
        )
    with shop_deps(workspace) as deps:
        first = answer(RETURN_QUESTION, deps=deps)
        longer = reject(deps, first, reason="too short")
        assert longer is not None
        assert "30 days" in longer.final_answer
        assert len(longer.passages) > len(first.passages) == 3


def test_an_outdated_answer_is_replaced_by_a_later_one_alone(tmp_path: Path):
    limit_paths(tmp_path, "docs")
    workspace = shop(tmp_path)
    write(tmp_path, "returns.md", "# Returns, 2024-01-01\n\nA parcel can be returned within 30 days.\n")
    write(tmp_path, "older.md", "# Returns, 2023-01-01\n\nA parcel can be returned within 10 days.\n")
    with shop_deps(workspace) as deps:
        first = answer(RETURN_QUESTION, deps=deps)
        assert "30 days" in first.final_answer.splitlines()[0]
        assert reject(deps, first, reason="This is outdated") is None
        write(tmp_path, "later.md", "# Returns, 2026-01-01\n\nA parcel can be returned within 60 days.\n")
        assert "60 days" in answer(RETURN_QUESTION, deps=deps).final_answer


def test_no_sentence_of_a_wrong_file_is_an_answer(tmp_path: Path):
    limit_paths(tmp_path, "docs")
    workspace = shop(tmp_path)
    twice = "A parcel can be returned within 30 days.\n\nWithin 30 days a parcel can be returned by post.\n"
    write(tmp_path, "returns.md", f"# Returns\n\n{twice}")
    with shop_deps(workspace) as deps:
        assert reject(deps, answer(RETURN_QUESTION, deps=deps), reason="wrong file") is None


def test_reasons_are_shown_beside_the_gap(tmp_path: Path, entry_point):
    with shop_deps(shop(tmp_path)) as deps:
        reject(deps, answer(RETURN_QUESTION, deps=deps), reason="It is 60 days since May")
    _, out, _ = entry_point(tmp_path, "repair", "gaps")
    assert "    rejected: It is 60 days since May" in out.splitlines()
