"""Results of web services as sources: checked addresses, clean text, dates."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.provider import Empty, Found
from coreloop.answer.search.source import Source

_MAX_TITLE: Final = 300
_MAX_URL: Final = 2_000


def web_source(
    *,
    title: str,
    url: str,
    text: str,
    published: str,
    provider: str,
    retrieved_at: datetime,
    kind: str = "web",
) -> Source | None:
    """Build a source of untrusted strings; None if it has no text or no ``http(s)`` address."""
    location = clean_text(url).strip()
    passage = clean_text(text).strip()
    is_address = location.startswith(("http://", "https://")) and not any(map(str.isspace, location))
    if not passage or not is_address or len(location) > _MAX_URL:
        return None
    return Source(
        title=" ".join(clean_text(title).split())[:_MAX_TITLE] or location,
        location=location,
        type=kind,
        text=passage,
        retrieved_at=retrieved_at,
        published=date_in(published),
        provider=provider,
    )


def date_in(text: str) -> date | None:
    """Read the day of ``2026-11-23T09:00:00Z`` or ``Mon, 23 Nov 2026 09:00:00 GMT``; None if unreadable."""
    with suppress(ValueError):
        return date.fromisoformat(text.strip()[:10])
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(text[:40]).date()
    return None


def found(sources: Iterable[Source | None], max_results: int) -> Found | Empty:
    """Return the first sources, each address once."""
    by_location: dict[str, Source] = {}
    for source in sources:
        if source is not None:
            by_location.setdefault(source.location, source)
    best = tuple(by_location.values())[:max_results]
    return Found(best) if best else Empty()
