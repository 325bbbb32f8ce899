"""A model endpoint that replies what an acceptance test says, by the response that it is asked for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from acceptance.shell import Project
from model_stand_in import Act, model_stand_in, streams

Reply = dict[str, Any] | Callable[["Asked"], dict[str, Any]]
_METADATA = {"timestamp": "2026-04-25T12:00:00Z", "model": "stand-in", "token_count": 9}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to the model: its prompt, and the material of the research."""

    response: str
    prompt: str
    material: dict[str, Any]

    @property
    def is_challenge(self) -> bool:
        """Whether it is the second, dialectic question of a thorough reflection."""
        return "you challenge a piece of research" in self.prompt.casefold()


@dataclass(slots=True)
class Model:
    """Replies by the name of the response, and what was asked so far."""

    replies: dict[str, Reply]
    asked: list[Asked] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> str:
        name = body["response_format"]["json_schema"]["name"]
        prompt, material = (message["content"] for message in body["messages"][:2])
        asked = Asked(name, prompt, json.loads(material))
        self.asked.append(asked)
        reply = self.replies[name]
        return json.dumps(reply(asked) if callable(reply) else reply, ensure_ascii=False)


class _Forever(list[Act]):
    """Acts of the endpoint that never run out."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def pop(self, _index: Any = -1) -> Act:
        return lambda handler: streams(self._model.reply(handler.stand_in.bodies[-1]))(handler)


@contextmanager
def modelled(project: Project, settings: str = "", **replies: Reply) -> Iterator[Model]:
    """Let a project ask a model, by its settings; the replies are given by the response that is asked for."""
    model = Model(replies)
    with model_stand_in() as server:
        server.acts = _Forever(model)
        endpoint = f"model: local:m\nendpoints:\n  local: {{url: '{server.url}'}}\n"
        project.write("coreloop.yaml", endpoint + settings)
        yield model


def plan(*queries: str, parts: tuple[str, ...] = (), tier: str = "standard") -> dict[str, Any]:
    """A ``PlanResponse``."""
    planned = [{"query": query, "intent": "answer"} for query in queries]
    return {"queries": planned, "sub_questions": parts, "complexity_tier": tier}


def reflection(*findings: dict[str, Any], queries: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A ``ReflectionResponse``."""
    return {
        "sufficient": False,
        "confidence": 0.5,
        "gaps": [],
        "new_queries": [{"query": query, "intent": "gap"} for query in queries],
        "metadata": _METADATA,
        "findings": findings,
        **more,
    }


def synthesis(answer: str) -> dict[str, Any]:
    """A ``SynthesisResponse``."""
    return {"answer": answer, "citations": [], "metadata": _METADATA}
