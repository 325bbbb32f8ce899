"""Amounts of money and tokens, exact: a budget must hold to the last unit."""

from dataclasses import dataclass
from math import ceil, isfinite
from typing import Final

_MICRO: Final = 1_000_000  # microdollars in a dollar


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls cost, or may cost at most.

    Attributes
    ----------
    microusd : int
        Millionths of a US dollar; integers, since sums of floats are not exact.
    tokens : int
        Input and output tokens.
    """

    microusd: int = 0
    tokens: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.microusd + other.microusd, self.tokens + other.tokens)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.microusd - other.microusd, self.tokens - other.tokens)

    @property
    def usd(self) -> float:
        """US dollars, for people and JSON."""
        return self.microusd / _MICRO


NOTHING: Final = Amount()


def left(whole: Amount, part: Amount) -> Amount:
    """Return what is left of an amount without a part of it; of each unit, at least nothing."""
    return Amount(max(0, whole.microusd - part.microusd), max(0, whole.tokens - part.tokens))


def max_amount(*amounts: Amount) -> Amount:
    """Return the largest of each unit."""
    return Amount(max(each.microusd for each in amounts), max(each.tokens for each in amounts))


def dollars(microusd: int) -> str:
    """Write millionths of a US dollar for people: ``$1,234.50``, and ``$0.004200`` below a cent."""
    decimals = 6 if 0 < microusd < _MICRO // 100 else 2
    return f"${microusd / _MICRO:,.{decimals}f}"


def microusd(usd: float) -> int:
    """Convert US dollars to millionths, rounded up, so that a cost is never understated.

    Raises
    ------
    ValueError
        The number is negative or not finite.
    """
    if not isfinite(usd) or usd < 0:
        raise ValueError(f"not an amount of money: {usd}")
    return ceil(round(usd * _MICRO, 3))  # 0.1 + 0.2 is 300,000 millionths, not 300,001
