"""A project with an index, models and a search service whose answers a test chooses, for questions."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acceptance.walk import Done, command
from fault_server import fault_server, hangs, replies
from model_stand_in import Act, model_stand_in, streams
from researching import RIVER

QUESTION = "How long is the Han river?"
PAGES = {
    "han.md": f"# Han river\n\n{RIVER} It flows through Seoul.\n",
    "seoul.md": "# Seoul\n\nSeoul is the capital. In 2023 Seoul had 9.4 million inhabitants.\n",
    "bridge.md": "# Banpo bridge\n\nThe Banpo bridge was opened in 1982. It crosses the river.\n",
}
NO_EVIDENCE = "No evidence found."
LIMITED = "Search capabilities were limited; answer is based on partial information."
Body = dict[str, Any]


def indexed(folder: Path, pages: dict[str, str] | None = None) -> Path:
    """Write pages below docs/ and index them."""
    (folder / "docs").mkdir(parents=True)
    for name, text in (PAGES if pages is None else pages).items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    command(folder, "index", "docs").assert_code()
    return folder


def settle(folder: Path, **settings: Any) -> None:
    """Write coreloop.yaml; JSON is YAML."""
    (folder / "coreloop.yaml").write_text(json.dumps(settings), encoding="utf-8")


def model_at(url: str, *models: str) -> Body:
    """The settings of models that an endpoint of this machine answers for."""
    names = models or ("lab:m",)
    prices = {name: {"input": 0, "output": 0} for name in names}
    return {"model": list(names), "endpoints": {"lab": {"url": url}}, "prices": prices}


@dataclass(frozen=True)
class Asked:
    """A question's command, what the project kept of it, and what the model was sent."""

    done: Done
    folder: Path
    bodies: list[Body] = field(default_factory=list)

    @property
    def answer(self) -> Body:
        return json.loads(self.done.out)

    @property
    def final(self) -> str:
        return str(self.answer["final_answer"])

    @property
    def state(self) -> Body:
        return json.loads((self.folder / ".research/current/state.json").read_text(encoding="utf-8"))

    @property
    def schemas(self) -> list[str]:
        """The names of the schemas that the model was asked for, in order."""
        return [body["response_format"]["json_schema"]["name"] for body in self.bodies]

    def system(self, number: int) -> str:
        return str(self.bodies[number]["messages"][0]["content"])

    def material(self, number: int) -> Body:
        return json.loads(self.bodies[number]["messages"][1]["content"])


def research(folder: Path, *words: str, question: str = QUESTION, **environ: str) -> Asked:
    """Run ``research`` with ``--json``."""
    return Asked(command(folder, "research", question, *words, "--json", **environ), folder)


def research_with(
    folder: Path, *acts: str | Act, words: tuple[str, ...] = (), pages: dict[str, str] | None = None
) -> Asked:
    """Run ``research`` with a model that gives these replies in turn."""
    return _with_model(indexed(folder, pages), acts, lambda: research(folder, *words).done)


def ask_with(folder: Path, *acts: str | Act, question: str = QUESTION, models: tuple[str, ...] = ()) -> Asked:
    """Run ``ask`` with models that give these replies in turn."""
    return _with_model(folder, acts, lambda: command(folder, "ask", question, "--json"), models)


def _with_model(
    folder: Path, acts: tuple[str | Act, ...], run: Callable[[], Done], models: tuple[str, ...] = ()
) -> Asked:
    with model_stand_in() as server:
        server.acts += [streams(act) if isinstance(act, str) else act for act in acts]
        settle(folder, **model_at(server.url, *models))
        return Asked(run(), folder, server.bodies)


def finding(text: str = RIVER, source: str = "[1]") -> Body:
    return {"text": text, "sources": [source], "answers": ["q1"]}


@dataclass
class Search:
    """A SearXNG of our own: its address, and how many requests it got."""

    url: str
    requests: list[bytes]


@contextmanager
def search_service(
    *found: str, status: int = 200, failing: bytes = b"", is_hanging: bool = False
) -> Iterator[Search]:
    """A SearXNG that finds these texts, fails with a status or for queries with a word, or never answers."""
    results = [{"url": f"http://127.0.0.1:9/{text[:3]}", "title": "Page", "content": text} for text in found]
    body = json.dumps({"query": "q", "results": results, "unresponsive_engines": []})
    answer, failure = (replies(code, body, content_type="application/json") for code in (status, 500))

    def behave(connection: socket.socket, is_over: threading.Event) -> None:
        request = server.requests[-1].partition(b"\r\n")[0]
        chosen = failure if failing and failing in request else answer
        (hangs if is_hanging else chosen)(connection, is_over)

    with fault_server() as server:
        server.paths["*"] = behave
        yield Search(server.url, server.requests)


def searching(search: Search, *others: str) -> Body:
    """The settings of a search with a service, and other providers after it."""
    return {"search": {"providers": ["searxng", *others], "searxng_url": search.url}}


def assert_error_response(text: str) -> None:
    error = json.loads(text)["error"]
    assert set(error) == {"type", "message", "retryable"}
    assert isinstance(error["retryable"], bool)
