"""How long a job waits after a failed attempt."""

from typing import Final

_FIRST_S: Final = 2.0
_LONGEST_S: Final = 600.0


def backoff(attempts: int) -> float:
    """Return the seconds until the next attempt: 2, 8, 32, 128, 512, then 600."""
    return min(_FIRST_S * 4.0 ** (attempts - 1), _LONGEST_S)
