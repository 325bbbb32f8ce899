"""Whole answers: at once, after a repair, after two, or never."""

from pathlib import Path

import pytest

from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.research.run import answer
from coreloop.base.errors import ModelError
from coreloop.runs.jobs.work import work
from repairing import RETURN_QUESTION, SHIP_QUESTION, ScriptedModel, shop, shop_deps


def test_what_a_changed_file_no_longer_says_is_no_answer(tmp_path: Path):
    workspace = shop(tmp_path)
    filler = "\n\n".join(f"Nothing of interest stands in line {line}." for line in range(300))
    (tmp_path / "docs" / "returns.md").write_text(
        f"# Returns\n\n{filler}\n\nA parcel can be returned within 60 days after delivery.\n",
        encoding="utf-8",
    )
    with shop_deps(workspace) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
    assert ("60 days" in found.final_answer, "30 days" in found.final_answer, found.repairs) == (
        True,
        False,
        0,
    )


@pytest.mark.parametrize("may_repair", [True, False])
def test_a_removed_file_is_no_source(may_repair: bool, tmp_path: Path):
    workspace = shop(tmp_path)
    (tmp_path / "docs" / "returns.md").unlink()
    with shop_deps(workspace) as deps:
        found = answer(RETURN_QUESTION, deps=deps, repair=may_repair)
    assert "docs/returns.md" not in {source.location for source in found.sources}


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


def test_an_answer_closes_the_gap_of_its_question(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        answer("How long is the warranty of a lamp?", deps=deps)
        assert len(deps.tables.gaps()) == 1
        (tmp_path / "docs" / "lamps.md").write_text("# Lamps\n\nThe warranty of a lamp is five years long.\n")
        assert answer("How long is the warranty of a lamp?", deps=deps).supported
        assert deps.tables.gaps() == []
        (gap,) = deps.tables.gaps(open_only=False)
    assert gap.closed_by == "repair"


def test_a_model_that_cannot_be_reached_is_an_error(tmp_path: Path):
    refused = ModelError("test: the key is wrong", kind="auth")
    workspace = shop(tmp_path)
    with (
        shop_deps(workspace, ScriptedModel(refused)) as deps,
        pytest.raises(ModelError, match="the key is"),
    ):
        answer(RETURN_QUESTION, deps=deps)
