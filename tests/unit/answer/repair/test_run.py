"""Whole answers: at once, after a repair, after two, or never."""

from pathlib import Path

import pytest

from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.research.research_state import knowledge_of
from coreloop.answer.research.run import answer
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.base.errors import ModelError
from coreloop.runs.jobs.work import work
from coreloop.runs.load import load_run
from repairing import RETURN_QUESTION, SHIP_QUESTION, ScriptedModel, limit_paths, reply, shop, shop_deps

NONSENSE = "Who won the chess tournament on Mars?"


def test_an_answer_that_stands_is_not_repaired(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
        assert found.supported
        assert "within 30 days after delivery. [1]" in found.final_answer
        assert (found.sources[0].id, found.sources[0].location) == ("[1]", "docs/returns.md")
        assert (found.repairs, found.signals) == (0, ())
        assert deps.queue.jobs() == []
        state = load_run(deps.store, found.run_id)[0].state
    assert (state.kind, state.status) == ("ask", "completed")


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


def test_what_nothing_can_answer_is_said_and_becomes_a_gap(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        found = answer(NONSENSE, deps=deps)
        assert (found.final_answer, found.supported, found.end) == (NO_EVIDENCE, False, "nothing_said_so")
        answer(NONSENSE, deps=deps)
        (gap,) = deps.tables.gaps()
    assert (gap.topic, gap.seen, gap.reason) == (NONSENSE, 2, "search_miss")


def test_an_answer_closes_the_gap_of_its_question(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        answer("How long is the warranty of a lamp?", deps=deps)
        assert len(deps.tables.gaps()) == 1
        (tmp_path / "docs" / "lamps.md").write_text("# Lamps\n\nThe warranty of a lamp is five years long.\n")
        assert answer("How long is the warranty of a lamp?", deps=deps).supported
        assert deps.tables.gaps() == []
        (gap,) = deps.tables.gaps(open_only=False)
    assert gap.closed_by == "repair"


def test_a_claim_that_no_source_has_is_dropped_and_then_another_model_is_asked(tmp_path: Path):
    one = ScriptedModel(
        reply("A parcel can be returned within 90 days. [1]"),
        reply("A parcel can be returned within 60 days. [1]"),
        name="test:one",
    )
    other = ScriptedModel(reply("A parcel can be returned within 30 days. [1][2][3]"), name="test:other")
    with shop_deps(shop(tmp_path), one, other) as deps:
        found = answer(RETURN_QUESTION, deps=deps)
        case = knowledge_of(load_run(deps.store, found.run_id)[0].state)
    assert "30 days" in found.final_answer
    assert found.signals == ("citation_unsupported", "citation_unsupported")
    assert (found.repairs, found.model) == (2, "test:other")
    assert [attempt.dropped[0].sentence for attempt in case.attempts[:2]] == [
        "A parcel can be returned within 90 days.",
        "A parcel can be returned within 60 days.",
    ]


def test_a_model_that_cannot_be_reached_is_an_error(tmp_path: Path):
    refused = ModelError("test: the key is wrong", kind="auth")
    workspace = shop(tmp_path)
    with (
        shop_deps(workspace, ScriptedModel(refused)) as deps,
        pytest.raises(ModelError, match="the key is"),
    ):
        answer(RETURN_QUESTION, deps=deps)


def test_the_hourly_budget_ends_repairs(tmp_path: Path):
    limit_paths(tmp_path, "docs/returns.md", repair={"max_per_hour": 0})
    with shop_deps(shop(tmp_path)) as deps:
        found = answer(SHIP_QUESTION, deps=deps)
        assert (found.supported, found.repairs) == (False, 0)
        assert deps.queue.jobs() == []
