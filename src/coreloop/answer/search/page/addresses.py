"""Which hosts a page may be fetched from: public addresses, checked before the connection goes to them."""

import socket
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import Final

from coreloop.base.errors import PhrasedError

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


class RefusedAddressError(PhrasedError):
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
