"""Which hosts a page may be fetched from: public addresses, checked before the connection goes to them."""

import socket
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import Final

Resolve = Callable[[str], Iterable[str]]
"""A host's name -> its IP addresses; raises OSError."""
Allows = Callable[[str], bool]
"""Whether an IP address may be connected to."""
_NAT64: Final = ip_network("64:ff9b::/96")


class RefusedAddressError(Exception):
    """A host that no page is fetched from; the message says why."""


def is_public(address: str) -> bool:
    """Whether an IP address is public, also the IPv4 address inside of an IPv6 one.

    Private, loopback, link-local, shared, reserved, multicast and unspecified addresses are not
    (https://www.iana.org/assignments/iana-ipv4-special-registry).
    """
    try:
        parsed = ip_address(address)
    except ValueError:  # such as fe80::1%eth0
        return False
    inner = _inner(parsed)
    return parsed.is_global and not parsed.is_multicast and (inner is None or is_public(str(inner)))


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


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 one leads to: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
