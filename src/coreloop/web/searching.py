"""The route that searches the index."""

from datetime import UTC, datetime

from coreloop.answer.search.index.fresh import search_files
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source as FoundSource
from coreloop.web.bodies import SearchReply, SearchRequest, SourceReply
from coreloop.web.route import HttpCall


def search(call: HttpCall) -> SearchReply:
    """Return the passages that fit a query best, of the files as they are now."""
    body: SearchRequest = call.body
    limits = SearchLimits(max_results=body.limit)
    found = search_files(call.service.deps.workspace, body.query, limits, now=datetime.now(UTC))
    return SearchReply(tuple(map(_reply, found.sources)), found.note)


def _reply(source: FoundSource) -> SourceReply:
    return SourceReply(
        title=source.title,
        location=source.location,
        type=source.type,
        text=source.text,
        line=source.line,
        published=source.published.isoformat() if source.published else None,
        provider=source.provider,
    )
