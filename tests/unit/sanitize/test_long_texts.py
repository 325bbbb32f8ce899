"""Searching takes linear time in any text."""

from time import process_time

import pytest

from bounded import bounded
from coreloop.sanitize.company_names import Names
from coreloop.sanitize.find_in_record import MAX_PLACES, Finder, places_of
from coreloop.sanitize.find_in_text import find_hits
from long_texts import ALL_SIGNS, SHAPES
from weekly import WEEKLY


def grows_linearly(shape: str, n_chars: int) -> bool:
    """Whether ten times the text takes at most fifteen times the processor time, in one of five comparisons.

    Work that grows with the square takes a hundred times as long, however noisy the machine.
    """
    find_hits(ALL_SIGNS)
    return any(
        seconds(shape, 10 * n_chars + more) <= 15 * seconds(shape, n_chars + more) + 0.02 for more in range(5)
    )


def seconds(shape: str, n_chars: int) -> float:
    """Return the processor time of a text that differs from all others: findings are cached."""
    text = ALL_SIGNS + SHAPES[shape](n_chars)
    begun = process_time()
    find_hits(text)
    return process_time() - begun


@pytest.mark.slow
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_text_ten_times_as_long_takes_at_most_fifteen_times_as_long(shape: str) -> None:
    assert grows_linearly(shape, 12_000 if WEEKLY else 4_000)


def test_blanks_behind_a_name_take_linear_time() -> None:
    names = Names([("000270", "기아", ())])
    with bounded():
        names.find(f"㈜기아({' ' * 50_000}" + "㈜기아 000270 " * 5_000)


def test_the_places_of_a_record_are_limited() -> None:
    record = {"a@b.kr" * 200: ["a@b.kr"] * 3_000}
    finder = Finder()
    finder.record(record)
    places = places_of(record, finder)
    assert len(places) == MAX_PLACES
    assert {kind for _, kind in places} == {"EMAIL"}
