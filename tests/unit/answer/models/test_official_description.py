"""What is sent and answered fits OpenAI's official API description, which tests/openai/install.sh fetches."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coreloop.answer.models.contracts import SCHEMA_FILES, Contract
from coreloop.answer.models.ladder import ENDPOINTS, Ladder
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.openai_compatible import OpenAICompatible
from model_stand_in import model_stand_in, streams
from rows import each_row

SPEC = Path(__file__).parents[3] / ".openai" / "chat.json"
pytestmark = pytest.mark.skipif(
    not SPEC.is_file(), reason="OpenAI's API description is not installed: run tests/openai/install.sh"
)
BODIES = ("openai", "ollama")
"""Each name of the limit of tokens."""


def validator(name: str) -> Draft202012Validator:
    spec = json.loads(SPEC.read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", **spec})


def declared(name: str) -> set[str]:
    """The properties of an object and of what it is composed of."""
    schemas = json.loads(SPEC.read_text(encoding="utf-8"))["components"]["schemas"]

    def below(schema: dict[str, Any]) -> Iterator[str]:
        yield from schema.get("properties", {})
        if "$ref" in schema:
            yield from below(schemas[schema["$ref"].rpartition("/")[2]])
        for part in schema.get("allOf", ()):
            yield from below(part)

    return set(below(schemas[name]))


def sent(endpoint: str, contract: type[Contract]) -> tuple[dict[str, Any], list[Any]]:
    """Ask the stand-in twice, as after an unusable reply; returns the last request, and the replies."""
    with model_stand_in() as server:
        server.acts += [streams("prose"), streams("", finish="length")]
        model = OpenAICompatible("x", "m", endpoint=ENDPOINTS[endpoint], url=server.url, headers={})
        with pytest.raises(Exception, match="cut at the largest"):
            Ladder([model]).complete(
                [Message("system", "Plan."), Message("user", "왜?"), Message("assistant", "?")],
                contract,
                CallLimits(timeout_s=5),
            )
    return server.bodies[-1], [json.loads(data) for data in server.sent]


@pytest.mark.slow
@each_row("endpoint", BODIES)
@each_row("contract", SCHEMA_FILES.values())
def test_a_request_and_the_reply_are_as_described(endpoint: str, contract: type[Contract]):
    body, replies = sent(endpoint, contract)
    validator("CreateChatCompletionRequest").validate(body)
    assert body.keys() <= declared("CreateChatCompletionRequest")
    for reply in replies:
        validator("CreateChatCompletionResponse").validate(reply)


def test_a_question_for_a_call_is_as_described():
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    with model_stand_in() as server:
        server.acts.append(streams("", tool_calls=[call], finish="tool_calls"))
        model = OpenAICompatible("x", "m", endpoint=ENDPOINTS["openai"], url=server.url, headers={})
        tool = {"name": "find", "description": "Finds.", "parameters": {"type": "object"}}
        model.call_tool([Message("user", "왜?")], [tool], CallLimits(timeout_s=5))
    validator("CreateChatCompletionRequest").validate(server.bodies[-1])
    assert server.bodies[-1].keys() <= declared("CreateChatCompletionRequest")
