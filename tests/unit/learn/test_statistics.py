"""Every statistic against reference values, and properties that hold for any counts."""

import warnings
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.statistics import (
    benjamini_hochberg,
    newcombe_interval,
    wilson_interval,
)

COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


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
    assert wilson_interval(successes, requests)[0] == pytest.approx(low, abs=5e-5)


@pytest.mark.slow
@given(counts=COUNTS)
def test_the_interval_of_a_rate_is_the_one_of_statsmodels(counts: tuple[int, int]):
    expected = _oracles().proportion.proportion_confint(*counts, alpha=0.05, method="wilson")
    assert wilson_interval(*counts) == pytest.approx(expected, abs=1e-12)


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


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        pytest.param((56, 70, 48, 80), (0.0524, 0.3339), id="a"),
        pytest.param((9, 10, 3, 10), (0.1705, 0.8090), id="b"),
        pytest.param((5, 56, 0, 29), (-0.0381, 0.1926), id="d"),
        pytest.param((10, 10, 0, 10), (0.6075, 1.0), id="h"),
    ],
)
def test_intervals_of_newcombes_own_examples(pair: tuple[int, int, int, int], expected: tuple[float, float]):
    """Newcombe (1998), Statistics in Medicine 17:873, table II, method 10."""
    assert newcombe_interval(*pair) == pytest.approx(expected, abs=5e-5)


def test_without_two_sides_the_interval_is_everything():
    assert newcombe_interval(3, 9, 0, 0) == (-1.0, 1.0)
