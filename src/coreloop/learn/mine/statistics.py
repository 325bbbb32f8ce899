"""Statistics of counts: intervals of rates and differences, tests, the correction for many tests."""

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, lgamma, sqrt
from statistics import NormalDist
from typing import NamedTuple

_TIE = 1e-7  # relative, as in R; the error of lgamma is 1e-9 at 100,000 requests


class TwoSides(NamedTuple):
    """A stratum: the side with a property, and the other side without it.

    Parameters
    ----------
    hits, n : float, int
        Counts of the side, or the sum of its cases' rates; ``0 <= hits <= n``.
    other_hits, other_n : float, int
        The same of the other side.
    """

    hits: float
    n: int
    other_hits: float
    other_n: int


def success_bound(successes: int, requests: int, *, confidence: float = 0.95) -> float:
    """Lower bound of a success rate (Wilson score interval).

    Parameters
    ----------
    successes, requests : int
        Counts; ``0 <= successes <= requests``.
    confidence : float
        Two-sided level, 0–1.

    Returns
    -------
    float
        0–1; 0.0 when ``requests`` is 0.

    References
    ----------
    Wilson (1927), JASA 22:209.
    """
    return wilson_interval(successes, requests, confidence=confidence)[0]


def wilson_interval(successes: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a rate (Wilson score interval).

    Parameters
    ----------
    successes, n : int
        Counts; ``0 <= successes <= n``.
    confidence : float
        Two-sided level, 0–1.

    Returns
    -------
    tuple of float
        Lower and upper bound, 0–1 each; (0.0, 1.0) when ``n`` is 0.

    References
    ----------
    Wilson (1927), JASA 22:209.
    """
    return _wilson(successes, n, _quantile(confidence))


def fisher_exact(a_hits: int, a_n: int, b_hits: int, b_n: int) -> float:
    """Test whether two sides have the same rate (Fisher's exact test).

    Takes about 0.1 ms for sides of 3,000.

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
    if _log_probability(_mode(a_n, b_n, hits), a_n, b_n, hits) <= limit:
        return 1.0
    return min(1.0, _tail(a_n, b_n, hits, limit) + _tail(b_n, a_n, hits, limit))


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


def newcombe_interval(strata: Sequence[TwoSides], *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of the difference of two sides' rates within strata (Newcombe's hybrid score interval).

    Parameters
    ----------
    strata : sequence of TwoSides
        Strata without both sides have no weight. With one stratum it is Newcombe's method 10.
    confidence : float
        Two-sided level, 0–1.

    Returns
    -------
    tuple of float
        Lower and upper bound, -1 to 1 each; (-1.0, 1.0) when no stratum has both sides.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873; Yan and Su (2010), Statistics in Biopharmaceutical
    Research 2:329, with Mantel–Haenszel weights.
    """
    weights, sides, other_sides = _weigh_strata(strata)
    if not weights:
        return -1.0, 1.0
    z = _quantile(confidence)
    low, high = _stratified_wilson(weights, sides, z)
    other_low, other_high = _stratified_wilson(weights, other_sides, z)
    spread, other_spread = _spread(weights, sides), _spread(weights, other_sides)
    difference = _mean_rate(weights, sides) - _mean_rate(weights, other_sides)
    below = z * sqrt(spread * low * (1 - low) + other_spread * other_high * (1 - other_high))
    above = z * sqrt(spread * high * (1 - high) + other_spread * other_low * (1 - other_low))
    return max(-1.0, difference - below), min(1.0, difference + above)


_Side = tuple[float, int]  # hits, n


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _wilson(hits: float, n: int, z: float) -> tuple[float, float]:
    if not n:
        return 0.0, 1.0
    rate, share = hits / n, z * z / n
    centre, spread = rate + share / 2, z * sqrt(rate * (1 - rate) / n + share / (4 * n))
    low = (centre - spread) / (1 + share) if hits else 0.0  # rounding would give 2e-18, above the rate
    high = (centre + spread) / (1 + share) if hits < n else 1.0
    return low, high


def _log_probability(a_hits: int, a_n: int, b_n: int, hits: int) -> float:
    """Natural logarithm of a table's probability, its margins given (hypergeometric)."""
    return _log_choose(a_n, a_hits) + _log_choose(b_n, hits - a_hits) - _log_choose(a_n + b_n, hits)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _mode(a_n: int, b_n: int, hits: int) -> int:
    return (hits + 1) * (a_n + 1) // (a_n + b_n + 2)


def _tail(a_n: int, b_n: int, hits: int, limit: float) -> float:
    """Sum over the tables with more a-hits than the mode whose log probability is at most limit."""

    def is_counted(a_hits: int) -> bool:
        return _log_probability(a_hits, a_n, b_n, hits) <= limit

    beyond_mode = range(_mode(a_n, b_n, hits), min(hits, a_n) + 1)  # probabilities fall along it
    counted = beyond_mode[bisect_left(beyond_mode, True, key=is_counted) :]
    if not counted:
        return 0.0
    total, probability = 0.0, exp(_log_probability(counted[0], a_n, b_n, hits))
    for a_hits in counted:
        total += probability
        if probability <= total * 1e-17:
            break
        probability *= (hits - a_hits) * (a_n - a_hits) / ((a_hits + 1) * (b_n - hits + a_hits + 1))
    return total


def _weigh_strata(strata: Sequence[TwoSides]) -> tuple[list[float], list[_Side], list[_Side]]:
    """Mantel–Haenszel weights, which add up to 1, and both sides of the strata that have both."""
    complete = [stratum for stratum in strata if stratum.n and stratum.other_n]
    weights = [stratum.n * stratum.other_n / (stratum.n + stratum.other_n) for stratum in complete]
    total = sum(weights)
    return (
        [weight / total for weight in weights],
        [(stratum.hits, stratum.n) for stratum in complete],
        [(stratum.other_hits, stratum.other_n) for stratum in complete],
    )


def _mean_rate(weights: list[float], sides: list[_Side]) -> float:
    return sum(weight * hits / n for weight, (hits, n) in zip(weights, sides, strict=True))


def _spread(weights: list[float], sides: list[_Side]) -> float:
    """The factor of a rate's variance: 1 / n for a single stratum."""
    return sum(weight * weight / n for weight, (_, n) in zip(weights, sides, strict=True))


def _stratified_wilson(weights: list[float], sides: list[_Side], z: float) -> tuple[float, float]:
    """Weighted mean of the strata's Wilson intervals, each at the quantile that makes the mean hold at z."""
    errors = [
        weight * sqrt(hits * (n - hits) / n**3) for weight, (hits, n) in zip(weights, sides, strict=True)
    ]
    if not any(errors):  # every rate is 0 or 1: all vary alike, only n counts
        errors = [weight / sqrt(n) for weight, (_, n) in zip(weights, sides, strict=True)]
    narrower = z * sqrt(sum(error * error for error in errors)) / sum(errors)
    bounds = [_wilson(hits, n, narrower) for hits, n in sides]
    low = sum(weight * bound[0] for weight, bound in zip(weights, bounds, strict=True))
    high = sum(weight * bound[1] for weight, bound in zip(weights, bounds, strict=True))
    return low, min(1.0, high)
