"""How long a job waits after a failed attempt."""

from typing import Final

# Chosen: four times the last, at most ten minutes.
_WAITS_S: Final = (2.0, 8.0, 32.0, 128.0, 512.0, 600.0)


def backoff(attempts: int) -> float:
    """Return the seconds until the next attempt: 2, 8, 32, 128, 512, then always 600."""
    return _WAITS_S[min(attempts, len(_WAITS_S)) - 1]
