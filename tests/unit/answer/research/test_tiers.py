"""Tiers: an explicit wish, then the environment, then the tier."""

import pytest

from coreloop.answer.research.tiers import TIERS, LimitOverrides, environment_limits, run_limits
from coreloop.base.errors import UsageError
from coreloop.runs.limits import check_limits, tighter
from rows import each_row


@each_row(
    ("tier", "totals"),
    [("simple", (2, 3, 5, 60)), ("standard", (5, 10, 15, 90)), ("deep", (12, 40, 40, 120))],
)
def test_a_tier_limits_the_run(tier: str, totals: tuple[int, ...]):
    limits = run_limits(tier, LimitOverrides())
    assert (limits.max_iterations, limits.queries, limits.sources, limits.deadline_s) == totals
    check_limits(limits)


def test_a_wish_holds_over_the_environment_and_the_environment_over_the_tier():
    environ = {"RESEARCH_MAX_ITERS": "7", "RESEARCH_MAX_QUERIES": "8", "RESEARCH_TOKEN_BUDGET": "9000"}
    limits = run_limits("simple", LimitOverrides(max_iters=3).over(environment_limits(environ)))
    assert (limits.max_iterations, limits.queries, limits.sources, limits.tokens) == (3, 8, 5, 9000)


@each_row("value", ["0.5", "-1", "many", "１"])
def test_a_variable_that_is_no_number_is_refused_by_name(value: str):
    with pytest.raises(UsageError, match="RESEARCH_MAX_SOURCES"):
        environment_limits({"RESEARCH_MAX_SOURCES": value})


def test_an_exhaustive_run_has_only_the_limits_that_were_asked_for():
    limits = run_limits("deep", LimitOverrides(max_queries=9), exhaust=True)
    assert (limits.queries, limits.sources, limits.deadline_s, limits.max_iterations) == (9, None, None, 100)


def test_a_part_of_every_limit_is_kept_for_the_answer():
    limits = run_limits("standard", LimitOverrides(token_budget=1000))
    assert (limits.answer.tokens, limits.answer.seconds, limits.answer.usd) == (200, 18, 2.0)


def test_a_plan_can_only_make_limits_tighter():
    deep, simple = (
        run_limits("deep", LimitOverrides(max_iters=3)),
        run_limits("simple", LimitOverrides(max_queries=99)),
    )
    for one, other in ((deep, simple), (simple, deep)):
        narrow = tighter(one, other)
        assert (narrow.max_iterations, narrow.queries, narrow.sources) == (2, 40, 5)
        assert narrow.answer.seconds == TIERS["simple"].max_execution_time_s * 0.2
