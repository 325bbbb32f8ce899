"""Faults in tiers: what a search does before it is given up.

1. An attempt that failed is repeated: three attempts, with growing random pauses. A provider that says when
   to ask again is asked then, if that is soon.
2. A query that found little is reworded by the caller, which knows what was meant.
3. A provider that keeps failing is left alone for a while (`coreloop.answer.search.failover`).
4. The next provider is asked.
"""

import random
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final

from coreloop.answer.search.exchange import Now
from coreloop.answer.search.provider import (
    Blocked,
    Empty,
    Failed,
    Found,
    Provider,
    SearchAnswer,
    SearchLimits,
)

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


ATTEMPTS: Final = 3  # chosen: what fails three times in two seconds is down
LONGEST_S: Final = 10.0
"""Of an attempt, and of a pause."""
_FIRST_PAUSE_S: Final = 0.5  # doubled each time: three attempts are over in two seconds beside their own time


@dataclass(slots=True)
class SearchCounts:
    """What happened to all searches, for metrics. Keys are names of providers.

    Attributes
    ----------
    searches, retries, opened : Counter
        Searches after retries, repeated attempts, and how often a breaker opened.
    failures : Counter
        By provider and ``failed`` or ``blocked``, after retries.
    """

    searches: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Time and chance; tests bring their own."""

    now: Now = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    """0–1."""


class Failover:
    """Providers in order, each repeated and left alone as the tiers say. It is a provider itself.

    Several threads may share it.

    Parameters
    ----------
    providers : sequence of Provider
        The first is preferred; at least one.
    pace : Pace
        Time and chance.
    """

    def __init__(self, providers: Sequence[Provider], *, pace: Pace | None = None) -> None:
        self._providers = tuple(providers)
        self._pace = pace or Pace()
        self._breakers = {provider.name: Breaker() for provider in providers}
        self._lock = Lock()
        self.counts = SearchCounts()

    @property
    def name(self) -> str:
        """The names of the providers, in order."""
        return ",".join(provider.name for provider in self._providers)

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search until a provider finds something.

        Returns
        -------
        Found or Empty or Blocked or Failed
            `Empty` only if every provider was asked and found nothing: what a provider that does not answer
            would have found is not known.
        """
        ends_at = self._pace.monotonic() + limits.deadline_s
        problems: list[Blocked | Failed] = []
        failures: list[str] = []
        for provider in self._providers:
            answer = self._ask(provider, query, limits, ends_at, failures)
            if isinstance(answer, Found):
                return replace(answer, failures=tuple(failures))
            if not isinstance(answer, Empty):
                problems.append(_named(answer, provider.name))
        return replace(_together(problems) if problems else Empty(), failures=tuple(failures))

    def _ask(
        self, provider: Provider, query: str, limits: SearchLimits, ends_at: float, failures: list[str]
    ) -> SearchAnswer:
        if self._pace.monotonic() >= ends_at:
            return Failed("the time is over")  # says nothing about the provider: not counted
        with self._lock:
            breaker = self._breakers[provider.name]
            closed_s = breaker.closed_s(self._pace.monotonic())
        if closed_s > 0:
            return self._left_alone(closed_s, is_asked_for=breaker.is_asked_for)
        answer = self._attempts(provider, query, limits, ends_at, failures)
        with self._lock:
            self._count(provider.name, answer)
        return answer

    def _left_alone(self, seconds: float, *, is_asked_for: bool) -> Blocked | Failed:
        if is_asked_for:
            until = self._pace.now() + timedelta(seconds=seconds)
            return Blocked(f"asked to be left alone for {seconds:.0f} s", until)
        return Failed(f"left alone for {seconds:.0f} s after failures")

    def _attempts(
        self, provider: Provider, query: str, limits: SearchLimits, ends_at: float, failures: list[str]
    ) -> SearchAnswer:
        """Ask until an answer comes or another attempt is of no use; adds why each attempt failed."""
        answer: SearchAnswer = Failed("the time is over")
        for number in range(ATTEMPTS):
            left_s = ends_at - self._pace.monotonic()
            if left_s <= 0:
                return answer
            attempt = replace(limits, timeout_s=min(limits.timeout_s, LONGEST_S, left_s))
            answer = provider.search(query, attempt)
            if isinstance(answer, Blocked | Failed):
                failures.append(f"{provider.name}: {answer.reason}")
            pause_s = self._pause_s(answer, number)
            if pause_s is None or number == ATTEMPTS - 1 or pause_s >= ends_at - self._pace.monotonic():
                return answer
            with self._lock:
                self.counts.retries[provider.name] += 1
            self._pace.sleep(pause_s)
        return answer

    def _pause_s(self, answer: SearchAnswer, number: int) -> float | None:
        """Return how long to wait before the next attempt; None if another one is of no use."""
        if isinstance(answer, Blocked) and answer.until is not None:
            wait_s = (answer.until - self._pace.now()).total_seconds()
            return max(0.0, wait_s) if wait_s <= LONGEST_S else None
        if isinstance(answer, Blocked) or (isinstance(answer, Failed) and answer.is_retryable):
            # full jitter would allow no pause at all; half of it is kept
            return min(LONGEST_S, _FIRST_PAUSE_S * (1 << number)) * (0.5 + self._pace.chance() / 2)
        return None

    def _count(self, name: str, answer: SearchAnswer) -> None:
        now_s, breaker = self._pace.monotonic(), self._breakers[name]
        self.counts.searches[name] += 1
        if isinstance(answer, Found | Empty):
            breaker.succeeded()
            return
        self.counts.failures[name, "blocked" if isinstance(answer, Blocked) else "failed"] += 1
        if isinstance(answer, Blocked) and answer.until is not None:
            breaker.close_for((answer.until - self._pace.now()).total_seconds(), now_s)
        elif breaker.failed(now_s):
            self.counts.opened[name] += 1


def _named(answer: Blocked | Failed, name: str) -> Blocked | Failed:
    return replace(answer, reason=f"{name}: {answer.reason}")


def _together(problems: Sequence[Blocked | Failed]) -> Blocked | Failed:
    """Join the reasons: blocked only if all were blocked, until the first of them is free."""
    reason = "; ".join(problem.reason for problem in problems)
    blocked = [problem for problem in problems if isinstance(problem, Blocked)]
    if len(blocked) == len(problems):
        return Blocked(reason, min((problem.until for problem in blocked if problem.until), default=None))
    return Failed(reason, is_retryable=any(isinstance(one, Blocked) or one.is_retryable for one in problems))
