"""Reflexion: bounds, credit, and what is similar."""

from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.language.words import MAX_QUERY_CHARS
from coreloop.runs import reflexion
from coreloop.runs.reflexion import (
    MAX_SITUATIONS,
    PastFailure,
    Reflexion,
)

RUNS = st.sampled_from([f"01J{n:023}" for n in range(4)])
TEXTS = st.text(max_size=12)


@st.composite
def learnt(draw: st.DrawFn) -> Reflexion:
    """What some calls make of nothing."""
    value = Reflexion()
    for _ in range(draw(st.integers(0, 6))):
        run_id, iteration = draw(RUNS), draw(st.integers(0, 5))
        if draw(st.booleans()):
            value = value.with_failure(PastFailure(run_id, iteration, draw(TEXTS), draw(TEXTS), draw(TEXTS)))
        else:
            value = value.credit(
                draw(TEXTS),
                situation=draw(TEXTS),
                run_id=run_id,
                iteration=iteration,
                progress=draw(st.booleans()),
            )
    return value


@given(learnt())
def test_a_saved_reflexion_reads_back(value: Reflexion):
    assert Reflexion.from_json(value.to_json()) == value


@given(learnt())
def test_the_view_has_exactly_the_documented_keys(value: Reflexion):
    view = orjson.loads(orjson.dumps(value.view()))
    assert set(view) == {"failures", "success_patterns"}
    for failure in view["failures"]:
        assert set(failure) == {"iteration", "situation", "root_cause", "solution", "result"}
    for pattern in view["success_patterns"]:
        assert set(pattern) == {"strategy", "situations", "success_rate"}
        assert 0 < pattern["success_rate"] < 1


def test_everything_is_bounded(monkeypatch: pytest.MonkeyPatch):
    for name, maximum in (("MAX_FAILURES", 6), ("MAX_PATTERNS", 4), ("MAX_SITUATIONS", 3), ("MAX_USES", 2)):
        monkeypatch.setattr(reflexion, name, maximum)
    value = Reflexion()
    for run in range(5):
        for step in range(10):
            value = value.with_failure(
                PastFailure(f"r{run}", step, "상황" * 9_999, "원인" * 9_999, f"{step}")
            )
            value = value.credit(
                f"strategy {step % 6}",
                situation=f"s {run} {step}",
                run_id=f"r{run}",
                iteration=step,
                progress=True,
            )
    assert len(value.failures) == 6
    assert len(value.success_patterns) == 4
    assert all(len(failure.situation) <= MAX_QUERY_CHARS for failure in value.failures)
    assert all(len(pattern.situations) <= 3 for pattern in value.success_patterns)
    assert all(len(pattern.uses) <= 2 for pattern in value.success_patterns)
    assert value.failures[-1].run_id == "r4"


def test_a_full_list_keeps_what_worked_and_still_learns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reflexion, "MAX_FAILURES", 4)
    value = Reflexion().with_failure(PastFailure("r", 0, "403 from the portal", "no session", "log in first"))
    value = value.credit(
        "log in first", situation="403 from the portal", run_id="r", iteration=1, progress=True
    )
    for iteration in range(2, 9):
        value = value.with_failure(PastFailure("r", iteration, f"timeout {iteration}", "slow", "wait"))
    assert [failure.iteration for failure in value.failures] == [0, 6, 7, 8]


@given(st.lists(st.booleans(), max_size=30))
def test_the_success_rate_is_that_of_laplace(outcomes: list[bool]):
    value = Reflexion()
    for iteration, progress in enumerate(outcomes):
        value = value.credit(
            "widen", situation="no results", run_id="r", iteration=iteration, progress=progress
        )
    expected = Fraction(sum(outcomes) + 1, len(outcomes) + 2)
    rates = [pattern.success_rate for pattern in value.success_patterns]
    assert rates == ([pytest.approx(float(expected))] if outcomes else [])


def test_a_solution_gets_the_result_of_the_iteration_that_followed():
    value = Reflexion().with_failure(
        PastFailure("r", 3, "no results for 매출", "too narrow", "widen the years")
    )
    assert value.failures[0].result == ""
    worse = value.credit("widen the years", situation="no results", run_id="r", iteration=4, progress=False)
    better = value.credit("widen the years", situation="no results", run_id="r", iteration=4, progress=True)
    assert (worse.failures[0].result, better.failures[0].result) == ("no_progress", "progress")
    for situation, result in (("no results", "progress"), ("the parcel is late", "")):  # similar, or not
        other_run = value.credit(
            "widen the years", situation=situation, run_id="q", iteration=4, progress=True
        )
        assert other_run.failures[0].result == result


def test_similar_gives_the_closest_first_and_nothing_that_shares_no_word():
    value = Reflexion()
    for iteration, situation in enumerate(
        ("전자공시 검색 결과가 없음", "사업보고서 검색 결과가 없음", "rate limit of the news API")
    ):
        value = value.with_failure(PastFailure("r", iteration, situation, "cause", "solution"))
    value = value.credit(
        "ask the archive", situation="사업보고서 검색 결과 없음", run_id="r", iteration=5, progress=True
    )
    advice = value.similar("사업보고서를 검색했는데 결과가 없음")
    assert [failure.iteration for failure in advice.failures] == [1, 0]
    assert [pattern.strategy for pattern in advice.success_patterns] == ["ask the archive"]
    assert value.similar("보일러").failures == ()
    assert value.similar("\x00!?🔥" * 100_000).failures == ()
    assert len(value.similar("검색 결과가 없음", limit=1).failures) == 1


def test_situations_of_a_pattern_are_the_newest():
    value = Reflexion()
    for iteration in range(MAX_SITUATIONS + 3):
        value = value.credit(
            "widen", situation=f"situation {iteration}", run_id="r", iteration=iteration, progress=True
        )
    newest = value.view()["success_patterns"][0]["situations"]
    assert newest[0] == f"situation {MAX_SITUATIONS + 2}"
    assert len(newest) == MAX_SITUATIONS
