"""Statistics of counts: intervals of rates and differences, tests, the correction for many tests."""

from collections.abc import Sequence
from math import exp, fsum, lgamma, sqrt
from typing import Final

_Z: Final = 1.959963984540054  # of a two-sided 95 % interval
_TIE = 1e-7  # relative, as in R; the error of lgamma is 1e-9 at 100,000 requests


def wilson_interval(hits: float, n: int) -> tuple[float, float]:
    """95 % interval of a rate (Wilson score interval).

    Parameters
    ----------
    hits, n : float, int
        A count, or the sum of rates, and their number; ``0 <= hits <= n``.

    Returns
    -------
    tuple of float
        Lower and upper bound, 0–1 each; (0.0, 1.0) when ``n`` is 0.

    References
    ----------
    Wilson (1927), JASA 22:209.
    """
    if not n:
        return 0.0, 1.0
    rate, share = hits / n, _Z * _Z / n
    centre, spread = rate + share / 2, _Z * sqrt(rate * (1 - rate) / n + share / (4 * n))
    low = (centre - spread) / (1 + share) if hits else 0.0  # rounding would give 2e-18, above the rate
    high = (centre + spread) / (1 + share) if hits < n else 1.0
    return low, high


def fisher_exact(a_hits: int, a_n: int, b_hits: int, b_n: int) -> float:
    """Test whether two sides have the same rate (Fisher's exact test).

    Parameters
    ----------
    a_hits, a_n : int
        Counts of one side; ``0 <= a_hits <= a_n``.
    b_hits, b_n : int
        Counts of the other side.

    Returns
    -------
    float
        Two-sided p, 0–1: the sum over all tables with these margins that are not more probable than this one
        (by more than 1e-7 of its probability). 1.0 when a side is empty.

    References
    ----------
    Fisher (1935), JRSS 98:39; two-sided as in R's ``fisher.test`` and ``scipy.stats.fisher_exact``.
    """
    hits = a_hits + b_hits
    limit = _log_probability(a_hits, a_n, b_n, hits) + _TIE
    tables = range(max(0, hits - b_n), min(a_n, hits) + 1)
    logs = (_log_probability(count, a_n, b_n, hits) for count in tables)
    return min(1.0, fsum(exp(log) for log in logs if log <= limit))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests (false discovery rate).

    Parameters
    ----------
    p_values : sequence of float
        0–1, of every test that was made.

    Returns
    -------
    list of float
        q, 0–1, in the given order. Of the tests whose q is at most 0.05, at most 5 % are expected to be
        false.

    References
    ----------
    Benjamini and Hochberg (1995), JRSS B 57:289.
    """
    adjusted = [1.0] * len(p_values)
    least = 1.0
    by_p = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank in range(len(by_p), 0, -1):
        test = by_p[rank - 1]
        least = min(least, p_values[test] * len(by_p) / rank)
        adjusted[test] = least
    return adjusted


def newcombe_interval(hits: float, n: int, other_hits: float, other_n: int) -> tuple[float, float]:
    """95 % interval of the difference of two sides' rates (Newcombe's hybrid score interval, his method 10).

    Parameters
    ----------
    hits, n : float, int
        Counts of the side with a property, or the sum of its cases' rates; ``0 <= hits <= n``.
    other_hits, other_n : float, int
        The same of the other side.

    Returns
    -------
    tuple of float
        Lower and upper bound, -1 to 1 each; (-1.0, 1.0) when a side is empty.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873.
    """
    if not (n and other_n):
        return -1.0, 1.0
    low, high = wilson_interval(hits, n)
    other_low, other_high = wilson_interval(other_hits, other_n)
    difference = hits / n - other_hits / other_n
    below = _Z * sqrt(low * (1 - low) / n + other_high * (1 - other_high) / other_n)
    above = _Z * sqrt(high * (1 - high) / n + other_low * (1 - other_low) / other_n)
    return max(-1.0, difference - below), min(1.0, difference + above)


def _log_probability(a_hits: int, a_n: int, b_n: int, hits: int) -> float:
    """Natural logarithm of a table's probability, its margins given (hypergeometric)."""
    return _log_choose(a_n, a_hits) + _log_choose(b_n, hits - a_hits) - _log_choose(a_n + b_n, hits)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
