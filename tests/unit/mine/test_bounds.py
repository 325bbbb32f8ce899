"""The Wilson bound against values that others computed, and what must hold for any counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.mine.bounds import success_bound
from coreloop.project.settings import Gates


@pytest.mark.parametrize(
    ("successes", "requests", "low"),
    [
        pytest.param(0, 0, 0.0, id="nothing"),
        pytest.param(0, 10, 0.0, id="no success"),
        pytest.param(3, 3, 0.43850, id="three of three"),
        pytest.param(10, 10, 0.72247, id="ten of ten"),
        pytest.param(12, 12, 0.75751, id="the example in the design"),
        pytest.param(81, 263, 0.25525, id="Newcombe 1998, table I"),
        pytest.param(15, 148, 0.06238, id="Newcombe 1998, table I"),
        pytest.param(1, 29, 0.00611, id="Newcombe 1998, table I"),
        pytest.param(29, 29, 0.88303, id="Newcombe 1998, table I, mirrored"),
    ],
)
def test_known_lower_bounds(successes: int, requests: int, low: float):
    assert success_bound(successes, requests) == pytest.approx(low, abs=5e-5)


def test_another_confidence_gives_another_bound():
    assert success_bound(10, 10, confidence=0.9) == pytest.approx(0.78704, abs=5e-5)


COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts=COUNTS)
def test_the_bound_lies_between_nothing_and_the_rate(counts: tuple[int, int]):
    successes, requests = counts
    assert 0 <= success_bound(successes, requests) <= successes / requests


@given(counts=COUNTS, factor=st.integers(2, 9))
def test_more_of_the_same_evidence_raises_the_bound(counts: tuple[int, int], factor: int):
    successes, requests = counts
    more = success_bound(successes * factor, requests * factor)
    assert more > success_bound(successes, requests) or successes == 0


@given(counts=COUNTS)
def test_one_more_success_raises_the_bound_and_one_more_failure_lowers_it(counts: tuple[int, int]):
    successes, requests = counts
    low = success_bound(successes, requests)
    assert success_bound(successes + 1, requests + 1) > low
    assert success_bound(successes, requests + 1) < low or successes == 0


def test_the_gates_have_the_documented_defaults():
    gates = Gates()
    assert (gates.min_repeat, gates.min_unique_questions, gates.min_success_rate) == (3, 3, 1.0)
