"""Bytes that are no request, two requests in one, or too much of one; each with the statuses that hold."""

import socket
from collections.abc import Iterator, Mapping
from functools import partial

from attack.case import Attack
from serving import Served

HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
CLOSE = b"Connection: close\r\n"
END = b"\r\n"
GET = b"GET /version HTTP/1.1\r\n" + HOST
POST = b"POST /search HTTP/1.1\r\n" + HOST + JSON
SEARCH = b'{"query": "river"}'
SIZED = b"Content-Length: 18\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"12\r\n" + SEARCH + b"\r\n0\r\n\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\n" + HOST + CLOSE + END
WHOLE = POST + SIZED + CLOSE + END + SEARCH
REFUSED = (400,)
_WAIT_S = 20.0

TABLE: dict[str, tuple[bytes, tuple[int, ...]]] = {
    # what is no HTTP/1.1
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", REFUSED),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", REFUSED),
    "HTTP/0.9": (b"GET /version\r\n\r\n", REFUSED),
    "HTTP/9.9": (b"GET /version HTTP/9.9\r\n" + HOST + CLOSE + END, REFUSED),
    "HTTP/1.0": (b"GET /version HTTP/1.0\r\n" + HOST + END, (200,)),
    "SSH": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", REFUSED),
    "a proxy's line": (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + GET + END, REFUSED),
    "empty lines": (b"\r\n\r\n" + GET + CLOSE + END, (400, 200)),
    "a null": (b"GET /\x00 HTTP/1.1\r\n" + HOST + END, REFUSED),
    "a space before": (b" GET / HTTP/1.1\r\n" + HOST + END, REFUSED),
    "two spaces": (b"GET  /version HTTP/1.1\r\n" + HOST + END, REFUSED),
    "a tab": (b"GET\t/version HTTP/1.1\r\n" + HOST + END, REFUSED),
    "letters beyond ASCII": ("GET /한강 HTTP/1.1\r\n".encode() + HOST + END, REFUSED),
    "CONNECT": (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n" + END, (400, 404, 405, 421)),
    "an absolute target": (b"GET http://evil.example/version HTTP/1.1\r\n" + HOST + CLOSE + END, (400, 404)),
    "a target of dots": (b"GET /../../etc/passwd HTTP/1.1\r\n" + HOST + CLOSE + END, (404,)),
    "encoded dots": (b"GET /ui/static/..%2f..%2fapp.py HTTP/1.1\r\n" + HOST + CLOSE + END, (404,)),
    "an encoded null": (b"GET /runs/%00 HTTP/1.1\r\n" + HOST + CLOSE + END, (404,)),
    "bytes that are no UTF-8": (b"GET /runs/%ff%fe HTTP/1.1\r\n" + HOST + CLOSE + END, (404,)),
    "a long path": (b"GET /" + b"a" * 16_000 + b" HTTP/1.1\r\n" + HOST + CLOSE + END, (404,)),
    "an invented method": (b"BREW /version HTTP/1.1\r\n" + HOST + CLOSE + END, (405,)),
    "a long method": (b"A" * 9_000 + b" /version HTTP/1.1\r\n" + HOST + CLOSE + END, (405,)),
    "TRACE": (b"TRACE /version HTTP/1.1\r\n" + HOST + CLOSE + END, (405,)),
    "an upgrade to WebSocket": (
        GET + b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n" + END,
        (200, 400, 426),
    ),
    "an upgrade to h2c": (GET + b"Connection: Upgrade, close\r\nUpgrade: h2c\r\n" + END, (200, 400)),
    # hosts
    "no host": (b"GET /version HTTP/1.1\r\n" + CLOSE + END, (400, 421)),
    "two hosts": (GET + HOST + CLOSE + END, REFUSED),
    "another host": (b"GET /version HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + END, (421,)),
    "a host with a name": (
        b"GET /version HTTP/1.1\r\nHost: localhost@evil.example\r\n" + CLOSE + END,
        (421,),
    ),
    "a host and a comma": (b"GET /version HTTP/1.1\r\nHost: localhost, evil\r\n" + CLOSE + END, (421,)),
    "half an address as host": (b"GET /version HTTP/1.1\r\nHost: [::1\r\n" + CLOSE + END, (421,)),
    "a forwarded host": (GET + b"X-Forwarded-Host: evil.example\r\n" + CLOSE + END, (200,)),
    # two readers, two requests
    "both lengths": (POST + SIZED + CHUNKED + END + CHUNKS + SMUGGLED, REFUSED),
    "both, the other way": (POST + CHUNKED + SIZED + END + CHUNKS + SMUGGLED, REFUSED),
    "both, length 0": (POST + b"Content-Length: 0\r\n" + CHUNKED + END + CHUNKS + SMUGGLED, REFUSED),
    "both, small letters": (
        POST + b"content-length: 4\r\ntransfer-encoding: chunked\r\n" + END + CHUNKS,
        REFUSED,
    ),
    "two lengths": (POST + SIZED + b"Content-Length: 0\r\n" + END + SEARCH + SMUGGLED, REFUSED),
    "two lengths in one": (POST + b"Content-Length: 18, 0\r\n" + END + SEARCH + SMUGGLED, REFUSED),
    "a length below 0": (POST + b"Content-Length: -1\r\n" + END, REFUSED),
    "a length with a sign": (POST + b"Content-Length: +18\r\n" + END + SEARCH, REFUSED),
    "a length in hexadecimal": (POST + b"Content-Length: 0x12\r\n" + END + SEARCH, REFUSED),
    "a length with a letter": (POST + b"Content-Length: 18a\r\n" + END + SEARCH, REFUSED),
    "a length of many digits": (POST + b"Content-Length: " + b"9" * 30 + b"\r\n" + END, REFUSED),
    "a length in Arabic digits": (POST + "Content-Length: ١٨\r\n".encode() + END + SEARCH, REFUSED),
    "a space before the colon": (POST + b"Content-Length : 18\r\n" + END + SEARCH + SMUGGLED, REFUSED),
    "a coding before the colon": (POST + b"Transfer-Encoding : chunked\r\n" + END + CHUNKS, REFUSED),
    "an unknown coding": (POST + b"Transfer-Encoding: xchunked\r\n" + END + CHUNKS + SMUGGLED, (400, 501)),
    "two codings": (POST + b"Transfer-Encoding: gzip, chunked\r\n" + END + CHUNKS + SMUGGLED, (400, 501)),
    "the coding twice": (POST + CHUNKED + CHUNKED + END + CHUNKS + SMUGGLED, (400, 501)),
    "the coding with a tab": (
        POST + b"Transfer-Encoding:\tchunked\r\n" + END + CHUNKS + SMUGGLED,
        (200, 400),
    ),
    "the coding folded": (POST + b"Transfer-Encoding:\r\n chunked\r\n" + END + CHUNKS + SMUGGLED, (200, 400)),
    "the coding with a null": (POST + b"Transfer-Encoding: \x00chunked\r\n" + END + CHUNKS, REFUSED),
    "bare LF everywhere": (GET.replace(b"\r", b"") + b"\n" + SMUGGLED, REFUSED),
    "bare LF at the end": (GET + b"\n" + SMUGGLED, REFUSED),
    "bare LF in a header": (GET + b"X: a\nContent-Length: 99\r\n" + END + SMUGGLED, REFUSED),
    "bare CR in a header": (GET + b"X: a\rContent-Length: 99\r\n" + CLOSE + END, REFUSED),
    "a header without a name": (GET + b": a\r\n" + END, REFUSED),
    "a header without a colon": (GET + b"Hello\r\n" + END, REFUSED),
    "a header with a null": (GET + b"X: \x00\r\n" + END, REFUSED),
    "a header with a space": (GET + b"X Y: a\r\n" + END, REFUSED),
    "a chunk of LF": (POST + CHUNKED + END + CHUNKS.replace(b"\r", b"") + SMUGGLED, REFUSED),
    "a chunk below 0": (POST + CHUNKED + END + b"-1\r\n\r\n", REFUSED),
    "a chunk of no digits": (POST + CHUNKED + END + b"zz\r\n\r\n", REFUSED),
    "a chunk of many digits": (POST + CHUNKED + END + b"f" * 40 + b"\r\n", REFUSED),
    "a chunk without its end": (POST + CHUNKED + END + b"12\r\n" + SEARCH + b"xx0\r\n\r\n", REFUSED),
    "an extension of a chunk": (
        POST + CHUNKED + END + CHUNKS.replace(b"0\r\n", b"0;a=b\r\n") + SMUGGLED,
        (200,),
    ),
    "a trailer": (POST + CHUNKED + END + CHUNKS[:-2] + b"A: b\r\n\r\n" + SMUGGLED, (200,)),
    "a trailer of LF": (POST + CHUNKED + END + CHUNKS[:-2] + b"A: b\n\n" + SMUGGLED, (200, 400)),
    "a request behind chunks": (POST + CHUNKED + END + CHUNKS + SMUGGLED, (200,)),
    # too much
    "a long header": (GET + b"X: " + b"a" * 100_000 + END + END, REFUSED),
    "many headers": (GET + b"a: b\r\n" * 20_000 + END, REFUSED),
    "a head without an end": (GET + b"X: " + b"a" * 40_000, REFUSED),
    "a long body": (POST + b"Content-Length: 200000\r\n" + CLOSE + END + b" " * 200_000, (413,)),
    "a long body in chunks": (
        POST + CHUNKED + END + b"30d40\r\n" + b" " * 200_000 + b"\r\n0\r\n\r\n",
        (413,),
    ),
    "nested JSON": (POST + b"Content-Length: 50000\r\n" + CLOSE + END + b"[" * 50_000, (400, 422)),
    "no JSON": (POST + b"Content-Length: 5\r\n" + CLOSE + END + b"{torn", (400,)),
    "half a surrogate": (POST + b"Content-Length: 19\r\n" + CLOSE + END + b'{"query": "\\ud800"}', (400,)),
    "a body that is no UTF-8": (
        POST + b"Content-Length: 14\r\n" + CLOSE + END + b'{"query": "\xff"}',
        (400,),
    ),
    "a key of 10,000 letters": (GET + b"Authorization: Bearer " + b"k" * 10_000 + END + CLOSE + END, (200,)),
    "a cookie of separators": (GET + b"Cookie: coreloop=" + b"~" * 9_000 + END + CLOSE + END, (200,)),
    "languages without an end": (
        b"GET /ui/ HTTP/1.1\r\n" + HOST + b"Accept-Language: " + b"ko;q=" * 3_000 + END + CLOSE + END,
        (200, 303, 404),
    ),
    "an id of an event": (
        b"GET /runs HTTP/1.1\r\n" + HOST + b"Last-Event-ID: " + b"9" * 5_000 + END + CLOSE + END,
        (422,),
    ),
    "a parent of a trace": (GET + b"traceparent: 00-" + b"x" * 9_000 + END + CLOSE + END, (200,)),
    "a good request": (WHOLE, (200,)),
}


def attacks(service: Served) -> Iterator[Attack]:
    return attacks_of(TABLE, service)


def attacks_of(table: Mapping[str, tuple[bytes, tuple[int, ...]]], service: Served) -> Iterator[Attack]:
    for name, (data, statuses) in table.items():
        yield Attack("raw HTTP", name, partial(_broken, service, data, statuses))


def _broken(service: Served, data: bytes, allowed: tuple[int, ...]) -> str:
    before = len(service.lines)
    got = _statuses(service, data)
    if got is None:
        return "the connection stays open without an answer"
    if len(got) != 1 or got[0] not in allowed:
        return f"answered {got or 'nothing'}, not {' or '.join(map(str, allowed))}"
    if any(line["event"] in {"bug", "error"} for line in service.lines[before:]):
        return "the log has a bug or an error"
    return "" if _statuses(service, GET + CLOSE + END) == [200] else "the service does not answer any more"


def _statuses(service: Served, data: bytes) -> list[int] | None:
    """The statuses of all answers; None if the service neither answers nor closes."""
    answer = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=_WAIT_S) as connection:
        try:
            connection.sendall(data)
            while part := connection.recv(65_536):
                answer += part
        except TimeoutError:
            return None
        except OSError:  # closed while we were sending
            pass
    return [int(part.split()[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]
