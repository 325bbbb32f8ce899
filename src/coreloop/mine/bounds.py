"""How much a rate is worth, given how few cases it stands on."""

from math import sqrt
from statistics import NormalDist


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
    if not requests:
        return 0.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, share = successes / requests, z * z / requests
    spread = z * sqrt(rate * (1 - rate) / requests + share / (4 * requests))
    return max(0.0, (rate + share / 2 - spread) / (1 + share))
