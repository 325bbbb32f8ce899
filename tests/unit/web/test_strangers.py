"""What callers without a key can do to a service: nothing that grows, nothing that keeps others out."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from coreloop.web.keys import client_address, new_key
from serving import REQUESTS, Served, served, until

HOST = b"Host: localhost\r\n"
GET = b"GET /version HTTP/1.1\r\n" + HOST
SEARCH = b"POST /search HTTP/1.1\r\nContent-Type: application/json\r\n" + HOST
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n12\r\n" + b'{"query": "river"}' + b"\r\n0\r\n\r\n"
CLOSE = b"Connection: close\r\n\r\n"


def exchange(service: Served, data: bytes, *, address: str = "127.0.0.1") -> bytes:
    """Send bytes and return everything up to the end of the connection."""
    end = (address, 0)
    with socket.create_connection(("127.0.0.1", service.port), timeout=20, source_address=end) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def statuses(answer: bytes) -> list[int]:
    return [int(part.split()[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]


def test_invented_methods_are_one_series_and_one_word_of_the_log(service: Served, client):
    for number in range(50):
        client.request(f"METHOD{number}", "/version")
    lines = client.get("/metrics").text.splitlines()
    counts = [line for line in lines if line.startswith("http_request_duration_seconds_count")]
    methods = {line.partition('method="')[2].partition('"')[0] for line in counts}
    assert methods <= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"}
    assert "METHOD7" not in service.log.read_text()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A service with keys that lets an address, or a key, ask once a minute; and a key."""
    folder: Path = tmp_path_factory.mktemp("project")
    secret, entry = new_key("reader", ["read"])
    with served(folder, bounds={REQUESTS: 1}, environ={"CORELOOP_API_KEYS": entry}) as service:
        yield service, secret


UNKNOWN = (
    b"GET /nothing HTTP/1.1\r\n" + HOST,
    b"BREW /version HTTP/1.1\r\n" + HOST,
    b"DELETE /run HTTP/1.1\r\n" + HOST,
    b"GET /ui/sign-in HTTP/1.1\r\n" + HOST,
    b"GET /ui/nothing HTTP/1.1\r\n" + HOST,
    b"GET /version HTTP/1.1\r\nHost: evil.example\r\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(UNKNOWN)))
def test_an_address_is_limited_before_it_is_known_what_it_asks_for(guarded: tuple[Served, str], place: int):
    data, address = UNKNOWN[place] + CLOSE, f"127.0.1.{place + 1}"
    first, *later = [statuses(exchange(guarded[0], data, address=address))[0] for _ in range(4)]
    assert first != 429
    assert later == [429] * 3


@pytest.mark.slow
def test_a_key_is_counted_apart_from_its_address(guarded: tuple[Served, str]):
    service, secret = guarded
    assert [statuses(exchange(service, GET + CLOSE))[0] for _ in range(2)] == [401, 429]
    with service.client(headers={"Authorization": f"Bearer {secret}"}) as client:
        assert client.get("/version").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_answered_under_any_host_and_without_limit(guarded: tuple[Served, str], path: str):
    service, _ = guarded
    probe = f"GET {path} HTTP/1.1\r\nHost: 10.42.0.7:8765\r\n".encode() + CLOSE
    assert {statuses(exchange(service, probe))[0] for _ in range(30)} == {200}


@pytest.mark.slow
def test_one_address_cannot_have_all_connections(tmp_path: Path):
    resource = pytest.importorskip("resource", reason="needs limits of processes")
    with served(tmp_path) as service, ExitStack() as connections:
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (300, 300))  # 44 connections
        greedy = [
            connections.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=10))
            for _ in range(400)
        ]
        for connection in greedy[11:]:
            assert connection.recv(1) == b""
        assert [line["event"] for line in service.lines] == ["listening"]
        assert len(service.log.read_text().splitlines()) == 1
        assert statuses(exchange(service, GET + CLOSE, address="127.0.0.2")) == [200]
        greedy[0].close()
        assert until(lambda: _answers(service))


def _answers(service: Served) -> bool:
    try:
        return statuses(exchange(service, GET + CLOSE)) == [200]
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("testclient", "testclient"),
    ],
)
def test_what_limits_count_as_one_address(host: str, address: str):
    assert client_address(host) == address


@pytest.mark.slow
@pytest.mark.parametrize("size", [17_000, 100_000])
def test_a_head_of_more_than_16_kib_is_refused_however_it_arrives(service: Served, size: int):
    assert statuses(exchange(service, GET + b"X: " + b"a" * size + b"\r\n" + CLOSE)) == [400]
    assert statuses(exchange(service, GET + b"X: a\r\n" * (size // 6) + CLOSE)) == [400]
    assert statuses(exchange(service, GET + b"\r\n" + GET + b"X: " + b"a" * size + b"\r\n" + CLOSE)) == [
        200,
        400,
    ]


def test_a_head_of_almost_16_kib_and_a_long_body_behind_it_are_read(service: Served):
    assert statuses(exchange(service, GET + b"X: " + b"a" * 16_000 + b"\r\n" + CLOSE)) == [200]
    body = b'{"query": "river"' + b" " * 90_000 + b"}"
    head = SEARCH + b"Content-Length: %d\r\n" % len(body) + CLOSE
    assert statuses(exchange(service, head + body)) == [200]


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(SEARCH + b"Content-Length: 6\r\n" + CHUNKED, id="both lengths"),
        pytest.param(SEARCH + b"content-length: 0\r\n" + CHUNKED, id="a length of nothing"),
        pytest.param(SEARCH + CHUNKED.replace(b"\r\n\r\n", b"\r\nCONTENT-LENGTH: 4\r\n\r\n", 1), id="after"),
        pytest.param(GET.replace(b"\r\n", b"\n") + b"\n", id="bare LF"),
        pytest.param(GET + b"X: a\nContent-Length: 5\r\n\r\n", id="bare LF within"),
        pytest.param(GET + b"\n", id="bare LF at the end"),
        pytest.param(b"GET /version HTTP/1.1\n" + HOST + b"\r\n", id="bare LF at the start"),
    ],
)
def test_what_two_readers_read_in_two_ways_is_refused_and_closed(service: Served, data: bytes):
    smuggled = b"GET /smuggled HTTP/1.1\r\n" + HOST + CLOSE
    assert statuses(exchange(service, data + smuggled)) == [400]
    assert not [line for line in service.lines if line.get("status") == 404 and "smuggled" in str(line)]


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b"0\r\n\n", b"0\r\nA: b\n\n", b"0;x=y\r\nA: b\r\n\r\n"])
def test_nothing_behind_a_chunked_body_is_a_request(service: Served, end: bytes):
    body = CHUNKED.replace(b"0\r\n\r\n", end)
    assert statuses(exchange(service, SEARCH + body + GET + CLOSE)) == [200]
