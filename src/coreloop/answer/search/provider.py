"""The protocol of a provider: one query, one of four answers. Nothing found, blocked and failed differ."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that was found.

    Attributes
    ----------
    title : str
        Of the page or file; its location if it has none.
    location : str
        An ``http(s)`` address, or a path relative to the project, with ``/``.
    type : str
        ``web``, ``paper``, ``markdown``, ``text``, ``html``, ``python``, ``pdf``, …
    text : str
        The passage that was found: data of others, without control and invisible characters.
    retrieved_at : datetime
        With a time zone.
    published : str or None
        As exactly as it is known: ``2026-04-25``, ``2026-04``, ``2026 Q2`` or ``2026``; of lines without a
        date ``2026-04-25, git``; None if unknown.
    start : int or None
        Where the passage begins in the text of the file or page, in characters; None for a text that is the
        provider's own, such as a snippet.
    line : int or None
        Where the passage begins in a file, from 1; of a PDF the page. None for pages of the web.
    provider : str
        The name of the provider that found it.
    """

    title: str
    location: str
    type: str
    text: str
    retrieved_at: datetime
    published: str | None = None
    start: int | None = None
    line: int | None = None
    provider: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def reference(self) -> str:
        """How a symbol or a part of a schema is named: ``shop.py::Order.total``, ``a.sql#orders.total``."""
        return f"{self.location}{'' if self.type == 'schema' else '::'}{self.title}"


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
