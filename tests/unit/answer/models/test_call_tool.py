"""Asking an endpoint for the next call of a tool, which is sent as a provider takes tools."""

from collections.abc import Iterator
from typing import Any

import pytest

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.endpoints import ENDPOINTS
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from model_stand_in import ModelStandIn, answers, chunk, model_stand_in, streams_chunks

SCHEMA = {"type": "object", "properties": {"priority": {"type": "string"}}}
TOOLS = [{"name": "update", "description": "Update a ticket.", "parameters": SCHEMA}]
EXPECTED = CallReply(tool="update", arguments={"priority": "high"})


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as stand_in:
        yield stand_in


def call(server: ModelStandIn) -> CallReply:
    model = OpenAICompatible("openai", "m", endpoint=ENDPOINTS["openai"], url=server.url, headers={})
    assert model.calls_tools
    return model.call_tool([Message("user", "urgent")], TOOLS, CallLimits(timeout_s=5)).value


def part(index: int, **function: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": "c", "type": "function", "function": function}]}


def delta(content: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return chunk("m", {"index": 0, "delta": content, "finish_reason": finish})


def test_the_parts_of_a_streamed_call_are_joined_and_the_first_call_counts(server: ModelStandIn) -> None:
    parts = [
        delta(part(0, name="update", arguments="")),
        delta(part(0, arguments='{"priority":')),
        delta(part(0, arguments=' "high"}')),
        delta(part(1, name="close", arguments="{}")),
        delta({}, "tool_calls"),
    ]
    server.acts.append(streams_chunks(*parts))
    assert call(server) == EXPECTED
    assert server.bodies[0]["tools"] == [{"type": "function", "function": TOOLS[0]}]
    assert "response_format" not in server.bodies[0]


def test_a_call_that_is_not_streamed_is_read(server: ModelStandIn) -> None:
    message = {"content": None, **part(0, name="update", arguments='{"priority": "high"}')}
    server.acts.append(answers(200, {"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert call(server) == EXPECTED


@pytest.mark.parametrize(
    "content",
    [
        {"content": "I cannot."},
        part(0, name="update", arguments="{"),
        part(0, name="update", arguments="[1]"),
        part(0, arguments="{}"),
    ],
    ids=["no call", "torn", "no object", "no name"],
)
def test_a_reply_without_a_usable_call_is_malformed(server: ModelStandIn, content: dict[str, Any]) -> None:
    server.acts.append(streams_chunks(delta(content), delta({}, "stop")))
    with pytest.raises(ModelError) as raised:
        call(server)
    assert raised.value.kind == "malformed"
