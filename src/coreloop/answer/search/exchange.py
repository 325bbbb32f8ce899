"""One request to a search service: its content and its results as sources, or why there are none."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.extract.file_date import date_in_name
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest

Now = Callable[[], datetime]
Row = tuple[str, str, str, str]
USER_AGENT: Final = "dartlab-coreloop"
_LONGEST_WAIT_S: Final = 86_400.0  # a longer wait is a wrong header
_QUOTA: Final = frozenset({402, 432, 433})
"""What services answer when a plan, or pay as you go, is used up."""
_MAX_TITLE: Final = 300
_MAX_URL: Final = 2_000


def ask_service(request: HttpRequest, limits: SearchLimits, *, now: Now) -> bytes | Blocked | Failed:
    """Send a request and judge the status of its answer.

    Parameters
    ----------
    request : HttpRequest
        Its address and headers may hold a key, which no answer of this function repeats.
    limits : SearchLimits
        Time and size.
    now : callable
        Returns the time, with a time zone.
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
    if blocked := asked_to_wait(answer, now()):
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


def found(rows: Iterable[Row], provider: str, limits: SearchLimits, *, now: Now) -> Found | Empty:
    """Return results as sources, each address once; those without text or ``http(s)`` address are left out.

    Parameters
    ----------
    rows : iterable of (str, str, str, str)
        Addresses, titles, texts and dates: untrusted.
    """
    by_location: dict[str, Source] = {}
    for row in rows:
        location, title, passage, published = (clean_text(text).strip() for text in row)
        is_address = location.startswith(("http://", "https://")) and not any(map(str.isspace, location))
        if passage and is_address and len(location) <= _MAX_URL:
            source = Source(
                title=" ".join(title.split())[:_MAX_TITLE] or location,
                location=location,
                type="paper" if provider == "arxiv" else "web",
                text=passage,
                retrieved_at=now(),
                published=date_in_name(published),
                provider=provider,
            )
            by_location.setdefault(location, source)
    best = tuple(by_location.values())[: limits.max_results]
    return Found(best) if best else Empty()


def retry_after_s(answer: HttpAnswer) -> float | None:
    """Return the seconds of a ``Retry-After`` header; its form with a date is hardly used."""
    text = answer.headers.get("retry-after", "")
    return min(float(text), _LONGEST_WAIT_S) if text.isascii() and text.isdecimal() else None
