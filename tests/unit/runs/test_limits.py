"""Limits that cannot hold are refused when a run is created."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.errors import UsageError
from coreloop.runs.amounts import Amount, microusd
from coreloop.runs.limits import AnswerReserve, Limits, check_limits
from rows import each_row


@each_row(
    ("limits", "message"),
    [
        (Limits(usd=-1), r"limits: Expected `float` >= 0.* - at `\$.usd`"),
        (Limits(usd=float("nan")), r"at `\$.usd`"),
        (Limits(deadline_s=float("inf")), r"at `\$.deadline_s`"),
        (Limits(answer=AnswerReserve(tokens=-1)), r"at `\$.answer.tokens`"),
        (Limits(max_iterations=0), r"Expected `int` >= 1 - at `\$.max_iterations`"),
        (Limits(max_failures=0), r"at `\$.max_failures`"),
        (Limits(usd=1e305), "Expected `float` <= 1000000000000"),
        (Limits(max_iterations=2.5), r"limits: Expected `int`, got `float` - at `\$.max_iterations`"),
        (Limits(usd="1"), r"limits: Expected `float \| null`, got `str` - at `\$.usd`"),
    ],
)
def test_limits_that_cannot_hold_are_refused(limits: Limits, message: str):
    with pytest.raises(UsageError, match=message):
        check_limits(limits)


@each_row(
    ("usd", "expected"), [(0, 0), (0.1 + 0.2, 300_000), (10, 10_000_000), (0.000_000_15, 1), (1e-30, 0)]
)
def test_dollars_are_rounded_up_to_millionths(usd: float, expected: int):
    assert microusd(usd) == expected


@given(st.integers(0, 10**12))
def test_an_amount_of_money_survives_the_way_to_json(micro: int):
    assert microusd(Amount(micro).usd) == micro
