"""Folders of records over HTTP on loopback: listings, ETags and ranges, as a server of files gives them."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote, unquote


class RecordsServer:
    """The server, and what lies there: name below the root -> content."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.is_locked = False

    def answer(self, path: str, wanted: str | None) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of an answer."""
        name = unquote(path).strip("/")
        if self.is_locked:
            return 403, {}, b""
        if name in self.files:
            return _ranged(self.files[name], wanted)
        names = {
            file.removeprefix(f"{name}/").partition("/")[0]
            for file in self.files
            if file.startswith(f"{name}/")
        }
        if not names and name not in self.folders:
            return 404, {}, b""
        links = "".join(f'<a href="{self.url}/{quote(f"{name}/{one}")}">{one}</a>' for one in sorted(names))
        return 200, {"Content-Type": "text/html"}, f"<html>{links}</html>".encode()


def _ranged(content: bytes, wanted: str | None) -> tuple[int, dict[str, str], bytes]:
    headers = {"ETag": hashlib.md5(content).hexdigest(), "Accept-Ranges": "bytes"}
    if wanted is None:
        return 200, headers, content
    start, _, end = wanted.removeprefix("bytes=").partition("-")
    last = min(int(end or len(content) - 1), len(content) - 1)
    headers["Content-Range"] = f"bytes {start}-{last}/{len(content)}"
    return 206, headers, content[int(start) : last + 1]


@contextmanager
def records_server() -> Iterator[RecordsServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = served.answer(self.path.partition("?")[0], self.headers["Range"])
            self.send_response(status)
            for header, value in {**headers, "Content-Length": f"{len(body)}"}.items():
                self.send_header(header, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - the standard library's name

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = RecordsServer(server.server_port)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
