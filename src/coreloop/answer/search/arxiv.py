"""arXiv, abstracts of preprints (https://info.arxiv.org/help/api/user-manual.html)."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree

from coreloop.answer.search.exchange import Now, ask_service
from coreloop.answer.search.provider import Blocked, Failed, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.search.web_results import found, web_source
from coreloop.base.http import HttpRequest

URL: Final = "https://export.arxiv.org/api/query"
_PAUSE_S: Final = 3.0
"""Between two requests."""
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 20
_NO_FEED: Final = Failed("the answer is not the feed that was expected")


class ArxivProvider:
    """Searches arXiv; several threads may share it, and wait for their turn.

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
        url: str = URL,
        now: Now = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = url
        self._now = now
        self._sleep = sleep
        self._turn = Lock()
        self._next_s = 0.0

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once, for all words of the query."""
        words = _WORD.findall(query)[:_MOST_WORDS]
        if not words:
            return Failed("the query has no words", is_retryable=False)
        parameters = {
            "search_query": " AND ".join(f"all:{word}" for word in words),
            "max_results": str(limits.max_results),
        }
        request = HttpRequest(url=f"{self._url}?{urlencode(parameters)}")
        content = self._in_turn(request, limits)
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
        return found(map(self._source, feed.iter(f"{_ATOM}entry")), limits.max_results)

    def _source(self, entry: ElementTree.Element) -> Source | None:
        def text(name: str) -> str:
            return " ".join((entry.findtext(f"{_ATOM}{name}") or "").split())

        if "/api/errors" in text("id"):  # an error is an entry of its own
            return None
        return web_source(
            title=text("title"),
            url=text("id"),
            text=text("summary"),
            published=text("published"),
            provider=self.name,
            retrieved_at=self._now(),
            kind="paper",
        )
