"""Asking an endpoint for the next call of a tool, which is sent as a provider takes tools."""

import pytest

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.ladder import ENDPOINTS
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from model_stand_in import ModelStandIn, streams

SCHEMA = {"type": "object", "properties": {"priority": {"type": "string"}}}
TOOLS = [{"name": "update", "description": "Update a ticket.", "parameters": SCHEMA}]


def call(server: ModelStandIn, *functions: dict[str, str]) -> CallReply:
    calls = [{"id": "c", "type": "function", "function": function} for function in functions]
    server.acts.append(streams("I cannot.", tool_calls=calls, finish="tool_calls"))
    model = OpenAICompatible("openai", "m", endpoint=ENDPOINTS["openai"], url=server.url, headers={})
    return model.call_tool([Message("user", "urgent")], TOOLS, CallLimits(timeout_s=5)).value


def test_the_first_call_is_read(server: ModelStandIn) -> None:
    first = {"name": "update", "arguments": '{"priority": "high"}'}
    found = call(server, first, {"name": "close", "arguments": "{}"})
    assert found == CallReply(tool="update", arguments={"priority": "high"})
    assert server.bodies[0]["tools"] == [{"type": "function", "function": TOOLS[0]}]
    assert "response_format" not in server.bodies[0]


@pytest.mark.parametrize(
    "functions",
    [
        [],
        [{"name": "update", "arguments": "{"}],
        [{"name": "update", "arguments": "[1]"}],
        [{"arguments": "{}"}],
    ],
    ids=["no call", "torn", "no object", "no name"],
)
def test_a_reply_without_a_usable_call_is_malformed(
    server: ModelStandIn, functions: list[dict[str, str]]
) -> None:
    with pytest.raises(ModelError) as raised:
        call(server, *functions)
    assert raised.value.kind == "malformed"
