"""Tiers: an explicit wish, then the environment, then the tier."""

from coreloop.answer.research.tiers import TIERS, LimitOverrides, run_limits
from coreloop.runs.limits import tighter


def test_an_exhaustive_run_has_only_the_limits_that_were_asked_for():
    limits = run_limits("deep", LimitOverrides(max_queries=9), exhaust=True)
    assert (limits.queries, limits.sources, limits.deadline_s, limits.max_iterations) == (9, None, None, 100)


def test_a_plan_can_only_make_limits_tighter():
    deep, simple = (
        run_limits("deep", LimitOverrides(max_iters=3)),
        run_limits("simple", LimitOverrides(max_queries=99)),
    )
    for one, other in ((deep, simple), (simple, deep)):
        narrow = tighter(one, other)
        assert (narrow.max_iterations, narrow.queries, narrow.sources) == (2, 40, 5)
        assert narrow.answer.seconds == TIERS["simple"].max_execution_time_s * 0.2
