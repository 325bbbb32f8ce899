"""Faults in tiers: what a search does before it is given up.

1. An attempt that failed is repeated: three attempts, with growing random pauses. A provider that says when
   to ask again is asked then, if that is soon.
2. A query that found little is reworded by the caller, which knows what was meant.
3. A provider that keeps failing is left alone for a while.
4. The next provider is asked.
"""

import random
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from coreloop.answer.models.ladder import key_in
from coreloop.answer.search.index.run import vectors_of
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Blocked, Failed, Found, Now, Provider, SearchAnswer, SearchLimits
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import SearchProvider
from coreloop.base.project.workspace import Workspace

ATTEMPTS: Final = 3  # chosen: what fails three times in two seconds is down
LONGEST_S: Final = 10.0  # of an attempt, and of a pause
_FIRST_PAUSE_S: Final = 0.5  # doubled each time: three attempts are over in two seconds beside their own time
IN_A_ROW: Final = 3  # chosen, as the next: one timeout is chance, half of four is an outage
LEAST_QUERIES: Final = 4  # chosen: half of fewer is one
_REMEMBERED: Final = 10  # chosen: what happened earlier says little of now
_PAUSE_S: Final = 30.0  # a restart takes about as long


class Breaker:
    """Opens for half a minute after three failed queries in a row, or when half of the last ten failed.

    A query counts once, after its retries. Half of fewer than four queries opens nothing.
    """

    def __init__(self) -> None:
        self._outcomes: deque[bool] = deque(maxlen=_REMEMBERED)
        self._until_s = 0.0

    def closed_s(self, now_s: float) -> float:
        """Return for how many seconds no query goes through."""
        return max(0.0, self._until_s - now_s)

    def count(self, now_s: float, *, has_worked: bool) -> None:
        """Count a query."""
        self._outcomes.append(has_worked)
        recent = list(self._outcomes)
        is_half = len(recent) >= LEAST_QUERIES and 2 * recent.count(False) >= len(recent)
        if not has_worked and (is_half or recent[-IN_A_ROW:] == [False] * IN_A_ROW):
            self.close_for(_PAUSE_S, now_s)

    def close_for(self, seconds: float, now_s: float) -> None:
        """Let nothing through for some time; what failed before is forgotten."""
        self._outcomes.clear()
        self._until_s = now_s + seconds


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
        answer: SearchAnswer = Failed("no provider is named")
        for provider in self._providers:
            answer = self._ask(provider, query, limits, ends_at, failures)
            if isinstance(answer, Found):
                break
            if isinstance(answer, Blocked | Failed):
                problems.append(replace(answer, reason=f"{provider.name}: {answer.reason}"))
        if problems and not isinstance(answer, Found):
            reason = "; ".join(problem.reason for problem in problems)
            are_blocked = all(isinstance(problem, Blocked) for problem in problems)
            answer = Blocked(reason) if are_blocked else Failed(reason)
        return replace(answer, failures=tuple(failures))

    def _ask(
        self, provider: Provider, query: str, limits: SearchLimits, ends_at: float, failures: list[str]
    ) -> SearchAnswer:
        """Ask until an answer comes or another attempt is of no use; adds why each attempt failed."""
        breaker, now_s = self._breakers[provider.name], self._pace.monotonic()
        answer: SearchAnswer = Failed("the time is over")
        if now_s >= ends_at:
            return answer  # says nothing about the provider: not counted
        closed_s = breaker.closed_s(now_s)
        if closed_s > 0:
            return Failed(f"left alone for {closed_s:.0f} s")
        for number in range(1, ATTEMPTS + 1):
            timeout_s = min(limits.timeout_s, LONGEST_S, ends_at - self._pace.monotonic())
            if timeout_s <= 0:
                break
            answer = provider.search(query, replace(limits, timeout_s=timeout_s))
            if isinstance(answer, Blocked | Failed):
                failures.append(f"{provider.name}: {answer.reason}")
            pause_s = self._pause_s(answer, number)
            if pause_s is None or number == ATTEMPTS or pause_s >= ends_at - self._pace.monotonic():
                break
            self._pace.sleep(pause_s)
        now_s = self._pace.monotonic()
        if isinstance(answer, Blocked) and answer.until is not None:
            breaker.close_for(self._seconds_until(answer.until), now_s)
        else:
            breaker.count(now_s, has_worked=not isinstance(answer, Blocked | Failed))
        return answer

    def _pause_s(self, answer: SearchAnswer, number: int) -> float | None:
        """Return how long to wait before the next attempt; None if another one is of no use."""
        if isinstance(answer, Blocked) and answer.until is not None:
            wait_s = self._seconds_until(answer.until)
            return wait_s if wait_s <= LONGEST_S else None
        if isinstance(answer, Blocked) or (isinstance(answer, Failed) and answer.is_retryable):
            # full jitter would allow no pause at all; half of it is kept
            return _FIRST_PAUSE_S * (1 << number - 1) * (0.5 + self._pace.chance() / 2)
        return None

    def _seconds_until(self, moment: datetime) -> float:
        return max(0.0, (moment - self._pace.now()).total_seconds())


def choose_providers(workspace: Workspace, environ: Mapping[str, str]) -> Failover:
    """Build the providers that the settings name, in their order.

    Parameters
    ----------
    workspace : Workspace
        Its settings have ``search``.
    environ : mapping of str to str
        Holds the keys, which are nowhere else.

    Raises
    ------
    UsageError
        None is named, or one lacks its address or key; names what to set.
    """
    names = tuple(dict.fromkeys(workspace.settings.search.providers))
    if not names:
        raise UsageError("search: providers is empty; name a provider, for example index")
    return Failover([_provider(name, workspace, environ) for name in names])


def _provider(name: SearchProvider, workspace: Workspace, environ: Mapping[str, str]) -> Provider:
    if name == "index":
        return IndexProvider(workspace.index_file, vectors_of(workspace))
    from coreloop.answer.search import services  # the HTTP library takes 60 ms

    if name == "arxiv":
        return services.ArxivProvider()
    if name == "tavily":
        return services.TavilyProvider(key_in(environ, services.TAVILY_KEY))
    url = workspace.settings.search.searxng_url or ""
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            "search: set searxng_url to the address of your SearXNG, such as http://localhost:8080"
        )
    return services.SearxngProvider(url)
