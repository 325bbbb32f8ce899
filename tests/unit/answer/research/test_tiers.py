"""Tiers: an explicit wish, then the environment, then the tier."""

import pytest

from coreloop.answer.research.research_state import TIERS, environment_wishes, run_limits
from coreloop.base.errors import UsageError
from coreloop.runs.limits import tighter
from rows import each_row


@each_row("value", ["0.5", "-1", "many", "１"])
def test_a_variable_that_is_no_number_is_refused_by_name(value: str):
    with pytest.raises(UsageError, match="RESEARCH_MAX_SOURCES"):
        environment_wishes({"RESEARCH_MAX_SOURCES": value})


def test_an_exhaustive_run_has_only_the_limits_that_were_asked_for():
    limits = run_limits("deep", {"max_queries": 9}, exhaust=True)
    assert (limits.queries, limits.sources, limits.deadline_s, limits.max_iterations) == (9, None, None, 100)


def test_a_plan_can_only_make_limits_tighter():
    deep, simple = (
        run_limits("deep", {"max_iters": 3}),
        run_limits("simple", {"max_queries": 99}),
    )
    for one, other in ((deep, simple), (simple, deep)):
        narrow = tighter(one, other)
        assert (narrow.max_iterations, narrow.queries, narrow.sources) == (2, 40, 5)
        assert narrow.answer.seconds == TIERS["simple"]["max_execution_time_s"] * 0.2
