"""Every statistic against reference values, and properties that hold for any counts."""

import random
import warnings
from functools import cache
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.base.project.settings import Gates
from coreloop.learn.mine.statistics import (
    TwoSides,
    benjamini_hochberg,
    fisher_exact,
    newcombe_interval,
    success_bound,
    wilson_interval,
)
from rows import each_row

COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SMALL = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
TWO_SIDES = st.builds(lambda side, other: TwoSides(*side, *other), SMALL, SMALL)
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@cache
def _oracles() -> SimpleNamespace:
    """What others compute; imported by the slow tests alone, since that takes longer than all others here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels calls what pandas 3 has deprecated
        import scipy.stats
        from statsmodels.stats import multitest, proportion
    return SimpleNamespace(scipy=scipy.stats, multitest=multitest, proportion=proportion)


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


@pytest.mark.slow
@example(counts=(0, 125))  # 1.7e-18 by the formula
@given(counts=COUNTS)
def test_the_bound_lies_between_nothing_and_the_rate(counts: tuple[int, int]):
    successes, requests = counts
    assert 0 <= success_bound(successes, requests) <= successes / requests


def test_the_gates_have_the_documented_defaults():
    gates = Gates()
    assert (gates.min_repeat, gates.min_unique_questions, gates.min_success_rate) == (3, 3, 1.0)


@each_row(
    ("counts", "confidence", "expected"),
    [
        ((1, 10), 0.95, (0.017876213095072896, 0.4041500267952385)),
        ((0, 7), 0.9, (0.0, 0.27876269545254223)),
        ((60, 61), 0.99, (0.874258363530458, 0.9980723853142025)),
    ],
)
def test_the_interval_of_a_rate_is_known(
    counts: tuple[int, int], confidence: float, expected: tuple[float, float]
):
    assert wilson_interval(*counts, confidence=confidence) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@given(counts=COUNTS, confidence=CONFIDENCES)
def test_the_interval_of_a_rate_is_the_one_of_statsmodels(counts: tuple[int, int], confidence: float):
    expected = _oracles().proportion.proportion_confint(*counts, alpha=1 - confidence, method="wilson")
    assert wilson_interval(*counts, confidence=confidence) == pytest.approx(expected, abs=1e-12)


@given(counts=COUNTS, confidence=CONFIDENCES)
def test_the_interval_of_a_rate_holds_it_and_ends_where_rates_end(counts: tuple[int, int], confidence: float):
    successes, n = counts
    low, high = wilson_interval(successes, n, confidence=confidence)
    assert 0 <= low <= successes / n <= high <= 1
    assert (low == 0, high == 1) == (successes == 0, successes == n)


def test_without_requests_the_interval_of_a_rate_is_0_to_1():
    assert wilson_interval(0, 0) == (0.0, 1.0)


@each_row(
    ("table", "expected"),
    [
        pytest.param((13, 13, 1, 101), 3.230661375195738e-16, id="the address rule"),
        pytest.param((58, 61, 17, 26), 0.0006915279567359335, id="the address source"),
        pytest.param((8, 10, 1, 6), 0.034965034965034975, id="scipy's example"),
        pytest.param((5, 10, 5, 10), 1.0, id="at the mode"),
        pytest.param((3, 10, 7, 10), 0.1788954079975752, id="both tails of a symmetric table"),
        pytest.param((200, 1000, 800, 1000), 4.559773079198271e-169, id="symmetric and large"),
        pytest.param((0, 10, 0, 30), 1.0, id="no hits"),
        pytest.param((10, 10, 30, 30), 1.0, id="nothing but hits"),
        pytest.param((0, 0, 3, 9), 1.0, id="an empty side"),
        pytest.param((2, 8, 0, 100_000), 5.599160094630508e-09, id="sides of very different sizes"),
        pytest.param((3, 4000, 2, 5), 1.245323572703178e-05, id="most requests on one side"),
        pytest.param((1500, 3000, 1600, 3000), 0.010534027832066048, id="thousands"),
        pytest.param((50_000, 100_000, 50_500, 100_000), 0.02563959662539231, id="a hundred thousand each"),
        pytest.param((0, 3000, 3000, 3000), 0.0, id="too improbable for a float"),
    ],
)
def test_fisher_gives_the_p_values_of_scipy(table: tuple[int, int, int, int], expected: float):
    assert fisher_exact(*table) == pytest.approx(expected, rel=1e-8)


@pytest.mark.slow
def test_fisher_agrees_with_scipy_on_every_small_table():
    sizes = list(product(range(1, 9), range(1, 9)))
    tables = [(a, a_n, b, b_n) for a_n, b_n in sizes for a in range(a_n + 1) for b in range(b_n + 1)]
    for a, a_n, b, b_n in random.Random(1).sample(tables, 300):
        expected = _oracles().scipy.fisher_exact([[a, a_n - a], [b, b_n - b]]).pvalue
        assert fisher_exact(a, a_n, b, b_n) == pytest.approx(expected, rel=1e-10)


@given(a=COUNTS, b=COUNTS)
def test_fisher_is_a_probability_and_does_not_depend_on_the_order_or_the_outcome(
    a: tuple[int, int], b: tuple[int, int]
):
    p = fisher_exact(*a, *b)
    failures_a, failures_b = (a[1] - a[0], a[1]), (b[1] - b[0], b[1])
    assert 0 <= p <= 1
    assert fisher_exact(*b, *a) == pytest.approx(p, rel=1e-8)
    assert fisher_exact(*failures_a, *failures_b) == pytest.approx(p, rel=1e-8)


def test_a_thousand_fisher_tests_of_thousands_of_requests_end():
    with bounded():
        for hits in range(1000):
            fisher_exact(hits, 2000, 1000, 3000)


@pytest.mark.slow
@given(p_values=st.lists(st.floats(0, 1), max_size=40))
def test_adjusted_p_values_are_those_of_statsmodels_and_scipy(p_values: list[float]):
    adjusted = benjamini_hochberg(p_values)
    if p_values:
        of_statsmodels = _oracles().multitest.multipletests(p_values, method="fdr_bh")[1]
        of_scipy = _oracles().scipy.false_discovery_control(p_values)
        assert adjusted == pytest.approx(of_statsmodels.tolist(), abs=1e-12)
        assert adjusted == pytest.approx(of_scipy.tolist(), abs=1e-12)
    else:
        assert adjusted == []


def test_adjusted_p_values_stay_in_their_order():
    assert benjamini_hochberg([0.04, 0.01, 0.9]) == pytest.approx([0.06, 0.03, 0.9])


@pytest.mark.slow
@given(pair=TWO_SIDES, confidence=CONFIDENCES)
def test_the_interval_of_a_difference_is_the_one_of_statsmodels(pair: TwoSides, confidence: float):
    of_two = _oracles().proportion.confint_proportions_2indep
    expected = of_two(*pair, method="newcomb", compare="diff", alpha=1 - confidence)
    assert newcombe_interval(pair, confidence=confidence) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        pytest.param(TwoSides(56, 70, 48, 80), (0.0524, 0.3339), id="a"),
        pytest.param(TwoSides(9, 10, 3, 10), (0.1705, 0.8090), id="b"),
        pytest.param(TwoSides(5, 56, 0, 29), (-0.0381, 0.1926), id="d"),
        pytest.param(TwoSides(10, 10, 0, 10), (0.6075, 1.0), id="h"),
    ],
)
def test_intervals_of_newcombes_own_examples(pair: TwoSides, expected: tuple[float, float]):
    """Newcombe (1998), Statistics in Medicine 17:873, table II, method 10."""
    assert newcombe_interval(pair) == pytest.approx(expected, abs=5e-5)


@given(pair=TWO_SIDES, confidence=CONFIDENCES)
def test_the_interval_holds_the_difference_and_mirrors_with_the_sides(pair: TwoSides, confidence: float):
    low, high = newcombe_interval(pair, confidence=confidence)
    assert -1 <= low <= pair.hits / pair.n - pair.other_hits / pair.other_n <= high <= 1
    mirrored = TwoSides(pair.other_hits, pair.other_n, pair.hits, pair.n)
    assert newcombe_interval(mirrored, confidence=confidence) == pytest.approx((-high, -low), abs=1e-12)


def test_without_two_sides_the_interval_is_everything():
    assert newcombe_interval(TwoSides(3, 9, 0, 0)) == (-1.0, 1.0)
