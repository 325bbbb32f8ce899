"""One request to a search service: its content, or why there is none as an answer of a provider."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

import msgspec

from coreloop.answer.search.provider import Blocked, Failed, SearchLimits
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest

T = TypeVar("T")
Now = Callable[[], datetime]
USER_AGENT: Final = "dartlab-coreloop"
_LONGEST_WAIT: Final = timedelta(days=7)
_BUSY: Final = frozenset({429, 503})


def ask_service(
    request: HttpRequest, limits: SearchLimits, *, now: Now, quota: frozenset[int] = frozenset()
) -> bytes | Blocked | Failed:
    """Send a request and judge the status of its answer.

    Parameters
    ----------
    request : HttpRequest
        Its address and headers may hold a key, which no answer of this function repeats.
    limits : SearchLimits
        Time and size.
    now : callable
        Returns the time, with a time zone.
    quota : frozenset of int
        Statuses by which the service says that a quota is used up, besides 402.
    """
    named = replace(request, headers={"User-Agent": USER_AGENT, **request.headers})
    try:
        with HttpClient() as client:
            answer = client.exchange(named, timeout_s=limits.timeout_s, max_bytes=limits.max_bytes)
    except ExchangeError as error:
        return Failed(str(error), is_retryable=error.failure != "too_long")
    return _judged(answer, now(), quota | {402})


def read_json(content: bytes, model: type[T]) -> T | Failed:
    """Decode an answer of a service."""
    try:
        return msgspec.json.decode(content, type=model)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Failed("the answer is not the JSON that was expected")


def retry_time(value: str | None, now: datetime) -> datetime | None:
    """Read a ``Retry-After`` header: seconds, or a date (RFC 9110, section 10.2.3)."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return now + min(timedelta(seconds=int(text[:9])), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(until, now), now + _LONGEST_WAIT)


def _judged(answer: HttpAnswer, now: datetime, quota: frozenset[int]) -> bytes | Blocked | Failed:
    status = answer.status
    until = retry_time(answer.headers.get("retry-after"), now)
    if status == 200:
        return answer.content
    if status == 429 or (status in _BUSY and until is not None):
        return Blocked(f"too many requests (HTTP {status})", until)
    if status in quota:
        return Blocked(f"the quota is used up (HTTP {status})", until)
    if status in {401, 403}:
        return Failed(f"access is refused (HTTP {status}); check its key and settings", is_retryable=False)
    if 300 <= status < 400:
        return Failed(f"redirects elsewhere (HTTP {status}); correct the address", is_retryable=False)
    return Failed(f"HTTP {status}", is_retryable=status >= 500 or status == 408)
