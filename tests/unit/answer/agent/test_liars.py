"""Agents that claim to be done: none of them completes a run, and an honest one does."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError
from coreloop.runs.decide import Stop, decide
from coreloop.runs.driver.driven_run import DriverPlan
from coreloop.runs.kinds import kind_named
from walking import FILES, LENGTH, PARTS, SEOUL, SURVEY, Walk, commit, executed, finding, walk_in

MINE = "The Han river is 494 kilometres long, flows through Seoul, and was measured by a survey."


def done_at_once(walk: Walk) -> None:
    walk.record(finding("All sub-questions are answered.", "me"), sub_questions=["all done?"])


def own_sources(walk: Walk) -> None:
    walk.plan()
    walk.record(*(finding(MINE, f"https://mine.example/{part}", part) for part in ("q1", "q2", "q3")))


def invented_text_with_a_true_address(walk: Walk) -> None:
    walk.plan()
    walk.read("https://nowhere.invalid/han", f"{LENGTH} {SEOUL} {SURVEY}")
    walk.record(*(finding(text, 1, f"q{n}") for n, text in enumerate((LENGTH, SEOUL, SURVEY), 1)))


def file_that_it_wrote(walk: Walk) -> None:
    walk.plan()
    (walk.root / "docs" / "mine.md").write_text(f"{LENGTH} {SEOUL} {SURVEY}")
    commit(walk.root)
    walk.read("docs/mine.md")
    walk.record(*(finding(text, 1, f"q{n}") for n, text in enumerate((LENGTH, SEOUL, SURVEY), 1)))


def quotes_that_are_not_there(walk: Walk) -> None:
    walk.plan()
    walk.read("docs/han.md")
    walk.record(*(finding(f"{part} Yes, by survey.", 1, f"q{n}") for n, part in enumerate(PARTS, 1)))


def true_quotes_that_do_not_answer(walk: Walk) -> None:
    walk.plan(parts=("Why did oil prices fall in 2014?", "Who won the election?", "When was steel invented?"))
    walk.read("docs/han.md")
    walk.record(*(finding(LENGTH, 1, f"q{n}") for n in (1, 2, 3)))


def one_trivial_sub_question(walk: Walk) -> None:
    walk.read("docs/han.md")
    with pytest.raises(UsageError, match="at least 3 sub-questions"):
        walk.plan(parts=(PARTS[0],))
    walk.record(finding(LENGTH, 1, PARTS[0]), sub_questions=[PARTS[0]])


def no_search_of_the_plan(walk: Walk) -> None:
    walk.plan()
    answer_all(walk, queries=executed("something else"))


def spending_lowered(walk: Walk) -> None:
    walk.record(usage={"usd": 0.0, "tokens": 0})
    with pytest.raises(UsageError, match=r"\$.usage.usd"):
        walk.record(usage={"usd": -5})


def answer_all(walk: Walk, **more: object) -> None:
    """Answer the three sub-questions truly."""
    numbers = {name: walk.read(name).read.number for name in FILES}
    said = ((LENGTH, "docs/han.md"), (SEOUL, "docs/han.md"), (SURVEY, "docs/survey.md"))
    found = [finding(text, numbers[name], f"q{n}") for n, (text, name) in enumerate(said, 1)]
    walk.record(*found, **more)


@pytest.mark.parametrize(
    "lie",
    [
        done_at_once,
        own_sources,
        invented_text_with_a_true_address,
        file_that_it_wrote,
        quotes_that_are_not_there,
        true_quotes_that_do_not_answer,
        one_trivial_sub_question,
        no_search_of_the_plan,
        spending_lowered,
    ],
)
def test_no_lie_completes_a_run(lie: Callable[[Walk], None], tmp_path: Path):
    with walk_in(tmp_path) as walk:
        lie(walk)
        assert walk.state.status == "running"


def test_an_honest_agent_completes_its_run(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        planned = walk.plan()
        answer_all(walk, queries=executed(*(one.query for one in planned.execute)))
        assert walk.state.status == "completed"


def test_an_exhaustive_run_needs_counter_evidence_for_each_sub_question(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.open(mode="exhaust")
        planned = walk.plan()
        answer_all(walk, queries=executed(*(one.query for one in planned.execute)))
        assert walk.state.status == "running"
        for part in ("q1", "q2", "q3"):
            against = [
                one | {"for": part} if one["intent"] == "counter-evidence" else one
                for one in walk.candidates()
            ]
            planned = walk.plan(*against, parts=())
            walk.record(queries=executed(*(one.query for one in planned.execute)))
        assert walk.state.status == "completed"


def test_until_outranks_the_coverage_of_a_drivers_run(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        planned = walk.plan()
        answer_all(walk, queries=executed(*(one.query for one in planned.execute)))
        state = walk.state
        for until, is_completed in (("", True), ("false", False)):
            driven = replace(state, kind="driven", status="running", iteration=1)
            driven.of_kind = kind_named("driven").initial()
            for known in fields(state.of_kind):
                setattr(driven.of_kind, known.name, getattr(state.of_kind, known.name))
            driven.of_kind.driver = DriverPlan(command=("x",), folder="/", until=until)
            assert (decide(driven, state.clock) == Stop("completed")) is is_completed
