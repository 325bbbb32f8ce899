"""Ways in which a server misbehaves, each with the one answer of four that a search or a page gives."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest

from bounded import given_up
from coreloop.answer.search.page import Network, PageReader
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.services import SearxngProvider
from fault_server import (
    HOST,
    Behave,
    FaultServer,
    deep_json,
    drips,
    drips_headers,
    fault_server,
    floods,
    gzip_bomb,
    hangs,
    replies,
    resets,
    searxng_answer,
    sends,
)
from rows import slow_after

LIMITS = SearchLimits(timeout_s=0.7, max_bytes=1_000_000)
PATIENT = replace(LIMITS, timeout_s=30)
HTML = {"content_type": "text/html"}
NOT_JSON = "the answer is not the JSON that was expected"
TOO_LONG = "the answer has more than 1,000,000 bytes"
MOVED = "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n"


def moves_to(location: str) -> Behave:
    return sends(MOVED.format(location).encode())


@dataclass(frozen=True)
class Case:
    name: str
    behave: Behave
    kind: type[SearchAnswer]
    reason: str

    @property
    def limits(self) -> SearchLimits:
        """Short only for who must be given up; on a busy machine, an answer may take its time."""
        return LIMITS if self.reason.startswith("no complete answer in") else PATIENT


SEARCHES = [
    Case("500", replies(500), Failed, "HTTP 500"),
    Case("502 with a page", replies(502, "<html>bad gateway"), Failed, "HTTP 502"),
    Case("503 without a time", replies(503), Failed, "HTTP 503"),
    Case("503 with a time", replies(503, retry_after="5"), Blocked, "too many requests (HTTP 503)"),
    Case("429 without a time", replies(429), Blocked, "too many requests (HTTP 429)"),
    Case("429 with seconds", replies(429, retry_after="30"), Blocked, "too many requests (HTTP 429)"),
    Case("429 with nonsense", replies(429, retry_after="soon"), Blocked, "too many requests (HTTP 429)"),
    Case("401", replies(401), Failed, "access is refused (HTTP 401)"),
    Case("402", replies(402), Blocked, "the quota is used up (HTTP 402)"),
    Case("redirects", moves_to("http://127.0.0.1:1/"), Failed, "redirects elsewhere (HTTP 302); correct the"),
    Case("hangs", hangs, Failed, "no complete answer in"),
    Case("one byte at a time", drips, Failed, "no complete answer in"),
    Case("headers without end", drips_headers, Failed, "no complete answer in"),
    Case("reset within the body", resets, Failed, "the connection failed"),
    Case("closes at once", sends(b""), Failed, "the connection failed"),
    Case("garbage", sends(b"\x00\xff\x13garbage\r\n\r\n"), Failed, "the connection failed"),
    Case(
        "a shorter body than it says",
        sends(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}"),
        Failed,
        "the connection failed",
    ),
    Case(
        "broken chunks",
        sends(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}"),
        Failed,
        "the connection failed",
    ),
    Case("a header of 1 MB", replies(200, "{}", x_more="a" * 1_000_000), Failed, "the connection failed"),
    Case("a gzip bomb", gzip_bomb(), Failed, TOO_LONG),
    Case("not gzip", replies(200, "{}", content_encoding="gzip"), Failed, "the compressed answer is damaged"),
    Case(
        "another compression",
        replies(200, "{}", content_encoding="zstd"),
        Failed,
        "the answer is compressed in a way that was not asked for",
    ),
    Case("50 MB", floods(50_000_000), Failed, TOO_LONG),
    Case("HTML instead of JSON", replies(200, "<html>"), Failed, NOT_JSON),
    Case("JSON nested without end", deep_json(), Failed, NOT_JSON),
    Case("an empty body", replies(200), Failed, NOT_JSON),
    Case("another charset", replies(200, '{"results":[{"title":"배당"}]}'.encode("cp949")), Failed, NOT_JSON),
    Case("no results", replies(200, searxng_answer()), Empty, ""),
    Case(
        "no engine answers",
        replies(200, searxng_answer(unresponsive=[["google", "timeout"]])),
        Failed,
        "no search engine of the instance answered",
    ),
    Case("results", replies(200, searxng_answer("https://a.kr/1")), Found, ""),
]
PAGES = [
    Case("to 127.0.0.1", moves_to("http://127.0.0.1/"), Failed, "127.0.0.1 is not a public address"),
    Case("to the cloud's data", moves_to("http://169.254.169.254/x"), Failed, "169.254.169.254 is not"),
    Case("to [::1]", moves_to("http://[::1]/"), Failed, "::1 is not a public address"),
    Case("to a decimal address", moves_to("http://2130706433/"), Failed, "2130706433 is not"),
    Case("to file:", moves_to("file:///etc/passwd"), Failed, "only http and https addresses are fetched"),
    Case("to javascript:", moves_to("javascript:alert(1)"), Failed, "only http and https addresses are"),
    Case("to another port", moves_to("http://page.example:22/"), Failed, "port 22 is not fetched from"),
    Case("to no address", moves_to("http://[::1"), Failed, "redirects to what is not an address"),
    Case("to itself", moves_to("/page"), Failed, "redirects more than 5 times"),
    Case("404", replies(404, "<html>no", **HTML), Empty, ""),
    Case("403", replies(403, "<html>no", **HTML), Failed, "HTTP 403"),
    Case("429", replies(429, retry_after="9"), Blocked, "too many requests (HTTP 429)"),
    Case("an image", replies(200, b"\x89PNG", content_type="image/png"), Failed, "not HTML, PDF or"),
    Case("hangs", hangs, Failed, "no complete answer in"),
    Case("50 MB", floods(50_000_000), Failed, TOO_LONG),
    Case("a page without text", replies(200, "<html></html>", **HTML), Empty, ""),
    Case("a damaged PDF", replies(200, b"%PDF-", content_type="application/pdf"), Failed, "PDF is damaged"),
    Case("plain text", replies(200, "배당은\u202e 300원", content_type="text/plain"), Found, ""),
]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.mark.parametrize("case", slow_after(8, SEARCHES), ids=lambda case: case.name)
def test_a_search_ends_in_one_of_four_answers_in_its_time(case: Case, server: FaultServer) -> None:
    server.paths["/search"] = case.behave
    check(case, lambda: SearxngProvider(server.url).search("배당", case.limits))


@pytest.mark.parametrize("case", slow_after(8, PAGES), ids=lambda case: case.name)
def test_a_page_ends_in_one_of_four_answers_in_its_time(case: Case, server: FaultServer) -> None:
    server.paths |= {"/page": case.behave, "/robots.txt": replies(404)}
    reader = PageReader(network=network(server))
    check(case, lambda: reader.read(f"http://page.example:{server.port}/page", case.limits))


def test_a_port_that_is_closed_is_a_failure() -> None:
    with fault_server() as server:
        pass
    answer = SearxngProvider(server.url).search("배당", PATIENT)
    assert answer == Failed("the server cannot be reached")


@pytest.mark.slow
def test_a_server_that_accepts_no_connection_is_given_up_in_time() -> None:
    with socket.socket() as listener, ExitStack() as waiting:
        listener.bind((HOST, 0))
        listener.listen(0)
        for _ in range(3):  # fill its queue
            waiting.enter_context(queued := socket.socket())
            queued.setblocking(False)
            queued.connect_ex(listener.getsockname())
        with given_up():
            answer = SearxngProvider(f"http://{HOST}:{listener.getsockname()[1]}").search("배당", LIMITS)
        assert isinstance(answer, Failed)
        assert answer.reason.startswith("no complete answer in ")


def network(server: FaultServer) -> Network:
    """The name of the test leads to the server, whose address is the only one allowed."""
    return Network(
        resolve=lambda host: [{"page.example": HOST, "2130706433": "127.0.0.1"}.get(host, host)],
        allows=lambda address: address == HOST,
        ports=frozenset({80, 443, server.port}),
    )


def check(case: Case, search: Callable[[], SearchAnswer]) -> None:
    with given_up():
        answer = search()
    assert isinstance(answer, case.kind)
    if isinstance(answer, Blocked | Failed):
        assert case.reason in answer.reason
        assert "\n" not in answer.reason
