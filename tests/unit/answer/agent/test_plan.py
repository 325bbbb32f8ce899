"""Plans of an agent: enough candidates of each intent, no duplicates, and the strategy that drift ordered."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from walking import LENGTH, PARTS, Walk, executed, finding, walk_in


def test_no_two_chosen_queries_ask_the_same(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        again = {"query": "the length of the Han river", "intent": "web"}
        planned = walk.plan(*walk.candidates(), again)
    queries = [one.query for one in planned.execute]
    assert not {"han river length", again["query"]} <= set(queries)


def test_if_all_are_duplicates_another_strategy_is_ordered(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        queries = [one["query"] for one in walk.candidates()]
        walk.record(queries=executed(*queries), actions=[{"tool": "web", "strategy": ["academic"]}])
        planned = walk.plan(*({"query": one["query"], "intent": one["intent"]} for one in _first(walk)))
        assert planned.execute == ()
        assert planned.state.order is not None
        assert (planned.state.order.rule, planned.state.order.after) == ("duplicates", ("web",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda plan: plan[:9], r"\$.candidates: 9 of at least 10", id="nine"),
        pytest.param(
            lambda plan: [one | {"intent": "web"} for one in plan],
            r"0 of at least 3 with the intent academic or technical",
            id="the web alone",
        ),
        pytest.param(
            lambda plan: [*plan[:7], *({"query": f"w {n}", "intent": "web"} for n in range(3))],
            "0 of at least 3 with the intent counter-evidence",
            id="nothing against",
        ),
        pytest.param(
            lambda plan: [plan[0] | {"for": "q9"}, *plan[1:]],
            r"\$.candidates\[0\].for: no sub-question q9; the run has q1, q2, q3",
            id="an unknown sub-question",
        ),
        pytest.param(
            lambda plan: [plan[0] | {"against": "h9"}, *plan[1:]],
            r"\$.candidates\[0\].against: no hypothesis h9; the run has none yet",
            id="an unknown hypothesis",
        ),
        pytest.param(
            lambda plan: [plan[0] | {"intent": "guess"}, *plan[1:]], r"\$.candidates\[0\].intent", id="intent"
        ),
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


def test_a_search_against_the_leading_hypothesis_is_executed(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.read("docs/han.md")
        walk.record(hypotheses=["It is long."])
        walk.record(finding(LENGTH, 1, hypothesis="h1", stance="supports"))
        attack = {"query": "subject 1 2", "intent": "counter-evidence", "against": "h1"}
        planned = walk.plan(*walk.candidates(), attack)
    assert [one.against for one in planned.execute].count("h1") == 1
    assert 3 <= len(planned.execute) <= 5


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


def _first(walk: Walk) -> list[dict[str, Any]]:
    """The candidates of the first iteration."""
    return [
        one | {"query": one["query"].removesuffix(f" {2000 + walk.state.iteration}")}
        for one in walk.candidates()
    ]
