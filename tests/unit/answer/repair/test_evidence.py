"""What files say of a question."""

from pathlib import Path

from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.repair.rounds import evidence_of_file
from coreloop.answer.research.run import answer
from coreloop.runs.jobs.work import work
from repairing import RETURN_QUESTION, SHIP_QUESTION, shop, shop_deps
from researching import MOMENT


def test_evidence_of_code_is_its_best_symbol(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "rates.py", "What share do gold customers get?", now=MOMENT)
    assert found is not None
    assert found.symbol == "rate_of"
    assert found.content.startswith("def rate_of(customer: str) -> float:")
    assert evidence_of_file(tmp_path, "absent.md", "?", now=MOMENT) is None


def test_evidence_of_a_file_that_changed_is_not_used(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        found = evidence_of_file(tmp_path, "docs/returns.md", RETURN_QUESTION, now=MOMENT)
        assert found is not None
        deps.tables.inject(found)
        assert len(deps.tables.evidence_for(RETURN_QUESTION, tmp_path)) == 1
        (tmp_path / "docs" / "returns.md").write_text("# Returns\n\nNever.\n")
        assert deps.tables.evidence_for(RETURN_QUESTION, tmp_path) == []


def test_a_job_about_a_file_that_was_removed_before_it_has_nothing_to_do(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        answer(SHIP_QUESTION, deps=deps, repair=False)
        (tmp_path / "docs" / "shipping.md").unlink()
        work(deps.queue, all_handlers(deps), until_idle=True)
        assert {(job.name, job.status, job.attempts) for job in deps.queue.jobs()} == {
            ("index.file", "done", 1),
            ("evidence.inject", "done", 1),
        }
