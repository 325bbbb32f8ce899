"""A day on which a tool fails more than ever, and a silence that is long for its log."""

from datetime import date, timedelta
from random import Random

import pytest

from coreloop.admin.status.log_figures import find_failing, read_log
from logs import call, failed
from rows import slow_after
from samples import START, asked, rolled, window_of


def _days(*shares: float, n: int = 40) -> list[dict[str, object]]:
    """``n`` calls on each day, of which a share fails, evenly."""
    return [
        asked(number, failed("book") if number < share * n else call("book"), ts=_at(day, number))
        for day, share in enumerate(shares)
        for number in range(n)
    ]


def _at(day: int, number: int) -> str:
    return (START + timedelta(days=day, seconds=number)).isoformat()


@pytest.mark.parametrize(
    ("shares", "is_failing"),
    [
        pytest.param((0.0, 0.05, 0.0, 0.0, 0.37), True, id="37 % after a quiet week"),
        pytest.param((0.0, 0.05, 0.0, 0.0, 0.1), False, id="a few more"),
        pytest.param((0.3, 0.35, 0.3, 0.3, 0.37), False, id="as always"),
        pytest.param((0.0, 0.45, 0.0, 0.0, 0.37), False, id="not more than on another day"),
        pytest.param((0.0, 0.37), False, id="hardly a past"),
        pytest.param((0.0, 0.0, 0.0, 0.37, 0.0), False, id="over"),
    ],
)
def test_a_tool_is_compared_with_its_own_past(shares: tuple[float, ...], is_failing: bool):
    assert [tool.tool for tool in find_failing(window_of(_days(*shares)))] == ["book"] * is_failing


@pytest.mark.parametrize("rounds", slow_after(1, [15, 100]))
def test_days_that_differ_by_chance_only_raise_nothing(rounds: int):
    rng = Random(41)
    n_raised = 0
    for _ in range(rounds):
        rows = [
            asked(n, failed("book") if rng.random() < 0.2 else call("book"), ts=_at(n // 30, n))
            for n in range(300)
        ]
        n_raised += bool(find_failing(window_of(rows)))
    assert n_raised == 0


@pytest.mark.parametrize(
    ("days", "gap"),
    [
        pytest.param(range(10), 1, id="every day"),
        pytest.param([0, 1, 2, 3, 4, 7, 8, 9, 10, 11], 3, id="weekends"),
        pytest.param(range(6), None, id="too few days"),
    ],
)
def test_the_longest_gap_of_a_log(days: list[int], gap: int | None):
    file = rolled([asked(day, call("book"), ts=_at(day, 0)) for day in days])
    assert read_log([file], today=date(2026, 4, 14)).longest_gap == gap
