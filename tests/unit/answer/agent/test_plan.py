"""Plans of an agent: enough candidates of each intent, and the strategy that drift ordered."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from walking import LENGTH, PARTS, finding, walk_in


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plan: plan[:9], r"\$.candidates: 9 of at least 10"),
        (
            lambda plan: [one | {"intent": "web"} for one in plan],
            r"0 of at least 3 with the intent academic or technical",
        ),
        (
            lambda plan: [*plan[:7], *({"query": f"w {n}", "intent": "web"} for n in range(3))],
            "0 of at least 3 with the intent counter-evidence",
        ),
        (
            lambda plan: [plan[0] | {"for": "q9"}, *plan[1:]],
            r"\$.candidates\[0\].for: no sub-question q9; the run has q1, q2, q3",
        ),
        (
            lambda plan: [plan[0] | {"against": "h9"}, *plan[1:]],
            r"\$.candidates\[0\].against: no hypothesis h9; the run has none yet",
        ),
        (lambda plan: [plan[0] | {"intent": "guess"}, *plan[1:]], r"\$.candidates\[0\].intent"),
    ],
)
def test_a_poor_plan_is_refused_and_changes_nothing(change: Any, message: str, tmp_path: Path):
    with walk_in(tmp_path) as walk:
        with pytest.raises(UsageError, match=message):
            walk.plan(*change(walk.candidates()))
        assert walk.state.sub_questions == []


def test_a_plan_has_three_sub_questions(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        with pytest.raises(UsageError, match="at least 3 sub-questions, the run would have 1"):
            walk.plan(parts=PARTS[:1])
        walk.plan()
        walk.record()
        walk.plan(parts=())


def test_the_leading_hypothesis_must_be_attacked(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.read("docs/han.md")
        walk.record(hypotheses=["It is short.", "It is long."])
        walk.record(finding(LENGTH, 1, hypothesis="h2", stance="supports"))
        with pytest.raises(UsageError, match='add "against": "h2"'):
            walk.plan()
        walk.plan(*(one | {"against": "h2"} for one in walk.candidates()))


def test_candidates_of_a_strategy_that_must_be_left_are_refused_by_name(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        for _ in range(3):
            walk.record(actions=[{"tool": "web", "strategy": ["web"]}])
        with pytest.raises(
            UsageError, match=r"'han river length 2003': the strategy web must be left; use academic"
        ):
            walk.plan()
        others = [one for one in walk.candidates() if one["intent"] != "web"]
        more = [{"query": f"site:arxiv.org {n} flood", "intent": "academic"} for n in range(3)]
        planned = walk.plan(*others, *more)
    assert {one.intent for one in planned.execute} <= {"academic", "counter-evidence"}
