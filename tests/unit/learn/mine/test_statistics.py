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
STRATA = st.lists(TWO_SIDES, min_size=1, max_size=6)
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@cache
def _oracles() -> SimpleNamespace:
    """What others compute; imported by the slow tests alone, since that takes longer than all others here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels calls what pandas 3 has deprecated
        import scipy.stats
        from statsmodels.stats import multitest, proportion
    return SimpleNamespace(scipy=scipy.stats, multitest=multitest, proportion=proportion)


# The data of the R package tern, whose test calls its difference and interval "externally validated":
# prop_diff_strat_nc, R's set.seed(1).
TERN = [
    TwoSides(8, 9, 3, 6),
    TwoSides(2, 5, 2, 5),
    TwoSides(6, 7, 3, 8),
    TwoSides(4, 4, 6, 12),
    TwoSides(5, 7, 3, 4),
    TwoSides(5, 8, 3, 5),
]


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


@pytest.mark.slow
@example(counts=(0, 125))  # 1.7e-18 by the formula
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


def _difference(strata: list[TwoSides]) -> float:
    """The difference of two sides' rates within strata, with Mantel–Haenszel weights (Greenland, Robins)."""
    weights = [stratum.n * stratum.other_n / (stratum.n + stratum.other_n) for stratum in strata]
    differences = [stratum.hits / stratum.n - stratum.other_hits / stratum.other_n for stratum in strata]
    return sum(w * d for w, d in zip(weights, differences, strict=True)) / sum(weights)


@pytest.mark.slow
@given(pair=TWO_SIDES, confidence=CONFIDENCES)
def test_with_one_stratum_the_interval_is_newcombes(pair: TwoSides, confidence: float):
    of_two = _oracles().proportion.confint_proportions_2indep
    expected = of_two(*pair, method="newcomb", compare="diff", alpha=1 - confidence)
    assert newcombe_interval([pair], confidence=confidence) == pytest.approx(expected, abs=1e-9)


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
    assert newcombe_interval([pair]) == pytest.approx(expected, abs=5e-5)


def test_the_stratified_interval_is_the_validated_one():
    assert _difference(TERN) == pytest.approx(0.2539, abs=5e-5)
    assert newcombe_interval(TERN) == pytest.approx((0.0347, 0.4454), abs=5e-5)


@given(strata=STRATA, confidence=CONFIDENCES)
def test_the_interval_holds_the_difference_and_mirrors_with_the_sides(
    strata: list[TwoSides], confidence: float
):
    low, high = newcombe_interval(strata, confidence=confidence)
    assert -1 <= low <= _difference(strata) + 1e-12
    assert _difference(strata) - 1e-12 <= high <= 1
    mirrored = [TwoSides(stratum.other_hits, stratum.other_n, stratum.hits, stratum.n) for stratum in strata]
    assert newcombe_interval(mirrored, confidence=confidence) == pytest.approx((-high, -low), abs=1e-12)


@given(strata=STRATA, lone=SMALL)
def test_a_stratum_without_both_sides_changes_nothing(strata: list[TwoSides], lone: tuple[int, int]):
    more = [*strata, TwoSides(*lone, 0, 0), TwoSides(0, 0, *lone)]
    assert newcombe_interval(more) == newcombe_interval(strata)


@pytest.mark.parametrize(
    "strata", [pytest.param([], id="none"), pytest.param([TwoSides(3, 9, 0, 0)], id="one side")]
)
def test_without_two_sides_the_interval_is_everything(strata: list[TwoSides]):
    assert newcombe_interval(strata) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [
        pytest.param([(0.6, 0.4)], [(20, 20)], id="one stratum, small"),
        pytest.param(
            [(0.8, 0.6), (0.5, 0.3), (0.9, 0.7)], [(20, 30), (40, 15), (12, 60)], id="three, uneven"
        ),
        pytest.param([(0.97, 0.97)] * 4, [(15, 25)] * 4, id="four, near one, no difference"),
        pytest.param([(0.9, 0.5), (0.7, 0.6)], [(60, 20), (20, 60)], id="two, the difference differs"),
    ],
)
def test_about_nineteen_of_twenty_intervals_hold_the_true_difference(
    rates: list[tuple[float, float]], sizes: list[tuple[int, int]]
):
    draw, rounds = random.Random(20), 600
    truth = _weighted_difference(rates, sizes)
    held = 0
    for _ in range(rounds):
        low, high = newcombe_interval([_drawn(draw, *counts) for counts in zip(rates, sizes, strict=True)])
        held += low <= truth <= high
    print(held / rounds)
    assert 0.92 <= held / rounds <= 0.995


def _weighted_difference(rates: list[tuple[float, float]], sizes: list[tuple[int, int]]) -> float:
    weights = [n * other_n / (n + other_n) for n, other_n in sizes]
    total = sum(w * (rate - other) for w, (rate, other) in zip(weights, rates, strict=True))
    return total / sum(weights)


def _drawn(draw: random.Random, rates: tuple[float, float], sizes: tuple[int, int]) -> TwoSides:
    hits, other_hits = (
        sum(draw.random() < rate for _ in range(n)) for rate, n in zip(rates, sizes, strict=True)
    )
    return TwoSides(hits, sizes[0], other_hits, sizes[1])
