"""A breaker: a provider that keeps failing is left alone for a while, then tried with one query."""

from collections import deque
from typing import Final

IN_A_ROW: Final = 3  # chosen, as the next: one timeout is chance, half of four is an outage
LEAST_QUERIES: Final = 4  # chosen: half of fewer is one
_REMEMBERED: Final = 10  # chosen: what happened earlier says little of now
_PAUSE_S: Final = 30.0  # a restart takes about as long
_LONGEST_PAUSE_S: Final = 600.0


class Breaker:
    """Opens after three failed queries in a row, or when half of the last queries failed, of at least four.

    A query counts once, after its retries. After a pause one query is let through: if it succeeds, the
    failures are forgotten; if not, the next pause is twice as long.
    """

    def __init__(self) -> None:
        self._outcomes: deque[bool] = deque(maxlen=_REMEMBERED)
        self._until_s: float | None = None
        self._pause_s = _PAUSE_S
        self._is_trial = False
        self.is_asked_for = False
        """Whether the provider itself asked to be left alone."""

    def closed_s(self, now_s: float) -> float:
        """Return for how many seconds no query goes through; a 0 after a pause lets one query try."""
        if self._until_s is None:
            return 0.0
        if now_s < self._until_s:
            return self._until_s - now_s
        self._is_trial = True
        self._until_s = now_s + self._pause_s  # others wait for the trial
        return 0.0

    def succeeded(self) -> None:
        """Count a query that worked."""
        if self._is_trial:
            self._outcomes.clear()
            self._pause_s = _PAUSE_S
        self._outcomes.append(True)
        self._until_s, self._is_trial, self.is_asked_for = None, False, False

    def failed(self, now_s: float) -> bool:
        """Count a query that failed; returns whether that opened the breaker."""
        self._outcomes.append(False)
        if self._is_trial:
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        elif not self._is_too_much() or self._until_s is not None:
            return False
        self._until_s, self._is_trial, self.is_asked_for = now_s + self._pause_s, False, False
        return True

    def close_for(self, seconds: float, now_s: float) -> None:
        """Let nothing through for some time, because the provider asks for it."""
        self._until_s, self._is_trial, self.is_asked_for = now_s + max(0.0, seconds), False, True

    def _is_too_much(self) -> bool:
        recent = list(self._outcomes)
        in_a_row = recent[-IN_A_ROW:]
        if len(in_a_row) == IN_A_ROW and not any(in_a_row):
            return True
        return len(recent) >= LEAST_QUERIES and 2 * recent.count(False) >= len(recent)
