"""Sets of cases as whole numbers, against sets of Python's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.mine.cases import Cases, bits_of, places_of, stratify

N = 400
_places = st.sets(st.integers(0, N - 1), max_size=60)


def _cases(good: set[int], *, keys: list[int] | None = None, n: int = N) -> Cases:
    return Cases(n, bits_of(good, n), 0, [place % 7 for place in range(n)], stratify(keys or [0] * n))


@given(_places)
def test_places_come_back_in_order(places: set[int]):
    assert places_of(bits_of(places, N)) == sorted(places)


@given(_places, _places)
def test_sets_combine_as_sets_do(one: set[int], other: set[int]):
    a, b = bits_of(one, N), bits_of(other, N)
    assert places_of(a & b) == sorted(one & other)
    assert places_of(a | b) == sorted(one | other)
    assert places_of(a & ~b) == sorted(one - other)


@given(_places, _places)
def test_counts_are_those_of_the_good_ones(some: set[int], good: set[int]):
    assert _cases(good).count(bits_of(some, N)) == (len(some & good), len(some))


@given(_places, st.integers(1, 8))
def test_questions_are_counted_once(some: set[int], least: int):
    cases, different = _cases(set()), {place % 7 for place in some}
    assert cases.n_questions(bits_of(some, N)) == len(different)
    assert cases.has_questions(bits_of(some, N), least) == (len(different) >= least)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.data())
def test_strata_part_all_cases_and_both_sides(keys: list[int], data: st.DataObject):
    n = len(keys)
    some = data.draw(st.sets(st.integers(0, n - 1)))
    others = set(range(n)) - some
    good = data.draw(st.sets(st.integers(0, n - 1)))
    cases = _cases(good, keys=keys, n=n)
    assert sum(cases.strata) == cases.all
    sides = cases.sides(bits_of(some, n), bits_of(others, n))
    assert [tuple(side) for side in sides] == [
        tuple(
            len(chosen & {place for place in range(n) if keys[place] == key} & with_good)
            for chosen, with_good in (
                (some, good),
                (some, set(range(n))),
                (others, good),
                (others, set(range(n))),
            )
        )
        for key in dict.fromkeys(keys)
    ]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64])
def test_all_is_every_place(n: int):
    cases = Cases(n, 0, 0, [0] * n, ())
    assert places_of(cases.all) == list(range(n))
    assert stratify([]) == ()
