"""What a service refuses: each with a fitting status, an ErrorResponse and one sentence."""

import socket
from pathlib import Path

import httpx2
import msgspec
import pytest

from coreloop.answer.models.contracts import ErrorResponse
from serving import QUESTION, Served, served, until

NO_RUN = "/runs/01J0000000000000000000000A"
JSON = {"content-type": "application/json"}


def refused(response: httpx2.Response) -> tuple[int, str, str]:
    detail = msgspec.json.decode(response.content, type=ErrorResponse, strict=True).error
    assert "\n" not in detail.message
    return response.status_code, detail.type, detail.message


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/run", b'{"task": "Han?", "depth": 3}', (422, "invalid", "unknown field `depth`")),
        ("/run", b"{}", (422, "invalid", "missing required field `task`")),
        ("/run", b'{"task": "Han?", "stream": true, "async": true}', (422, "invalid", "exclude each other")),
        ("/run", b'{"task": "Han?", "max_iters": 0}', (422, "invalid", ">= 1 - at `$.max_iters`")),
        ("/run", b'{"task": "Han?", "max_iters": true}', (422, "invalid", "Expected `int | null`")),
        ("/run", b'{"task": "?!"}', (422, "invalid", "no words to search for")),
        ("/run", b'{"task": "Han?", "session": "../../etc"}', (422, "invalid", "$.session")),
        ("/run", b'{"task": ', (400, "malformed", "truncated")),
        ("/run", b'{"task": "\xff"}', (400, "malformed", "JSON")),
        ("/run", b'{"task": "\\ud800"}', (400, "malformed", "JSON")),
        pytest.param("/run", b"[" * 50_000, (422, "invalid", "Expected `object`"), id="nested"),
        pytest.param("/run", b" " * 100_001, (413, "too_large", "100,000 bytes"), id="large"),
        ("/search", b'{"query": "a", "limit": 1e99}', (422, "invalid", "limit")),
        (f"{NO_RUN}/stop", b"", (404, "not_found", "no run")),
        (f"{NO_RUN}/stop", b"{}", (404, "not_found", "no run")),
        (f"{NO_RUN}/stop", b'{"force": true}', (422, "invalid", "unknown field `force`")),
        ("/search", b'{"query": "a", "limit": 10.5}', (422, "invalid", "Expected `int`")),
    ],
)
def test_a_body_that_cannot_be_used(
    client: httpx2.Client, path: str, body: bytes, says: tuple[int, str, str]
):
    status, kind, message = refused(client.post(path, content=body, headers=JSON))
    assert (status, kind) == says[:2]
    assert says[2] in message


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/run", 405),
        ("/runs/", 404),
        (NO_RUN, 404),
        ("/runs/..%2f..%2fetc%2fpasswd", 404),
        ("/runs/%00", 404),
        ("/runs/%ff%fe", 404),
        ("/runs?status=nope", 422),
        ("/runs?limit=0", 422),
        ("/runs?limit=1&limit=2", 422),
        ("/runs?page=2", 422),
        ("/healthz?verbose", 422),
    ],
)
def test_a_path_that_leads_nowhere(client: httpx2.Client, path: str, status: int):
    assert refused(client.get(path))[0] == status


def test_pages_of_other_sites_cannot_call(client: httpx2.Client):
    plain = client.post("/run", content=b'{"task": "Han?"}', headers={"content-type": "text/plain"})
    assert refused(plain)[:2] == (415, "media_type")
    for origin in ("https://evil.example", "http://[::1", "null"):
        foreign = client.post(f"{NO_RUN}/stop", headers={"origin": origin})
        assert refused(foreign)[:2] == (403, "origin")
    own_origin = {"origin": str(client.base_url).rstrip("/")}
    own = client.post("/search", json={"query": "river", "limit": 10.0}, headers=own_origin)
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


@pytest.mark.slow
def test_a_named_origin_and_a_named_host_may_call(tmp_path: Path):
    settings = "service: {hosts: [coreloop.example], origins: ['https://tools.example']}\n"
    with served(tmp_path, settings=settings) as service, service.client() as client:
        headers = {"origin": "https://tools.example", "host": "Coreloop.Example:8765"}
        asked_first = {**headers, "access-control-request-method": "POST"}
        allowed = client.options(
            "/search", headers=asked_first | {"access-control-request-headers": "content-type"}
        )
        assert allowed.headers["access-control-allow-origin"] == "https://tools.example"
        assert client.post("/search", json={"query": "river"}, headers=headers).status_code == 200
        foreign = {**asked_first, "origin": "https://evil.example"}
        assert "access-control-allow-origin" not in client.options("/search", headers=foreign).headers


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::1"]
)
def test_another_name_of_this_host_is_refused(client: httpx2.Client, host: str):
    assert refused(client.get("/version", headers={"host": host}))[:2] == (421, "host")


def exchange(service: Served, data: bytes, *, wait_s: float = 10) -> bytes:
    with socket.create_connection(("127.0.0.1", service.port), timeout=wait_s) as connection:
        connection.sendall(data)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    return answer


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", id="TLS"),
        pytest.param(b"GET /" + b"a" * 40_000, id="a huge path"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000, id="a huge header"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5_000, id="many headers"),
        pytest.param(b"POST /run HTTP/1.1\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
    ],
)
def test_what_is_not_http_gets_one_answer_and_is_closed(service: Served, data: bytes):
    before = len(service.lines)
    head, _, body = exchange(service, data).partition(b"\r\n\r\n")
    # the line of a request that was understood comes after its answer, and so may still arrive here
    lines = [line for line in service.lines[before:] if not line.get("method")]
    assert [(line["event"], line["status"]) for line in lines] == [("request", 400)]
    assert head.startswith(b"HTTP/1.1 400 ")
    assert msgspec.json.decode(body, type=ErrorResponse).error.type == "malformed"


def test_a_socket_that_closes_its_half_is_let_go(service: Served, client: httpx2.Client):
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(b"POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
        connection.shutdown(socket.SHUT_WR)
        assert b" 500 " not in connection.recv(65_536)
    assert client.get("/healthz").status_code == 200


@pytest.mark.slow
def test_a_client_that_dribbles_its_head_or_body_is_given_up(service: Served):
    head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert exchange(service, head, wait_s=30) == b""
    assert b" 408 " in exchange(
        service, head + b'Connection: close\r\nContent-Length: 99\r\n\r\n{"', wait_s=30
    )


def test_a_refusal_is_one_line_of_the_log(client: httpx2.Client, service: Served):
    before = len(service.lines)
    for _ in range(5):
        client.post("/run", json={"task": QUESTION, "depth": 3})
    lines = until(lambda: len(service.lines) == before + 5 and service.lines[before:])
    assert {(line["event"], line["status"]) for line in lines} == {("request", 422)}
