"""A case is counted once, however often it was recorded."""

from random import Random

import pytest

from coreloop.learn.statements.cases import RequestKeys, case_numbers, owners


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        pytest.param(RequestKeys(1, (1, 2), 3), RequestKeys(1, (8, 9), 4), True, id="a session"),
        pytest.param(RequestKeys(1, (1, 2), 3), RequestKeys(2, (1, 2), 3), False, id="two sessions"),
        pytest.param(RequestKeys(0, (1, 2), 3), RequestKeys(0, (1, 2, 3), 4), True, id="identifiers"),
        pytest.param(RequestKeys(0, (1, 2), 3), RequestKeys(0, (1, 8, 9), 3), False, id="few in common"),
        pytest.param(RequestKeys(0, (), 3), RequestKeys(0, (), 3), True, id="a question"),
        pytest.param(RequestKeys(0, (), 0, "a"), RequestKeys(0, (), 0, "a"), True, id="the same calls"),
        pytest.param(
            RequestKeys(3), RequestKeys(0, (), 3), False, id="a session, and a question of its hash"
        ),
    ],
)
def test_what_makes_two_requests_one_case(first: RequestKeys, second: RequestKeys, same: bool) -> None:
    numbers, _ = case_numbers([first, second])
    assert (numbers[0] == numbers[1]) is same


def test_the_owner_is_the_identifier_that_most_requests_have() -> None:
    keys = [RequestKeys(identifiers=(7, number)) for number in range(10, 20)] + [RequestKeys()]
    assert owners(keys) == [7] * 10 + [0]


@pytest.mark.slow
def test_ten_thousand_requests_of_one_shop_are_joined_in_bounded_work() -> None:
    rng = Random(1)
    keys = [RequestKeys(identifiers=(1, 2, *(rng.randrange(10**6) for _ in range(4)))) for _ in range(10_000)]
    assert len(set(case_numbers(keys)[0])) > 9_900
