"""SearXNG, a metasearch engine that one runs oneself (https://docs.searxng.org/dev/search_api.html)."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from coreloop.answer.search.exchange import Now, ask_service, read_json
from coreloop.answer.search.provider import Failed, SearchAnswer, SearchLimits
from coreloop.answer.search.web_results import found, web_source
from coreloop.base.http import HttpRequest


class _Result(msgspec.Struct):
    url: str | None = ""
    title: str | None = ""
    content: str | None = ""
    publishedDate: str | None = ""  # noqa: N815 (the service's name)


class _Answer(msgspec.Struct):
    results: list[_Result]
    unresponsive_engines: list[Any] = []


class SearxngProvider:
    """Searches the web by an instance of SearXNG whose ``search.formats`` has ``json``.

    Parameters
    ----------
    url : str
        Of the instance.
    now : callable
        Returns the time, with a time zone.
    """

    name = "searxng"

    def __init__(self, url: str, *, now: Now = lambda: datetime.now(UTC)) -> None:
        self._url = url.rstrip("/")
        self._now = now

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once. If no engine of the instance answered, the search failed; it is not empty."""
        parameters = urlencode({"q": query, "format": "json"})
        request = HttpRequest(url=f"{self._url}/search?{parameters}")
        content = ask_service(request, limits, now=self._now)
        answer = read_json(content, _Answer) if isinstance(content, bytes) else content
        if not isinstance(answer, _Answer):
            return answer
        if not answer.results and answer.unresponsive_engines:
            return Failed("no search engine of the instance answered")
        at = self._now()
        sources = (
            web_source(
                title=result.title or "",
                url=result.url or "",
                text=result.content or "",
                published=result.publishedDate or "",
                provider=self.name,
                retrieved_at=at,
            )
            for result in answer.results
        )
        return found(sources, limits.max_results)
