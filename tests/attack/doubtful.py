"""Requests that a parser takes and a service should doubt: methods, targets, hosts, headers and bodies."""

from collections.abc import Iterator

from attack.case import Attack
from attack.raw_http import CLOSE, END, HOST, JSON, SEARCH, SIZED, attacks_of
from serving import Served


def get(target: bytes, *, extra: bytes = b"", method: bytes = b"GET", host: bytes = HOST) -> bytes:
    return method + b" " + target + b" HTTP/1.1\r\n" + host + extra + CLOSE + END


def ask(body: bytes, *, path: bytes = b"/search", kind: bytes = JSON, extra: bytes = b"") -> bytes:
    length = f"Content-Length: {len(body)}\r\n".encode()
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + kind + length + extra + CLOSE + END + body


TABLE: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "a small method": (get(b"/version", method=b"get"), (405,)),
    "no method": (get(b"/version", method=b""), (400,)),
    "a method with a slash": (get(b"/version", method=b"GE/T"), (400,)),
    "HEAD": (get(b"/version", method=b"HEAD"), (200,)),
    "PUT": (get(b"/search", method=b"PUT"), (405,)),
    "DELETE": (get(b"/runs/x", method=b"DELETE"), (405,)),
    "OPTIONS of all": (get(b"*", method=b"OPTIONS"), (404,)),
    "two slashes": (get(b"//evil.example/version"), (404,)),
    "a fragment": (get(b"/version#a"), (404,)),
    "a long query": (get(b"/version?" + b"a=" * 5000), (422,)),
    "a query of many fields": (get(b"/runs?" + b"&".join(b"limit=%d" % i for i in range(1000))), (422,)),
    "a query below 0": (get(b"/runs?limit=-1"), (422,)),
    "a query of many digits": (get(b"/runs?limit=" + b"9" * 4000), (422,)),
    "encoded dots in the path": (get(b"/%2e%2e/%2e%2e/etc/passwd"), (404,)),
    "dots and a semicolon": (get(b"/..;/version"), (404,)),
    "backslashes": (get(b"/..\\..\\etc\\passwd"), (404,)),
    "an encoded line end": (get(b"/version%0d%0aX:%20a"), (404,)),
    "an encoded line end in an id": (get(b"/runs/a%0d%0aSet-Cookie:%20a"), (404,)),
    "half an escape": (get(b"/%"), (404,)),
    "an escape of no digits": (get(b"/%zz"), (404,)),
    "a quote": (get(b"/runs/'%20OR%201=1--"), (404,)),
    "markup": (get(b"/ui/runs/%3Cscript%3Ealert(1)%3C/script%3E"), (404,)),
    "a template": (get(b"/ui/runs/%7B%7B7*7%7D%7D"), (404,)),
    "a page of another folder": (get(b"/ui/static/../../../../etc/passwd"), (404,)),
    "an id of another script": (get(b"/runs/%ED%95%9C%EA%B0%95"), (404,)),
    "an empty host": (get(b"/version", host=b"Host:\r\n"), (421,)),
    "a port of many digits": (get(b"/version", host=b"Host: localhost:99999999\r\n"), (200, 400, 421)),
    "a port of letters": (get(b"/version", host=b"Host: localhost:abc\r\n"), (200, 400, 421)),
    "a host and a path": (get(b"/version", host=b"Host: localhost/evil\r\n"), (200, 400, 421)),
    "a host with a dot": (get(b"/version", host=b"Host: localhost.\r\n"), (421,)),
    "an address as a number": (get(b"/version", host=b"Host: 2130706433\r\n"), (421,)),
    "an address in hexadecimal": (get(b"/version", host=b"Host: 0x7f000001\r\n"), (421,)),
    "a host of spaces": (get(b"/version", host=b"Host: localhost evil\r\n"), (421,)),
    "a host and another below": (get(b"/version", host=b"Host: localhost.evil.example\r\n"), (421,)),
    "a host beyond ASCII": (get(b"/version", host="Host: 한강\r\n".encode()), (421,)),
    "another method in a header": (get(b"/version", extra=b"X-HTTP-Method-Override: DELETE\r\n"), (200,)),
    "another target in a header": (
        get(b"/version", extra=b"X-Original-URL: /ui/\r\nX-Rewrite-URL: /ui/\r\n"),
        (200,),
    ),
    "an address in a header": (
        get(b"/version", extra=b"X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n"),
        (200,),
    ),
    "a body of GET": (get(b"/version", extra=SIZED) + SEARCH, (422,)),
    "a range": (get(b"/version", extra=b"Range: bytes=0-," + b"0-," * 3000 + b"\r\n"), (200,)),
    "a digest of the page": (get(b"/version", extra=b"If-None-Match: " + b'"a",' * 3000 + b"\r\n"), (200,)),
    "another expectation": (ask(SEARCH, extra=b"Expect: evil\r\n"), (200,)),
    "a header that the connection hides": (get(b"/version", extra=b"Connection: host\r\n"), (200,)),
    "a name and a password": (get(b"/version", extra=b"Authorization: Basic YTpi\r\n"), (200,)),
    "a key of nothing": (get(b"/version", extra=b"Authorization:\r\n"), (200,)),
    "a key beyond ASCII": (get(b"/version", extra="Authorization: Bearer 한강\r\n".encode()), (200,)),
    "no origin": (ask(SEARCH, extra=b"Origin: null\r\n"), (403,)),
    "another origin": (ask(SEARCH, extra=b"Origin: https://evil.example\r\n"), (403,)),
    "an origin with our name": (ask(SEARCH, extra=b"Origin: http://localhost.evil.example\r\n"), (403,)),
    "a plain text": (ask(SEARCH, kind=b"Content-Type: text/plain\r\n"), (415,)),
    "no type": (ask(SEARCH, kind=b""), (415,)),
    "a form": (ask(b"query=river", kind=b"Content-Type: application/x-www-form-urlencoded\r\n"), (415,)),
    "a form of parts": (ask(SEARCH, kind=b"Content-Type: multipart/form-data; boundary=a\r\n"), (415,)),
    "JSON in 16 bits": (
        ask('{"query": "a"}'.encode("utf-16"), kind=b"Content-Type: application/json; charset=utf-16\r\n"),
        (400,),
    ),
    "JSON behind a mark": (ask(b"\xef\xbb\xbf" + SEARCH), (400,)),
    "JSON that is packed": (ask(b"\x1f\x8b\x08\x00" + SEARCH, extra=b"Content-Encoding: gzip\r\n"), (400,)),
    "null": (ask(b"null"), (422,)),
    "a number": (ask(b"1"), (422,)),
    "a list": (ask(b"[]"), (422,)),
    "a number without an end": (ask(b'{"query": "a", "limit": 1e999}'), (422,)),
    "a number that is none": (ask(b'{"query": "a", "limit": NaN}'), (400,)),
    "a number of many digits": (ask(b'{"query": "a", "limit": ' + b"9" * 5000 + b"}"), (422,)),
    "a number below 0": (ask(b'{"query": "a", "limit": -1}'), (422,)),
    "a truth as number": (ask(b'{"query": "a", "limit": true}'), (422,)),
    "a field twice": (ask(b'{"query": "a", "query": "b"}'), (200,)),
    "a field of its own": (ask(b'{"query": "a", "__proto__": {"a": 1}}'), (422,)),
    "a list as text": (ask(b'{"query": ["a"]}'), (422,)),
    "an empty text": (ask(b'{"query": ""}'), (200,)),
    "a text of nulls": (ask(b'{"query": "\\u0000\\u0000"}'), (200,)),
    "a text of operators": (ask(b'{"query": "a NEAR/9999 b* OR NOT \\"\\" ("}'), (200,)),
    "a key for one request of a line end": (
        ask(b'{"task": "a"}', path=b"/run", extra=b"Idempotency-Key: a\tb\r\n"),
        (422,),
    ),
    "a long key for one request": (
        ask(b'{"task": "a"}', path=b"/run", extra=b"Idempotency-Key: " + b"k" * 5000 + b"\r\n"),
        (422,),
    ),
    "nothing to do": (ask(b'{"task": ""}', path=b"/run"), (422,)),
    "a budget below 0": (ask(b'{"task": "a", "max_iters": -1}', path=b"/run"), (422,)),
    "feedback without a run": (
        ask(b'{"session_id": "../../x", "message_id": "x", "feedback": "up"}', path=b"/api/feedback"),
        (404,),
    ),
    "a form of another site": (
        ask(
            b"verdict=P",
            path=b"/ui/review/x",
            kind=b"Content-Type: application/x-www-form-urlencoded\r\n",
            extra=b"Origin: https://evil.example\r\n",
        ),
        (403,),
    ),
}


def attacks(service: Served) -> Iterator[Attack]:
    return attacks_of(TABLE, service)
