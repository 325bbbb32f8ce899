"""What is sent to search services and read from their answers, in the shapes that they document."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from bounded import given_up
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchLimits
from coreloop.answer.search.services import ArxivProvider, SearxngProvider, TavilyProvider, asked_to_wait
from coreloop.base.http import HttpAnswer
from fault_server import FaultServer, hangs, replies, searxng_answer
from rows import each_row

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
TAVILY = {
    "query": "dividend",
    "answer": None,
    "images": [],
    "results": [
        {"title": "A", "url": "https://a.kr/", "content": "The dividend\u200b rose.", "score": 0.8},
        {
            "title": None,
            "url": "https://b.kr/",
            "content": "It fell.",
            "published_date": "Sun, 01 Nov 2026 09:30:00 GMT",
        },
        {"title": "no address", "url": "javascript:alert(1)", "content": "x"},
        {"title": "no text", "url": "https://c.kr/", "content": None},
    ],
    "response_time": 1.67,
    "request_id": "123e4567",
}
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <title>arXiv Query: search_query=all:electron</title><id>http://arxiv.org/api/cHxb</id>
  <opensearch:totalResults>1</opensearch:totalResults>
  <entry><id>http://arxiv.org/abs/hep-ex/0307015v1</id><published>2003-07-07T13:46:39-04:00</published>
    <title>Multi-Electron
      Production</title><summary>  Multi-electron production is studied. </summary>
    <author><name>H1 Collaboration</name></author></entry>
</feed>"""
ERROR = FEED.replace("http://arxiv.org/abs/hep-ex/0307015v1", "http://arxiv.org/api/errors#incorrect_id")


def first_line(server: FaultServer) -> dict[str, list[str]]:
    return parse_qs(urlsplit(server.requests[-1].split(b" ")[1].decode()).query)


def test_searxng_is_asked_for_json(server: FaultServer) -> None:
    server.paths["/search"] = replies(200, searxng_answer("https://a.kr/1", "https://a.kr/2"))
    answer = SearxngProvider(server.url).search("배당 300원 & more", SearchLimits(max_results=1))
    assert first_line(server) == {"q": ["배당 300원 & more"], "format": ["json"]}
    assert b"user-agent: dartlab-coreloop\r\n" in server.requests[-1].lower()
    assert isinstance(answer, Found)
    (source,) = answer.sources
    assert (source.location, source.published) == ("https://a.kr/1", "2026-11-20")


def test_tavily_gets_its_key_as_a_header(server: FaultServer) -> None:
    server.paths["/search"] = replies(200, json.dumps(TAVILY))
    answer = TavilyProvider("tvly-key", url=server.url).search("q" * 999, SearchLimits())
    head, _, body = server.requests[-1].partition(b"\r\n\r\n")
    assert b"authorization: bearer tvly-key" in head.lower()
    assert isinstance(answer, Found)
    assert [(source.title, source.text, source.published) for source in answer.sources] == [
        ("A", "The dividend rose.", None),
        ("https://b.kr/", "It fell.", "2026-11-01"),
    ]
    assert b"tvly-key" not in body


@pytest.mark.parametrize("status", [432, 433, 402])
def test_a_used_up_quota_of_tavily_is_blocked(status: int, server: FaultServer) -> None:
    server.paths["/search"] = replies(status, '{"detail": {"error": "limit"}}')
    answer = TavilyProvider("tvly-key", url=server.url).search("q", SearchLimits())
    assert answer == Blocked(f"the quota is used up (HTTP {status})")


def test_no_answer_repeats_a_key(server: FaultServer) -> None:
    server.paths["/search"] = replies(401, "wrong key tvly-key")
    provider = TavilyProvider("tvly-key", url=server.url)
    assert "tvly-key" not in f"{provider.search('q', SearchLimits())}{provider!r}"


def test_arxiv_gives_abstracts(server: FaultServer) -> None:
    server.paths["/api/query"] = replies(200, FEED)
    provider = ArxivProvider(url=f"{server.url}/api/query")
    answer = provider.search('electron" OR all:x', SearchLimits(max_results=3))
    assert first_line(server)["search_query"] == ["all:electron AND all:OR AND all:all AND all:x"]
    assert first_line(server)["max_results"] == ["3"]
    assert isinstance(answer, Found)
    (source,) = answer.sources
    assert (source.title, source.text) == (
        "Multi-Electron Production",
        "Multi-electron production is studied.",
    )
    assert (source.type, source.published) == ("paper", "2003-07-07")


def test_arxiv_is_asked_every_three_seconds(server: FaultServer) -> None:
    pauses: list[float] = []
    server.paths["/"] = replies(200, FEED)
    provider = ArxivProvider(url=f"{server.url}/", sleep=pauses.append)
    provider.search("a", SearchLimits())
    provider.search("b", SearchLimits())
    assert pauses[0] == 0
    assert 2 < pauses[1] <= 3
    busy = provider.search("c", SearchLimits(timeout_s=1))
    assert isinstance(busy, Blocked)
    assert busy.reason == "other searches of arXiv come first"


@pytest.mark.slow
def test_a_search_of_arxiv_waits_no_longer_for_its_turn_than_it_may_take(server: FaultServer) -> None:
    server.paths["/"] = hangs
    provider = ArxivProvider(url=f"{server.url}/")
    with given_up(), ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(provider.search, "abc", [SearchLimits(timeout_s=0.3)] * 3))
    assert sum(isinstance(answer, Failed) for answer in answers) == 1
    assert sum(isinstance(answer, Blocked) for answer in answers) == 2
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (ERROR, Empty()),
        ("<html/>", Failed("the answer is not the feed that was expected")),
        ("<feed", Failed("the answer is not the feed that was expected")),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', Failed("the answer is not the feed that was expected")),
    ],
)
def test_an_answer_of_arxiv_without_entries(content: str, answer: object, server: FaultServer) -> None:
    server.paths["/"] = replies(200, content)
    assert ArxivProvider(url=f"{server.url}/").search("a", SearchLimits()) == answer


@each_row(("value", "seconds"), [("7", 7), ("9" * 300, 86_400), ("", None), ("soon", None), ("１２", None)])
def test_retry_after_is_seconds(value: str, seconds: int | None) -> None:
    blocked = asked_to_wait(HttpAnswer(429, {"retry-after": value}, b""), NOON)
    assert blocked is not None
    assert (blocked.until and (blocked.until - NOON).total_seconds()) == seconds
