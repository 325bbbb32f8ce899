"""A table of rows in one test: every row is checked, and a failure names its row."""

import inspect

import pytest

from rows import each_row


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
