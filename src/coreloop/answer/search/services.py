"""Services that search the web: SearXNG, Tavily and arXiv; a request to one, and its results as sources."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree

import msgspec

from coreloop.answer.search.extract.document import clean_text
from coreloop.answer.search.extract.file_date import date_in_name
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits, Source
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest, retry_after_s

USER_AGENT: Final = "dartlab-coreloop"
_QUOTA: Final = frozenset({402, 432, 433})  # what services answer when a plan, or pay as you go, is used up
_MAX_TITLE: Final = 300
_MAX_URL: Final = 2_000


def ask_service(request: HttpRequest, limits: SearchLimits) -> bytes | Blocked | Failed:
    """Send a request and judge the status of its answer.

    Parameters
    ----------
    request : HttpRequest
        Its address and headers may hold a key, which no answer of this function repeats.
    limits : SearchLimits
        Time and size.
    """
    named = replace(request, headers={"User-Agent": USER_AGENT, **request.headers})
    try:
        with HttpClient() as client:
            answer = client.exchange(named, timeout_s=limits.timeout_s, max_bytes=limits.max_bytes)
    except ExchangeError as error:
        return Failed(str(error), is_retryable=error.failure != "too_long")
    status = answer.status
    if status == 200:
        return answer.content
    if blocked := asked_to_wait(answer, datetime.now(UTC)):
        return blocked
    if status in _QUOTA:
        return Blocked(f"the quota is used up (HTTP {status})")
    if status in {401, 403}:
        return Failed(f"access is refused (HTTP {status}); check its key and settings", is_retryable=False)
    if 300 <= status < 400:
        return Failed(f"redirects elsewhere (HTTP {status}); correct the address", is_retryable=False)
    return Failed(f"HTTP {status}", is_retryable=status >= 500 or status == 408)


def asked_to_wait(answer: HttpAnswer, now: datetime) -> Blocked | None:
    """Return that a server wants to be left alone, and until when, if it says so."""
    wait_s = retry_after_s(answer)
    if answer.status == 429 or (answer.status == 503 and wait_s is not None):
        until = None if wait_s is None else now + timedelta(seconds=wait_s)
        return Blocked(f"too many requests (HTTP {answer.status})", until)
    return None


def found(rows: Iterable[Sequence[str]], provider: str, limits: SearchLimits) -> Found | Empty:
    """Return results as sources, each address once; those without text or ``http(s)`` address are left out.

    Parameters
    ----------
    rows : iterable of (str, str, str, str)
        Addresses, titles, texts and dates: untrusted.
    """
    by_location: dict[str, Source] = {}
    for row in rows:
        location, title, passage, published = (" ".join(clean_text(text).split()) for text in row)
        is_address = location.startswith(("http://", "https://")) and " " not in location
        if passage and is_address and len(location) <= _MAX_URL:
            source = Source(
                title=title[:_MAX_TITLE] or location,
                location=location,
                type="paper" if provider == "arxiv" else "web",
                text=passage,
                retrieved_at=datetime.now(UTC),
                published=date_in_name(published) or None,
                provider=provider,
            )
            by_location.setdefault(location, source)
    best = tuple(by_location.values())[: limits.max_results]
    return Found(best) if best else Empty()


class _Result(msgspec.Struct):
    url: str | None = ""
    title: str | None = ""
    content: str | None = ""
    publishedDate: str | None = ""  # noqa: N815 (SearXNG's name)
    published_date: str | None = ""
    """Tavily's name."""


class _Answer(msgspec.Struct):
    results: list[_Result]
    unresponsive_engines: list[Any] = []


def _search(name: str, request: HttpRequest, limits: SearchLimits) -> SearchAnswer:
    content = ask_service(request, limits)
    if not isinstance(content, bytes):
        return content
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Failed("the answer is not the JSON that was expected")
    if not answer.results and answer.unresponsive_engines:
        return Failed("no search engine of the instance answered")
    rows = (
        (one.url or "", one.title or "", one.content or "", one.publishedDate or one.published_date or "")
        for one in answer.results
    )
    return found(rows, name, limits)


