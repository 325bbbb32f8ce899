"""A table of rows in one test: every row is checked, and a failure names its row."""

import inspect

import pytest

from rows import each_row, slow_after


def test_every_row_runs_and_decorators_are_multiplied():
    seen = []

    @each_row("left", [1, 2])
    @each_row(("right", "sign"), [("a", "+"), pytest.param("b", "-", id="minus")])
    def collect(left: int, right: str, sign: str) -> None:
        seen.append((left, right, sign))

    collect()
    assert sorted(seen) == [(1, "a", "+"), (1, "b", "-"), (2, "a", "+"), (2, "b", "-")]
    assert not inspect.signature(collect).parameters


def test_a_failing_row_is_named_and_the_others_still_run():
    @each_row("number", [1, 2, 3], ids=["one", "two", "three"])
    def is_odd(number: int) -> None:
        assert number % 2

    with pytest.raises(AssertionError) as failure:
        is_odd()
    assert failure.value.__notes__ == ["in the row two"]


def test_all_failing_rows_are_reported():
    @each_row("number", [1, 2, 3])
    def fails(number: int) -> None:
        if number < 3:
            pytest.fail("too small")

    with pytest.raises(BaseExceptionGroup) as failure:
        fails()
    assert [error.__notes__ for error in failure.value.exceptions] == [
        ["in the row number=1"],
        ["in the row number=2"],
    ]


def test_of_many_failing_rows_the_first_are_reported_and_all_counted():
    @each_row("number", range(500))
    def fails(number: int) -> None:
        pytest.fail("too small")

    with pytest.raises(BaseExceptionGroup, match="500 rows fail") as failure:
        fails()
    assert len(failure.value.exceptions) == 20


def test_a_table_without_rows_is_refused():
    with pytest.raises(AssertionError, match="without rows"):
        each_row("number", [])


def test_rows_after_the_first_are_slow_and_keep_their_names():
    first, second, third = slow_after(
        1, ["a", ("b", 1), pytest.param("c", id="see", marks=pytest.mark.prism)]
    )
    assert first == "a"
    assert (second.values, [mark.name for mark in second.marks]) == (("b", 1), ["slow"])
    assert (third.values, third.id, [mark.name for mark in third.marks]) == (("c",), "see", ["prism", "slow"])
    with pytest.raises(AssertionError, match="no row is left"):
        slow_after(1, ["a"])
