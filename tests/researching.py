"""Researches for tests: a project with an index of its own, models that reply what a test says."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import LlmResponse, Material, PlanResponse, SynthesisResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.answer.repair.store import open_repair_store
from coreloop.answer.research.next_queries import plan_offline, reflect_offline
from coreloop.answer.search.index.run import index_paths
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Provider, SearchAnswer, SearchLimits, Source
from coreloop.base.project.settings import Endpoint, PriceSettings
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.runs.jobs.queue import open_queue
from coreloop.runs.stores.store import Store, open_store

RIVER = "The Han river is 494 kilometres long."
MOMENT = datetime(2026, 4, 25, 12, tzinfo=UTC)
PAGES = {
    "han.md": "# Han river\n\nThe Han river is 494 kilometres long. It flows through Seoul.\n",
    "seoul.md": "# Seoul\n\nSeoul is the capital. In 2023 Seoul had 9.4 million inhabitants.\n",
    "bridge.md": "# Banpo bridge\n\nThe Banpo bridge was opened in 1982. It crosses the river.\n",
    "tea.md": "# Tea\n\nGreen tea from Boseong is harvested in April. The leaves are steamed.\n",
}
METADATA = {"timestamp": "2026-04-25T12:00:00Z", "model": "stand-in", "token_count": 9}


def project(folder: Path, pages: dict[str, str] | None = None) -> Workspace:
    """A project with indexed pages."""
    for name, text in (PAGES if pages is None else pages).items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    workspace = open_workspace(folder)
    index_paths(workspace, [folder / "docs"], now=MOMENT)
    return workspace


@contextmanager
def deps_in(
    workspace: Workspace,
    *,
    url: str = "",
    provider: Provider | None = None,
    price: PriceSettings | None = None,
):
    """Deps with the offline model, or the model that a stand-in's address serves."""
    ladder = Ladder([stand_in_model(url, price)] if url else [])
    with open_store(workspace) as store:
        yield from _deps(workspace, store, ladder, provider or IndexProvider(workspace.index_file))


def _deps(workspace: Workspace, store: Store, ladder: Ladder, provider: Provider) -> Iterator[Deps]:
    with open_queue(workspace, environ={}) as queue, open_repair_store(workspace, environ={}) as tables:
        yield Deps(
            workspace=workspace, store=store, ladder=ladder, provider=provider, queue=queue, tables=tables
        )


def stand_in_model(url: str, price: PriceSettings | None = None) -> OpenAICompatible:
    return OpenAICompatible("test", "m", endpoint=Endpoint(url=url), url=url, headers={}, price=price)


def plan(*queries: str, sub_questions: Sequence[str] = (), tier: str = "standard") -> str:
    planned = [{"query": query, "intent": "answer"} for query in queries]
    return json.dumps({"queries": planned, "sub_questions": sub_questions, "complexity_tier": tier})


def reflection(*findings: dict[str, Any], queries: Sequence[str] = (), **fields: Any) -> str:
    """A ReflectionResponse; findings are ``{"text": …, "sources": ["[1]"]}``."""
    whole = {
        "sufficient": False,
        "confidence": 0.5,
        "gaps": [],
        "new_queries": [{"query": query, "intent": "gap"} for query in queries],
        "metadata": METADATA,
        "findings": findings,
    }
    return json.dumps(whole | fields)


def synthesis(answer: str) -> str:
    return json.dumps({"answer": answer, "citations": [], "metadata": METADATA})


class ScriptedProvider:
    """A search that answers what a test says, in turn; the last answer again and again."""

    name = "scripted"

    def __init__(self, *answers: SearchAnswer) -> None:
        self._answers = list(answers)
        self.queries: list[str] = []

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        self.queries.append(query)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def source(text: str, location: str = "https://one.example/page", **fields: Any) -> Source:
    return Source(title="Page", location=location, type="web", text=text, retrieved_at=MOMENT, **fields)


class CountedModel:
    """The offline model at a price in tokens, with answers of quotes; a file keeps what it was asked."""

    name = "counted"

    def __init__(self, calls: Path) -> None:
        self._calls = calls

    def most(self, _messages: Sequence[Message], _limits: CallLimits) -> Usage:
        return Usage(self.name, 300, 100, microusd=40)

    def complete(self, messages: Sequence[Message], schema: type[Any], limits: CallLimits) -> Reply[Any]:
        material = msgspec.json.decode(messages[-1].content, type=Material)
        note_call(self._calls, f"{schema.__name__} {len(material.searched)}")
        value: Any = (plan_offline if schema is PlanResponse else reflect_offline)(material)
        if schema.__name__ == "PlannedQuery":
            value = plan_offline(material).queries[0]
        if schema in {LlmResponse, SynthesisResponse}:
            text = "\n".join(f"{finding.text} {finding.sources[0]}" for finding in value.findings)
            if schema is LlmResponse:
                value = LlmResponse(intent="find", answer=text, citations=(), confidence=float(bool(text)))
            else:
                value = SynthesisResponse(answer=text, citations=(), metadata=value.metadata)
        return Reply(value, Usage(self.name, 20, 10, microusd=3))


class CountedProvider:
    """The index; a file keeps the queries."""

    name = "index"

    def __init__(self, path: Path, calls: Path) -> None:
        self._index = IndexProvider(path)
        self._calls = calls

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        note_call(self._calls, f"search {query}")
        return self._index.search(query, limits)


def note_call(calls: Path, call: str) -> None:
    with calls.open("a", encoding="utf-8") as file:
        file.write(f"{call}\n")


@contextmanager
def counted_deps(workspace: Workspace, store: Store, calls: Path) -> Iterator[Deps]:
    """Deps whose calls a file counts."""
    yield from _deps(
        workspace, store, Ladder([CountedModel(calls)]), CountedProvider(workspace.index_file, calls)
    )
