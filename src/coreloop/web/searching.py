"""The route that searches the index."""

from datetime import UTC, datetime

from coreloop.answer.search.index.lookup import search_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source as FoundSource
from coreloop.web.bodies import SearchReply, SearchRequest, Source
from coreloop.web.route import Call


def search(call: Call) -> SearchReply:
    """Return the passages that fit a query best."""
    body: SearchRequest = call.body
    limits = SearchLimits(max_results=body.limit)
    found = search_index(call.service.desk.workspace.index_file, body.query, limits, now=datetime.now(UTC))
    return SearchReply(tuple(map(_reply, found)))


def _reply(source: FoundSource) -> Source:
    return Source(
        title=source.title,
        location=source.location,
        type=source.type,
        text=source.text,
        line=source.line,
        published=source.published.isoformat() if source.published else None,
        provider=source.provider,
    )
