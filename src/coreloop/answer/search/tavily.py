"""Tavily, a search service for agents (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from datetime import UTC, datetime
from typing import Final

import msgspec

from coreloop.answer.search.exchange import Now, ask_service, read_json
from coreloop.answer.search.provider import SearchAnswer, SearchLimits
from coreloop.answer.search.web_results import found, web_source
from coreloop.base.http import HttpRequest

KEY: Final = "TAVILY_API_KEY"
URL: Final = "https://api.tavily.com"
_QUOTA: Final = frozenset({432, 433})
"""The limits of a plan, and of pay as you go."""
_MOST_RESULTS: Final = 20
_MOST_CHARS: Final = 400


class _Result(msgspec.Struct):
    url: str = ""
    title: str | None = ""
    content: str | None = ""
    published_date: str | None = ""


class _Answer(msgspec.Struct):
    results: list[_Result]


class TavilyProvider:
    """Searches the web by Tavily.

    Parameters
    ----------
    key : str
        Of the account; it is sent as a header, and nowhere else.
    url : str
        Of the service.
    now : callable
        Returns the time, with a time zone.
    """

    name = "tavily"

    def __init__(self, key: str, *, url: str = URL, now: Now = lambda: datetime.now(UTC)) -> None:
        self._headers = {"Authorization": f"Bearer {key}"}
        self._url = url.rstrip("/")
        self._now = now

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once; the service takes queries of up to 400 characters, longer ones are cut."""
        body = {"query": query[:_MOST_CHARS], "max_results": min(limits.max_results, _MOST_RESULTS)}
        request = HttpRequest(method="POST", url=f"{self._url}/search", headers=self._headers, json=body)
        content = ask_service(request, limits, now=self._now, quota=_QUOTA)
        answer = read_json(content, _Answer) if isinstance(content, bytes) else content
        if not isinstance(answer, _Answer):
            return answer
        at = self._now()
        sources = (
            web_source(
                title=result.title or "",
                url=result.url,
                text=result.content or "",
                published=result.published_date or "",
                provider=self.name,
                retrieved_at=at,
            )
            for result in answer.results
        )
        return found(sources, limits.max_results)
