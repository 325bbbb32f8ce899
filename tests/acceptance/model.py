"""A model endpoint that replies what an acceptance test says, by the response that it is asked for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import researching
from acceptance.shell import Project
from model_stand_in import Act, model_stand_in, streams

Reply = dict[str, Any] | Callable[["Asked"], dict[str, Any]]
UNLIKE = (
    "Its fountain shows coloured light to visitors on summer evenings beside the southern bank.",
    "Engineers strengthened all of the piers during winter after a survey of the river bed.",
    "Cyclists reach Seorae island over a ramp that the city planners drew much later.",
)
"""Texts that make sources of one sentence no copies of each other."""


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
    return _read(researching.plan(*queries, sub_questions=parts, tier=tier))


def reflection(*findings: dict[str, Any], queries: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A ``ReflectionResponse``."""
    return _read(researching.reflection(*findings, queries=queries, **more))


def synthesis(answer: str) -> dict[str, Any]:
    """A ``SynthesisResponse``."""
    return _read(researching.synthesis(answer))


def _read(reply: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(reply)
    return read
