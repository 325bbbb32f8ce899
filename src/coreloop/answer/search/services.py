"""Services that search the web: SearXNG, Tavily and arXiv."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree

import msgspec

from coreloop.answer.search.exchange import Now, ask_service, found
from coreloop.answer.search.provider import Blocked, Failed, SearchAnswer, SearchLimits
from coreloop.base.http import HttpRequest


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


def _search(name: str, request: HttpRequest, limits: SearchLimits, now: Now) -> SearchAnswer:
    content = ask_service(request, limits, now=now)
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
    return found(rows, name, limits, now=now)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SearxngProvider:
    """Searches by an instance of SearXNG whose ``search.formats`` has ``json`` (docs.searxng.org).

    If no engine of the instance answered, the search failed; it is not empty.

    Parameters
    ----------
    url : str
        Of the instance.
    now : callable
        Returns the time, with a time zone.
    """

    url: str
    now: Now = _now
    name: str = "searxng"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once."""
        parameters = urlencode({"q": query, "format": "json"})
        return _search(
            self.name, HttpRequest(url=f"{self.url.rstrip('/')}/search?{parameters}"), limits, self.now
        )


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
    now : callable
        Returns the time, with a time zone.
    """

    key: str = field(repr=False)
    url: str = "https://api.tavily.com"
    now: Now = _now
    name: str = "tavily"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once."""
        body = {"query": query[:400], "max_results": min(limits.max_results, 20)}
        headers = {"Authorization": f"Bearer {self.key}"}
        url = f"{self.url.rstrip('/')}/search"
        request = HttpRequest(method="POST", url=url, headers=headers, json=body)
        return _search(self.name, request, limits, self.now)


_PAUSE_S: Final = 3.0
"""Between two requests to arXiv."""
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_WORD: Final = re.compile(r"\w+")
_NO_FEED: Final = Failed("the answer is not the feed that was expected")


class ArxivProvider:
    """Searches abstracts of preprints (info.arxiv.org/help/api); threads share it, and wait for their turn.

    Parameters
    ----------
    url : str
        Of the service.
    now : callable
        Returns the time, with a time zone.
    sleep : callable
        Waits some seconds.
    """

    name = "arxiv"

    def __init__(
        self,
        *,
        url: str = "https://export.arxiv.org/api/query",
        now: Now = _now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url, self._now, self._sleep = url, now, sleep
        self._turn = Lock()
        self._next_s = 0.0

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once, for all words of the query."""
        words = _WORD.findall(query)[:20]
        if not words:
            return Failed("the query has no words", is_retryable=False)
        asked = " AND ".join(f"all:{word}" for word in words)
        parameters = urlencode({"search_query": asked, "max_results": limits.max_results})
        content = self._in_turn(HttpRequest(url=f"{self._url}?{parameters}"), limits)
        return self._read(content, limits) if isinstance(content, bytes) else content

    def _in_turn(self, request: HttpRequest, limits: SearchLimits) -> bytes | Blocked | Failed:
        """Send a request after the pause, one at a time, as the manual asks."""
        ends_at = time.monotonic() + limits.timeout_s
        busy = Blocked("other searches of arXiv come first", self._now() + timedelta(seconds=_PAUSE_S))
        if not self._turn.acquire(timeout=limits.timeout_s):
            return busy
        try:
            begins_at = max(self._next_s, time.monotonic())
            if begins_at >= ends_at:
                return busy
            self._sleep(max(0.0, begins_at - time.monotonic()))
            content = ask_service(request, replace(limits, timeout_s=ends_at - begins_at), now=self._now)
            self._next_s = time.monotonic() + _PAUSE_S
            return content
        finally:
            self._turn.release()

    def _read(self, content: bytes, limits: SearchLimits) -> SearchAnswer:
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # entities can grow without end
            return _NO_FEED
        try:
            feed = ElementTree.fromstring(content)
        except (ElementTree.ParseError, ValueError, RecursionError):
            return _NO_FEED
        if feed.tag != f"{_ATOM}feed":
            return _NO_FEED
        names = ("id", "title", "summary", "published")
        rows = (
            tuple(" ".join((entry.findtext(f"{_ATOM}{name}") or "").split()) for name in names)
            for entry in feed.iter(f"{_ATOM}entry")
        )
        # an error is an entry of its own
        papers = ((url, title, text, day) for url, title, text, day in rows if "/api/errors" not in url)
        return found(papers, self.name, limits, now=self._now)
