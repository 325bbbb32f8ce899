"""Fetching one address over HTTP, with its redirects: every host is checked, everything is bounded."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from coreloop.answer.search.exchange import USER_AGENT, Now, asked_to_wait
from coreloop.answer.search.page.addresses import (
    Allows,
    RefusedAddressError,
    Resolve,
    checked_address,
    is_public,
    resolve_host,
)
from coreloop.answer.search.provider import Blocked, Failed, SearchLimits
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest

MAX_REDIRECTS: Final = 5
_MAX_URL: Final = 2_000
_PORTS: Final = {"http": 80, "https": 443}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
Refusal = Callable[[str, SearchLimits], Blocked | Failed | None]
"""An address and the time that is left -> why it must not be fetched, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How the world outside is reached; tests bring their own.

    Attributes
    ----------
    resolve : callable
        A host's name -> its IP addresses.
    allows : callable
        Whether an IP address may be connected to.
    ports : frozenset of int
        That may be connected to.
    now : callable
        Returns the time, with a time zone.
    """

    resolve: Resolve = resolve_host
    allows: Allows = is_public
    ports: frozenset[int] = frozenset(_PORTS.values())
    now: Now = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer at the end of the redirects, and the last address."""

    url: str
    answer: HttpAnswer


def fetch(
    url: str, limits: SearchLimits, network: Network, *, refusal: Refusal = lambda _url, _limits: None
) -> Fetched | Blocked | Failed:
    """Fetch an address and follow its redirects; any status but a redirect ends it.

    Parameters
    ----------
    url : str
        Untrusted.
    limits : SearchLimits
        ``timeout_s`` is for all redirects together.
    network : Network
        How the world outside is reached.
    refusal : callable
        Is asked before each address, also of a redirect.
    """
    ends_at = time.monotonic() + limits.timeout_s
    for _ in range(MAX_REDIRECTS + 1):
        try:
            parts = checked_parts(url, network.ports)
            refused = refusal(url, _left(limits, ends_at))
            if refused is not None:
                return refused
            answer = _exchange(parts, network, _left(limits, ends_at))
        except RefusedAddressError as error:
            return Failed(str(error), is_retryable=False)
        except ExchangeError as error:
            return Failed(str(error), is_retryable=error.failure != "too_long")
        target = answer.headers.get("location", "")
        if answer.status not in _REDIRECTS or not target:
            if blocked := asked_to_wait(answer, network.now()):
                return blocked
            is_up = answer.status < 500
            return Fetched(url, answer) if is_up else Failed(f"HTTP {answer.status}")
        try:
            url = urljoin(url, target)
        except ValueError:
            return Failed("redirects to what is not an address", is_retryable=False)
    return Failed(f"redirects more than {MAX_REDIRECTS} times", is_retryable=False)


def checked_parts(url: str, ports: frozenset[int]) -> SplitResult:
    """Split an address that may be fetched.

    Raises
    ------
    RefusedAddressError
        It is not ``http(s)``, has no host, a name and password, or another port.
    """
    if not url.isprintable() or len(url) > _MAX_URL:
        raise RefusedAddressError("not an address")
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise RefusedAddressError("not an address") from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise RefusedAddressError("only http and https addresses are fetched")
    if parts.username is not None:
        raise RefusedAddressError("an address with a name or password is not fetched")
    if port not in ports:
        raise RefusedAddressError(f"port {port} is not fetched from")
    return parts


def _left(limits: SearchLimits, ends_at: float) -> SearchLimits:
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise ExchangeError("too_late", f"no complete answer in {limits.timeout_s:g} s")
    return replace(limits, timeout_s=left_s)


def _exchange(parts: SplitResult, network: Network, limits: SearchLimits) -> HttpAnswer:
    ends_at = time.monotonic() + limits.timeout_s
    host = str(parts.hostname)
    address = checked_address(
        host, resolve=network.resolve, allows=network.allows, timeout_s=limits.timeout_s
    )
    request = HttpRequest(
        url=parts._replace(fragment="").geturl(),
        headers={"User-Agent": USER_AGENT, "Accept": "text/html, application/pdf, text/plain;q=0.9"},
        address=address,
    )
    left_s = _left(limits, ends_at).timeout_s
    with HttpClient() as client:
        return client.exchange(request, timeout_s=left_s, max_bytes=limits.max_bytes)
