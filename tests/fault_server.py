"""A server on this machine that misbehaves in a chosen way, on a socket, below what HTTP libraries allow."""

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache

from coreloop.answer.search.page import Network, PageReader

HOST = "127.0.0.2"
"""An address of this machine that a test can allow while 127.0.0.1 stays forbidden."""
Behave = Callable[[socket.socket, threading.Event], None]


@dataclass
class FaultServer:
    """Its port, what it does by path, and the requests it got."""

    port: int = 0
    paths: dict[str, Behave] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request and (part := connection.recv(65_536)):
                request += part
            self.requests.append(request)
            target = request.split(b" ", 2)[1].decode("latin-1") if b" " in request else ""
            behave = self.paths.get(target.partition("?")[0], self.paths.get("*", replies(404)))
            behave(connection, self.is_over)


@contextmanager
def fault_server() -> Iterator[FaultServer]:
    """Run the server; what hangs is let go at the end."""
    server = FaultServer()
    with socket.create_server((HOST, 0)) as listener:
        server.port = listener.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=server.serve, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def reader_of(port: int) -> PageReader:
    """A reader whom every name leads to the server."""
    network = Network(
        resolve=lambda _: [HOST], allows=lambda address: address == HOST, ports=frozenset({port})
    )
    return PageReader(network=network)


def replies(status: int = 200, body: bytes | str = b"", **headers: str) -> Behave:
    """Answer as a good server does."""
    content = body.encode() if isinstance(body, str) else body
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"content-length": str(len(content)), "connection": "close", **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return sends(f"HTTP/1.1 {status} Reason\r\n{head}\r\n".encode() + content)


def sends(data: bytes) -> Behave:
    """Send some bytes and close."""
    return lambda connection, _over: connection.sendall(data)


def hangs(connection: socket.socket, is_over: threading.Event) -> None:
    """Take the request and never answer."""
    is_over.wait()


def drips(connection: socket.socket, is_over: threading.Event) -> None:
    """Send a byte now and then, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n")
    while not is_over.wait(0.05):
        connection.sendall(b" ")


def drips_headers(connection: socket.socket, is_over: threading.Event) -> None:
    """Send headers for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not is_over.wait(0.05):
        connection.sendall(b"x-more: 1\r\n")


def resets(connection: socket.socket, _over: threading.Event) -> None:
    """Break off within the body, with a reset."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<html>")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def floods(size: int) -> Behave:
    """Send a large body without saying how large."""

    def behave(connection: socket.socket, is_over: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n")
        for _ in range(size // 100_000):
            if is_over.is_set():
                return
            connection.sendall(b"a" * 100_000)

    return behave


def gzip_bomb() -> Behave:
    """A hundred kilobytes that become a hundred megabytes."""

    def behave(connection: socket.socket, is_over: threading.Event) -> None:
        replies(200, _inflating(), content_encoding="gzip", content_type="text/html")(connection, is_over)

    return behave


@cache
def _inflating() -> bytes:
    return gzip.compress(b"a" * 100_000_000)


def deep_json() -> Behave:
    """JSON that is nested a hundred thousand times."""
    return replies(200, '{"results":' + "[" * 100_000 + "]" * 100_000 + "}")


def searxng_answer(*urls: str, unresponsive: list[list[str]] | None = None) -> bytes:
    """An answer in the shape that SearXNG documents."""
    results = [
        {
            "url": url,
            "title": f"Title of {url}",
            "content": "배당금은 주당 300원이다.",
            "engine": "duckduckgo",
            "publishedDate": "2026-11-20T00:00:00",
        }
        for url in urls
    ]
    return json.dumps(
        {"query": "q", "number_of_results": 0, "results": results, "unresponsive_engines": unresponsive or []}
    ).encode()
