"""Answers and repairs for tests: a project whose index lacks files, models that reply what a test says."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from coreloop.answer.deps import Deps
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import CallLimits, Message, Model, Reply, Usage
from coreloop.answer.models.openai_compatible import MalformedReplyError, read_reply
from coreloop.answer.search.index.run import index_paths
from coreloop.base.errors import ModelError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.runs.stores.store import Store
from researching import MOMENT, deps_in

RETURNS = "# Returns\n\nA parcel can be returned within 30 days after delivery.\n"
SHIPPING = "# Shipping\n\nA parcel ships within 2 working days after payment.\n"
RATES = '''"""Rates of customers."""


def rate_of(customer: str) -> float:
    """Look up the discount rate of a customer.

    Parameters
    ----------
    customer : str
        Id of the customer, 8 digits.

    Returns
    -------
    float
        Share of the price, 0.15 for gold customers.
    """
    return 0.1
'''
RETURN_QUESTION = "Within how many days can a parcel be returned?"
SHIP_QUESTION = "Within how many working days does a parcel ship?"


def shop(folder: Path, *, indexed: Sequence[str] = ("docs/returns.md",)) -> Workspace:
    """A project of three files, some of which its settings name; a repair looks at the others."""
    files = {"docs/returns.md": RETURNS, "docs/shipping.md": SHIPPING, "rates.py": RATES}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not (folder / "coreloop.yaml").exists():
        limit_paths(folder, *indexed)
    workspace = open_workspace(folder)
    index_paths(workspace, [folder / name for name in indexed], now=MOMENT)
    return workspace


def limit_paths(folder: Path, *paths: str, **settings: object) -> None:
    """Write coreloop.yaml: the paths that are indexed before a question, and other settings."""
    whole = {"search": {"paths": paths}, **settings}
    (folder / "coreloop.yaml").write_text(json.dumps(whole), encoding="utf-8")


@contextmanager
def shop_deps(
    workspace: Workspace, *models: Model, store: Store | None = None, is_optional: bool = False
) -> Iterator[Deps]:
    """Deps without a model, or with some."""
    with deps_in(workspace) as deps:
        yield replace(deps, store=store or deps.store, ladder=Ladder(models, is_optional=is_optional))


def reply(answer: str, *, confidence: float = 0.9) -> str:
    """An LlmResponse."""
    whole = {"intent": "find", "answer": answer, "citations": [], "confidence": confidence}
    return json.dumps(whole)


class ScriptedModel:
    """Replies what a test says, in turn, and keeps what it was asked; an exception is raised."""

    def __init__(self, *replies: str | Exception, name: str = "test:scripted") -> None:
        self.name = name
        self._replies = list(replies)
        self.asked: list[Sequence[Message]] = []

    def most(self, _messages: Sequence[Message], _limits: CallLimits) -> Usage:
        return Usage(self.name, 300, 100, microusd=0)

    def complete(self, messages: Sequence[Message], schema: type[Any], _limits: CallLimits) -> Reply[Any]:
        self.asked.append(messages)
        said = self._replies.pop(0)
        if isinstance(said, Exception):
            raise said
        try:
            return Reply(read_reply(said, schema), Usage(self.name, 20, 10, microusd=0))
        except MalformedReplyError as error:
            raise ModelError(f"{self.name}: {error}", kind="malformed") from error
