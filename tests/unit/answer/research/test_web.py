"""Researches that search by HTTP: a service that fails, pages behind its results, and their record."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bounded import given_up
from coreloop.answer.research.answer import DEGRADED
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.research_state import knowledge_of
from coreloop.answer.research.run import run_research
from coreloop.answer.search.failover import Failover, Pace
from coreloop.answer.search.page.fetch import Network
from coreloop.answer.search.page.reader import PageReader
from coreloop.answer.search.services import SearxngProvider
from researching import RIVER, deps_in, project

QUESTION = "How long is the Han river?"
PAGE = (
    f"<html><title>Rivers</title><body><main><h1>The Han river</h1><p>{RIVER}</p>"
    f"{'<p>Water.</p>' * 9}</main></body>"
)
Answer = Callable[[str], tuple[int, bytes, str]]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server that answers paths as a test says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, kind = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(BrokenPipeError):  # the client gave up
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def results(*urls: str, text: str = "a page about rivers") -> tuple[int, bytes, str]:
    found = [{"url": url, "title": "Rivers", "content": text} for url in urls]
    return 200, json.dumps({"results": found}).encode(), "application/json"


def hurried(url: str) -> Failover:
    return Failover([SearxngProvider(url)], pace=Pace(sleep=lambda _s: None))


def test_a_service_that_fails_is_asked_again_and_then_answers(tmp_path: Path):
    asked: list[str] = []

    def answer(path: str) -> tuple[int, bytes, str]:
        asked.append(path)
        return (500, b"", "text/plain") if len(asked) < 3 else results("https://a.example", text=RIVER)

    with serving(answer) as url:
        search = hurried(url)
        with deps_in(project(tmp_path), provider=search) as deps:
            response = run_research(QUESTION, deps=deps, max_queries=1)
    assert len(asked) >= 3
    assert (response.final_answer, response.degraded) == (f"{RIVER} [1]", False)


@pytest.mark.slow
def test_a_service_that_keeps_failing_degrades_the_answer(tmp_path: Path):
    with (
        serving(lambda _path: (500, b"", "text/plain")) as url,
        deps_in(project(tmp_path), provider=hurried(url)) as deps,
    ):
        response = run_research(QUESTION, deps=deps, max_iters=1)
        failed = knowledge_of(read_session(deps.store, None)).failed_queries
    assert response.final_answer.splitlines() == [
        DEGRADED,
        "(searxng: HTTP 500)",
    ]
    assert {one.outcome for one in failed} == {"failed"}


@pytest.mark.slow
def test_pages_behind_results_are_read_once_and_recorded_with_where_their_address_came_from(tmp_path: Path):
    asked: list[str] = []

    def answer(path: str) -> tuple[int, bytes, str]:
        asked.append(path)
        if path.startswith("/search"):
            return results(f"{url}/han", f"{url}/gone")
        return (200, PAGE.encode(), "text/html") if path == "/han" else (404, b"", "text/html")

    with serving(answer) as url:
        network = replace(Network(), ports=frozenset({int(url.rpartition(":")[2])}), allows=lambda _: True)
        with deps_in(project(tmp_path), provider=hurried(url)) as deps:
            pages = PageReader(tmp_path / "pages", network=network)
            response = run_research(QUESTION, deps=replace(deps, pages=pages), max_iters=2)
    assert response.final_answer == f"{RIVER} [1]"
    assert [one.location for one in response.sources] == [f"{url}/han"]
    assert asked.count("/han") == 1
    (file,) = (tmp_path / "data" / "audit" / "own").glob("*.jsonl")
    calls = json.loads(file.read_text(encoding="utf-8"))["tool_calls"]
    (call,) = (call for call in calls if call["name"] == "page" and call["args"]["url"].endswith("/han"))
    assert call["args_from"]["url"] == ["search[].location"]


@pytest.mark.slow
def test_a_service_that_hangs_is_given_up_in_time_and_degrades_the_answer(tmp_path: Path):
    released = threading.Event()

    def hang(_path: str) -> tuple[int, bytes, str]:
        released.wait(60)
        return results()

    with serving(hang) as url, deps_in(project(tmp_path), provider=hurried(url)) as deps:
        try:
            with given_up(15):  # the service hangs for longer
                response = run_research(QUESTION, deps=deps, max_execution_time_s=2)
        finally:
            released.set()
        state = read_session(deps.store, None)
    assert (state.stop_reason, response.degraded) == ("deadline", True)
    assert DEGRADED in response.final_answer.splitlines()