@dataclass(frozen=True, slots=True)
class SearxngProvider:
    """Searches by an instance of SearXNG whose ``search.formats`` has ``json`` (docs.searxng.org).

    If no engine of the instance answered, the search failed; it is not empty.

    Parameters
    ----------
    url : str
        Of the instance.
    """

    url: str
    name: str = "searxng"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once."""
        parameters = urlencode({"q": query, "format": "json"})
        request = HttpRequest(url=f"{self.url.rstrip('/')}/search?{parameters}")
        return _search(self.name, request, limits)


TAVILY_KEY: Final = "TAVILY_API_KEY"


@dataclass(frozen=True, slots=True)
class TavilyProvider:
    """Searches by Tavily, which takes queries of up to 400 characters (docs.tavily.com); longer ones are cut.

    Parameters
    ----------
    key : str
        Of the account; it is sent as a header, and nowhere else.
    url : str
        Of the service.
    """

    key: str = field(repr=False)
    url: str = "https://api.tavily.com"
    name: str = "tavily"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once."""
        body = {"query": query[:400], "max_results": min(limits.max_results, 20)}
        headers = {"Authorization": f"Bearer {self.key}"}
        request = HttpRequest(method="POST", url=f"{self.url.rstrip('/')}/search", headers=headers, json=body)
        return _search(self.name, request, limits)


_PAUSE_S: Final = 3.0  # between two requests to arXiv
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class ArxivProvider:
    """Searches abstracts of preprints (info.arxiv.org/help/api); threads share it, and wait for their turn.

    Parameters
    ----------
    url : str
        Of the service.
    sleep : callable
        Waits some seconds.
    """

    url: str = "https://export.arxiv.org/api/query"
    sleep: Callable[[float], None] = time.sleep
    name: str = "arxiv"
    _turn: Lock = field(default_factory=Lock, init=False)
    _next_s: float = field(default=0.0, init=False)

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once, for all words of the query."""
        words = _WORD.findall(query)[:20]
        if not words:
            return Failed("the query has no words", is_retryable=False)
        asked = " AND ".join(f"all:{word}" for word in words)
        parameters = urlencode({"search_query": asked, "max_results": limits.max_results})
        content = self._in_turn(HttpRequest(url=f"{self.url}?{parameters}"), limits)
        if not isinstance(content, bytes):
            return content
        feed = _feed(content)
        if feed is None:
            return Failed("the answer is not the feed that was expected")
        names = ("id", "title", "summary", "published")
        entries = feed.iter(f"{_ATOM}entry")
        rows = ([entry.findtext(f"{_ATOM}{name}") or "" for name in names] for entry in entries)
        papers = (row for row in rows if "/api/errors" not in row[0])  # an error is an entry of its own
        return found(papers, self.name, limits)

    def _in_turn(self, request: HttpRequest, limits: SearchLimits) -> bytes | Blocked | Failed:
        """Send a request after the pause, one at a time, as the manual asks."""
        ends_at = time.monotonic() + limits.timeout_s
        busy = Blocked("other searches of arXiv come first", datetime.now(UTC) + timedelta(seconds=_PAUSE_S))
        if not self._turn.acquire(timeout=limits.timeout_s):
            return busy
        try:
            begins_at = max(self._next_s, time.monotonic())
            if begins_at >= ends_at:
                return busy
            self.sleep(max(0.0, begins_at - time.monotonic()))
            content = ask_service(request, replace(limits, timeout_s=ends_at - begins_at))
            self._next_s = time.monotonic() + _PAUSE_S
            return content
        finally:
            self._turn.release()


def _feed(content: bytes) -> ElementTree.Element | None:
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # entities can grow without end
        return None
    try:
        feed = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    return feed if feed.tag == f"{_ATOM}feed" else None
