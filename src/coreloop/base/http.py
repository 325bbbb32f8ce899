"""One HTTP exchange, limited in time and size as a whole. Only this module uses the HTTP library.

The library limits each read, and a server can send one byte at a time for hours.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import SHUT_RDWR, SOCK_STREAM, getaddrinfo, socket
from ssl import SSLContext
from threading import Thread
from typing import Any, Final, Literal, TypeVar

import httpx2

_CONNECTED: Final = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
_ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})
T = TypeVar("T")
Failure = Literal["too_late", "unreachable", "broken", "too_long"]


class ExchangeError(Exception):
    """No complete answer; ``failure`` says why."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What is sent.

    Attributes
    ----------
    method, url : str
        ``GET`` or ``POST``, and an absolute address.
    headers : mapping of str to str
        Additional headers. They may hold a key, so tracebacks with variables do not show them.
    json : object or None
        The body.
    address : str or None
        The IP address to connect to, which was checked before; the name in ``url`` is not resolved again.
    """

    method: Literal["GET", "POST"] = "GET"
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete answer.

    Attributes
    ----------
    status : int
        The HTTP status.
    headers : mapping of str to str
        Names in lower case.
    content : bytes
        Decompressed. Some servers repeat a wrong key in it.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)


@cache
def _certificates() -> SSLContext:
    """The authorities of this machine: read once a process, since reading them takes 30 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class HttpClient:
    """Sends requests, one at a time. Redirects are not followed, and proxies not used.

    Use it as a context manager; it keeps connections open for the next request.
    """

    def __init__(self) -> None:
        self._client = httpx2.Client(follow_redirects=False, trust_env=False, verify=_certificates())
        self._sockets: list[socket] = []

    def __enter__(self) -> "HttpClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def exchange(self, request: HttpRequest, *, timeout_s: float, max_bytes: int) -> HttpAnswer:
        """Send a request and read the whole answer.

        Parameters
        ----------
        request : HttpRequest
            What to send.
        timeout_s : float
            From the resolution of the name to the last byte of the answer.
        max_bytes : int
            Of the answer, decompressed.

        Raises
        ------
        ExchangeError
            No complete answer.
        """
        answered = _started(partial(self._answer, request, timeout_s, max_bytes))
        try:
            return answered.result(timeout_s)
        except TimeoutError as error:
            raise ExchangeError("too_late", f"no complete answer in {round(timeout_s, 2):g} s") from error
        finally:
            if not answered.done():  # also on Ctrl-C
                self._hang_up()

    def _answer(self, request: HttpRequest, timeout_s: float, max_bytes: int) -> HttpAnswer:
        with _translated():
            built = self._built(request, timeout_s)
            built.headers.update(request.headers)  # now: no failure above can show them
            with closing(self._client.send(built, stream=True)) as answer:
                content = _read(answer, max_bytes)
                headers = {name.lower(): value for name, value in answer.headers.items()}
                return HttpAnswer(answer.status_code, headers, content)

    def _built(self, request: HttpRequest, timeout_s: float) -> httpx2.Request:
        url = httpx2.URL(request.url)
        headers = {"Accept-Encoding": "gzip, deflate"}
        extensions: dict[str, Any] = {"trace": self._note_socket}
        if request.address is not None:
            headers["Host"] = url.netloc.decode("ascii")
            extensions["sni_hostname"] = url.raw_host.decode("ascii")  # the certificate is the name's
            url = url.copy_with(host=request.address)
        return self._client.build_request(
            request.method,
            url,
            headers=headers,
            json=request.json,
            timeout=timeout_s + 1,  # of a single read: the limit of the whole exchange ends first
            extensions=extensions,
        )

    def _note_socket(self, event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            self._sockets.append(info["return_value"].get_extra_info("socket"))

    def _hang_up(self) -> None:
        """Abort the current exchange, so that its thread ends."""
        for connection in self._sockets:
            with suppress(OSError):  # closed, or replaced by its TLS wrapper
                connection.shutdown(SHUT_RDWR)
        self._sockets.clear()


def _started(make: Callable[[], T]) -> "Future[T]":
    """Run in a thread, which can be left alone: the system's calls cannot be ended."""
    made: Future[T] = Future()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:  # passed to the waiting thread
            made.set_exception(error)

    Thread(target=run, daemon=True).start()
    return made


def retry_after_s(answer: HttpAnswer) -> float | None:
    """Return the seconds of a ``Retry-After`` header; its form with a date is hardly used."""
    text = answer.headers.get("retry-after", "")
    # a longer wait than a day is a wrong header
    return min(float(text), 86_400.0) if text.isascii() and text.isdecimal() else None


def _read(answer: httpx2.Response, max_bytes: int) -> bytes:
    if answer.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        raise ExchangeError("broken", "the answer is compressed in a way that was not asked for")
    content = bytearray()
    for part in answer.iter_bytes():  # of 64 kB, at most 64 MB decompressed
        content += part
        if len(content) > max_bytes:
            raise ExchangeError("too_long", f"the answer has more than {max_bytes:,} bytes")
    return bytes(content)


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the HTTP library's errors; their texts may contain the address with its secrets."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise ExchangeError("too_late", "no complete answer in time") from error
    except httpx2.ConnectError as error:
        raise ExchangeError("unreachable", "the server cannot be reached") from error
    except httpx2.DecodingError as error:
        raise ExchangeError("broken", "the compressed answer is damaged") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise ExchangeError("broken", f"the connection failed ({type(error).__name__})") from error


Resolve = Callable[[str], Iterable[str]]  # A host's name -> its IP addresses; raises OSError
Allows = Callable[[str], bool]  # whether an IP address may be connected to
_NAT64: Final = ip_network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_NOT_PUBLIC: Final = (
    ip_network("192.0.0.0/24"),  # has Oracle's metadata; older Pythons refuse parts of it
    ip_network("168.63.129.16/32"),  # Azure's host
    ip_network("2002::/16"),  # 6to4, which leads to any IPv4 address
)


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
    answers = getaddrinfo(host, None, type=SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _resolved(host: str, resolve: Resolve, timeout_s: float) -> list[str]:
    try:
        return _started(lambda: list(resolve(host))).result(timeout_s)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise RefusedAddressError(f"{host} cannot be resolved") from error
