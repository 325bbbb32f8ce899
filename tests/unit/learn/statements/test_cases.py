"""A case is counted once, however often it was recorded; the evidence of a line is cases, not calls."""

from dataclasses import replace
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.statements.cases import (
    NumberedCalls,
    RequestKeys,
    bits_of,
    case_numbers,
    compare,
    owners,
    rank_test,
)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        pytest.param(RequestKeys(1, (1, 2), 3), RequestKeys(1, (8, 9), 4), True, id="a session"),
        pytest.param(RequestKeys(1, (1, 2), 3), RequestKeys(2, (1, 2), 3), False, id="two sessions"),
        pytest.param(RequestKeys(0, (1, 2), 3), RequestKeys(0, (1, 2, 3), 4), True, id="identifiers"),
        pytest.param(RequestKeys(0, (1, 2), 3), RequestKeys(0, (1, 8, 9), 3), False, id="few in common"),
        pytest.param(RequestKeys(0, (), 3), RequestKeys(0, (), 3), True, id="a question"),
        pytest.param(RequestKeys(0, (), 0, "a"), RequestKeys(0, (), 0, "a"), True, id="the same calls"),
        pytest.param(RequestKeys(3), RequestKeys(0, (), 3), False, id="a session and a question"),
    ],
)
def test_what_makes_two_requests_one_case(first: RequestKeys, second: RequestKeys, same: bool) -> None:
    numbers, _ = case_numbers([first, second])
    assert (numbers[0] == numbers[1]) is same


def test_the_owner_is_the_identifier_that_most_requests_have() -> None:
    keys = [RequestKeys(identifiers=(7, number)) for number in range(10, 20)] + [RequestKeys()]
    assert owners(keys) == [7] * 10 + [0]


N = 60


def _calls(good: set[int], cases: list[int] | None = None) -> NumberedCalls:
    return NumberedCalls(N, bits_of(good, N), cases if cases is not None else list(range(N)))


FOLLOW, DEVIATE = bits_of(range(40), N), bits_of(range(40, N), N)
CLEAR = _calls(set(range(40)))


@pytest.mark.parametrize(
    ("calls", "p_value"),
    [
        pytest.param(_calls(set(range(40)), [place % 40 // 20 for place in range(N)]), None, id="two cases"),
        pytest.param(_calls(set(range(46))), 1.0, id="three in ten succeed"),
        pytest.param(_calls(set(range(4))), 1.0, id="a difference of ten points"),
        pytest.param(replace(CLEAR, last=bits_of([0, 41], N), good=CLEAR.good & ~1), 1.0, id="the last days"),
    ],
)
def test_what_is_no_evidence(calls: NumberedCalls, p_value: float | None) -> None:
    assert compare(calls, FOLLOW, DEVIATE) == p_value


def test_a_case_that_is_recorded_a_hundred_times_counts_once() -> None:
    cases = [0] * 10 + list(range(1, 31)) + [50] * 18 + [51, 52]
    p_value = compare(_calls(set(range(40)), cases), FOLLOW, DEVIATE)
    assert p_value is not None
    assert p_value >= 1 / comb(31 + 3, 3)


def test_a_day_on_which_all_fails_is_no_cause() -> None:
    days = ["outage" if place >= 40 else f"day {place % 9}" for place in range(N)]
    assert compare(replace(CLEAR, strata=[days]), FOLLOW, DEVIATE) == 1.0


def test_a_model_that_explains_most_of_the_difference_is_the_cause() -> None:
    """Two models: the weak one fails and deviates; within each of them the line makes little difference."""
    weak = {place for place in range(N) if place >= 36}
    good = (set(range(N)) - weak) | {39, 38}
    follow, deviate = bits_of([*range(34), 38, 39, 36, 37], N), bits_of([34, *range(40, N)], N)
    model = ["weak" if place in weak else "strong" for place in range(N)]
    calls = replace(_calls(good), strata=[model])
    assert compare(replace(calls, strata=()), follow, deviate) != 1.0
    fewer = replace(calls, good=calls.good & ~bits_of([38, 39], N))
    assert compare(fewer, follow, deviate) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_no_p_value_is_below_one_in_the_number_of_choices(first: list[float], second: list[float]) -> None:
    p_value = rank_test(first, second)
    assert 1 / comb(len(first) + len(second), min(len(first), len(second))) <= p_value <= 1.0
    assert p_value == pytest.approx(rank_test(second, first))
