"""Fetching one address over HTTP, with its redirects: from public addresses alone, everything is bounded."""

import socket
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from coreloop.answer.search.exchange import USER_AGENT, Now, asked_to_wait
from coreloop.answer.search.provider import Blocked, Failed, SearchLimits
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest

Resolve = Callable[[str], Iterable[str]]
"""A host's name -> its IP addresses; raises OSError."""
Allows = Callable[[str], bool]
"""Whether an IP address may be connected to."""
_NAT64: Final = ip_network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_NOT_PUBLIC: Final = (
    ip_network("192.0.0.0/24"),  # has Oracle's metadata; older Pythons refuse parts of it
    ip_network("168.63.129.16/32"),  # Azure's host
    ip_network("2002::/16"),  # 6to4, which leads to any IPv4 address
)
MAX_REDIRECTS: Final = 5
_MAX_URL: Final = 2_000
_PORTS: Final = {"http": 80, "https": 443}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
Refusal = Callable[[str, SearchLimits], Blocked | Failed | None]
"""An address and the time that is left -> why it must not be fetched, or None."""


class RefusedAddressError(Exception):
    """A host that no page is fetched from; the message says why."""


def is_public(address: str) -> bool:
    """Whether an IP address is public.

    Private, loopback, link-local, shared, reserved, multicast and unspecified addresses are not
    (https://www.iana.org/assignments/iana-ipv4-special-registry), nor are IPv6 addresses that embed an IPv4
    one, except a public one behind NAT64.
    """
    try:
        parsed = ip_address(address)
    except ValueError:  # such as fe80::1%eth0
        return False
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    if isinstance(parsed, IPv6Address):
        if parsed in _NAT64:
            return is_public(str(IPv4Address(int(parsed) & 0xFFFFFFFF)))
        return parsed in _GLOBAL_UNICAST and parsed.is_global
    return parsed.is_global and not parsed.is_multicast


def checked_address(host: str, *, resolve: Resolve, allows: Allows, timeout_s: float) -> str:
    """Resolve a host once and return an address of it, after all of its addresses have been checked.

    The connection then goes to this address: a name that resolves to another one later gains nothing.

    Raises
    ------
    RefusedAddressError
        The name cannot be resolved in time, or one of its addresses is not allowed.
    """
    addresses = _resolved(host, resolve, timeout_s)
    if not addresses:
        raise RefusedAddressError(f"{host} has no address")
    if not all(allows(address) for address in addresses):
        raise RefusedAddressError(f"{host} is not a public address")
    return addresses[0]


def resolve_host(host: str) -> list[str]:
    """Ask the system for a host's addresses."""
    answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _resolved(host: str, resolve: Resolve, timeout_s: float) -> list[str]:
    """Resolve in a thread: the system's call cannot be ended."""
    answered: Future[list[str]] = Future()

    def run() -> None:
        try:
            answered.set_result(list(resolve(host)))
        except BaseException as error:  # passed to the waiting thread
            answered.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return answered.result(timeout_s)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise RefusedAddressError(f"{host} cannot be resolved") from error


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
