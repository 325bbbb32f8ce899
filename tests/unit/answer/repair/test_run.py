"""Whole answers: at once, after a repair, after two, or never."""

from pathlib import Path

from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.research.run import answer
from coreloop.runs.jobs.work import work
from repairing import SHIP_QUESTION, shop, shop_deps


def test_a_job_about_a_file_that_was_removed_before_it_has_nothing_to_do(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        answer(SHIP_QUESTION, deps=deps, repair=False)
        (tmp_path / "docs" / "shipping.md").unlink()
        work(deps.queue, all_handlers(deps), until_idle=True)
        assert {(job.name, job.status, job.attempts) for job in deps.queue.jobs()} == {
            ("index.file", "done", 1),
            ("evidence.inject", "done", 1),
        }


def test_a_parameter_of_a_function_is_answered_from_its_docstring(tmp_path: Path):
    with shop_deps(shop(tmp_path, indexed=("rates.py",))) as deps:
        found = answer("What is the parameter customer of rate_of?", deps=deps)
    assert "rate_of parameter customer (str): Id of the customer, 8 digits. [1]" in found.final_answer
    assert found.sources[0].type == "symbol"
