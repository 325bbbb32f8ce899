"""Statistics of counts: intervals of rates and differences, the correction for many tests."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

_Z: Final = 1.959963984540054  # of a two-sided 95 % interval


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
