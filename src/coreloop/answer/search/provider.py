"""The protocol of a provider: one query, one of four answers. Nothing found, blocked and failed differ."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from coreloop.answer.search.source import Source

Now = Callable[[], datetime]  # returns the time, with a time zone


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """The most that a search may use.

    Attributes
    ----------
    max_results : int
        Sources of an answer.
    timeout_s : float
        Of one attempt; a provider never takes longer.
    deadline_s : float
        Of the whole search, with repeated attempts and other providers; what is under way is cancelled.
    max_bytes : int
        Of an answer of a server, decompressed.
    """

    max_results: int = 10
    timeout_s: float = 10.0
    deadline_s: float = 60.0
    max_bytes: int = 2_000_000


@dataclass(frozen=True, slots=True)
class _Answer:
    failures: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    """Why each attempt failed that came before, in order."""


@dataclass(frozen=True, slots=True)
class Found(_Answer):
    """At least one source, best first."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Empty(_Answer):
    """The search worked, and nothing fits the query."""


@dataclass(frozen=True, slots=True)
class Blocked(_Answer):
    """The provider refuses for now: a rate limit or a quota.

    Attributes
    ----------
    reason : str
        One line that says what to do, without secrets.
    until : datetime or None
        When to ask again, with a time zone; None if the provider does not say.
    """

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Failed(_Answer):
    """The search did not work: no complete answer, one that cannot be read, or a wrong key.

    Attributes
    ----------
    reason : str
        One line, without secrets.
    is_retryable : bool
        Whether the same query can succeed soon.
    """

    reason: str
    is_retryable: bool = True


SearchAnswer = Found | Empty | Blocked | Failed


class Provider(Protocol):
    """Something that finds sources. A provider raises nothing: what goes wrong is an answer."""

    @property
    def name(self) -> str:
        """One word: ``index``, ``searxng``, ``tavily``, ``arxiv``, …"""

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once."""
