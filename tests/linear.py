"""Work that takes about ten times as long for ten times the text: by CPU time per byte, never by seconds."""

import gc
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from weekly import WEEKLY

SIZES: Final = (10_000, 100_000, *([1_000_000] if WEEKLY else []))
"""The largest costs ten times all others; it shows quadratic work whose part at 100 KB is below `_MOST`."""
_MOST = 5.0
"""Cost of a byte against that in a tenth of the text: 1 for linear work, 10 for quadratic; caches cost 2."""
_SHORTEST_S = 0.01
"""Of a measurement, which is repeated until it takes as long."""
_TRIES = 3
"""One that is cheap enough counts: others may use the machine."""


def assert_linear(
    work: Callable[[Any], object], build: Callable[[int], Any], sizes: tuple[int, ...] = SIZES
) -> None:
    """Fail at the first size that costs more for a byte than a tenth of it does.

    Parameters
    ----------
    work : callable
        What a stranger can cause.
    build : callable
        Builds its input of about a number of bytes.
    sizes : tuple of int
        Each about ten times the one before.
    """
    known: float | None = None
    for small, large in pairwise(sizes):
        ratios: list[float] = []
        while len(ratios) < _TRIES and not (ratios and ratios[-1] <= _MOST):
            of_small = known if known and not ratios else _cost(work, build(small))
            known = _cost(work, build(large))
            ratios.append(known / of_small)
        assert min(ratios) <= _MOST, f"a byte of {large:,} costs {min(ratios):.1f} times one of {small:,}"


def _cost(work: Callable[[Any], object], given: Any) -> float:
    """Return the CPU seconds of a byte, without the collection of garbage."""
    gc.disable()
    try:
        rounds, began_at = 0, time.process_time()
        while (elapsed := time.process_time() - began_at) < _SHORTEST_S or not rounds:
            work(given)
            rounds += 1
        return elapsed / rounds / len(given)
    finally:
        gc.enable()
