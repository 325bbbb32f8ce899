"""How many connections there may be, all in all and of one address."""

from collections import Counter
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

BACKLOG: Final = 1_024
"""How many connections wait to be accepted."""
ACCEPTED_AT_ONCE: Final = 16
"""In one turn of the event loop, which closes what is too much some turns later."""
_MOST_CONNECTIONS: Final = 4_000
_SHARE_OF_ADDRESS: Final = 4
"""An address may have a quarter: the 1,000 open requests of a caller, or a proxy that passes them on."""
_OTHER_FILES: Final = 8 * ACCEPTED_AT_ONCE + 128
"""What is accepted before it is closed; databases, the index in each thread, calls of models."""


@cache
def max_connections() -> int:
    """Return how many connections may be open, so that the process can always open a file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_CONNECTIONS
    infinite, wanted = resource.RLIM_INFINITY, _MOST_CONNECTIONS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted if hard == infinite else min(hard, wanted)
    if soft != infinite and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, min(_MOST_CONNECTIONS, files - _OTHER_FILES))


class Connections:
    """Counts the open connections of each address; only the event loop's thread uses it."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def open(self, address: str) -> bool:
        """Count a new connection; returns whether it may stay. `close` must follow in any case."""
        self._open[address] += 1
        max_open = max_connections()
        is_one_too_many = self._open.total() > max_open or self._open[address] > max(
            1, max_open // _SHARE_OF_ADDRESS
        )
        return not is_one_too_many

    def close(self, address: str) -> None:
        """Forget a connection."""
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]  # or every address that ever called would stay in memory


def client_address(host: str) -> str:
    """Return what limits count as one address: of IPv6 the network, since a client has all of its /64."""
    try:
        parsed = ip_address(host)
    except ValueError:
        return host
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
    return host
