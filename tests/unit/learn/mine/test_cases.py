"""Sets of cases as integers, compared with Python's sets."""

from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.mine.cases import Cases, bits_of, places_of, stratify
from rows import each_row

N = 400
_places = st.sets(st.integers(0, N - 1), max_size=60)


def _cases(good: set[int], *, keys: list[int] | None = None, n: int = N) -> Cases:
    return Cases(n, bits_of(good, n), 0, [place % 7 for place in range(n)], stratify(keys or [0] * n))


@given(_places)
def test_places_come_back_in_order(places: set[int]):
    assert places_of(bits_of(places, N)) == sorted(places)


@given(_places, _places)
def test_sets_combine_as_sets_do(first: set[int], second: set[int]):
    a, b = bits_of(first, N), bits_of(second, N)
    assert places_of(a & b) == sorted(first & second)
    assert places_of(a | b) == sorted(first | second)
    assert places_of(a & ~b) == sorted(first - second)


@given(_places, _places)
def test_counts_are_those_of_the_good_ones(subset: set[int], good: set[int]):
    assert _cases(good).count(bits_of(subset, N)) == (len(subset & good), len(subset))


@given(_places, st.integers(1, 8))
def test_questions_are_counted_once(subset: set[int], minimum: int):
    cases, different = _cases(set()), {place % 7 for place in subset}
    assert cases.n_questions(bits_of(subset, N)) == len(different)
    assert cases.has_questions(bits_of(subset, N), minimum) == (len(different) >= minimum)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.data())
def test_strata_part_all_cases_and_both_sides(keys: list[int], data: st.DataObject):
    n = len(keys)
    subset = data.draw(st.sets(st.integers(0, n - 1)))
    others = set(range(n)) - subset
    good = data.draw(st.sets(st.integers(0, n - 1)))
    cases = _cases(good, keys=keys, n=n)
    assert sum(cases.strata) == cases.all
    sides = cases.sides(bits_of(subset, n), bits_of(others, n))
    assert [tuple(side) for side in sides] == [
        tuple(
            len(chosen & {place for place in range(n) if keys[place] == key} & with_good)
            for chosen, with_good in (
                (subset, good),
                (subset, set(range(n))),
                (others, good),
                (others, set(range(n))),
            )
        )
        for key in dict.fromkeys(keys)
    ]


@each_row("n", [0, 1, 7, 8, 9, 64])
def test_all_is_every_place(n: int):
    cases = Cases(n, 0, 0, [0] * n, ())
    assert places_of(cases.all) == list(range(n))
    assert stratify([]) == ()
