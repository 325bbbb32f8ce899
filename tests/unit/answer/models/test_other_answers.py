"""Endpoints that do what others do not: a web page, no temperature. Each is named."""

from typing import Any

import pytest

from coreloop.answer.models.contracts import PlannedQuery, PlanResponse
from coreloop.answer.models.ladder import ENDPOINTS, Ladder
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from model_stand_in import ModelStandIn, answers, streams

PLAN = '{"queries": [{"query": "q", "intent": "i"}]}'
READ = PlanResponse(queries=(PlannedQuery(query="q", intent="i"),))
ASKED = [Message("user", "Why?")]
HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>data: none</body></html>"


def model(server: ModelStandIn) -> OpenAICompatible:
    return OpenAICompatible("lab", "m", endpoint=ENDPOINTS["vllm"], url=server.url, headers={})


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"error": {"message": "out of credit"}}, "unavailable", "broke off with an error: out of credit"),
        ({"message": "hello"}, "rejected", "answered with what is not a chat completion; check its address"),
        (b'{"choices": [', "rejected", "not a chat completion"),
        (HTML, "rejected", "not a chat completion"),
        (b"", "rejected", "not a chat completion"),
    ],
)
def test_another_answer_with_status_200_is_no_reply(server: ModelStandIn, body: Any, kind: str, message: str):
    server.acts.append(answers(200, body))
    with pytest.raises(ModelError, match=message) as caught:
        model(server).complete(ASKED, PlanResponse, CallLimits(timeout_s=5))
    assert caught.value.kind == kind


def refusal(text: str) -> Any:
    return answers(400, {"error": {"message": text, "param": None}})


OPTIONAL = {"temperature": 0.0, "seed": 1}


def test_a_parameter_that_an_endpoint_refuses_is_left_out_once_and_for_all_and_said(server: ModelStandIn):
    said = "Unsupported value: 'temperature' does not support 0 with this model."
    no_schema = "This model does not support response format `json_schema`."
    refusals = [refusal(said), refusal("Unknown name seed"), refusal(no_schema)]
    server.acts += [*refusals, streams(PLAN), streams(PLAN)]
    errors: list[str] = []
    ladder = Ladder([model(server)])

    def make(*asked: Any) -> Any:
        try:
            return asked[0].complete(*asked[1:])
        except ModelError as error:
            errors.append(str(error))
            raise

    for _ in range(2):
        assert ladder.complete(ASKED, PlanResponse, CallLimits(timeout_s=5), make).value == READ
    assert OPTIONAL.items() <= server.bodies[0].items()
    sent = [sorted({*OPTIONAL, "response_format"} & set(body)) for body in server.bodies]
    assert sent == [
        ["response_format", "seed", "temperature"], ["response_format", "seed"], ["response_format"], [], []
    ]  # fmt: skip
    assert [(error.partition(";")[0], error.rpartition("it: ")[2]) for error in errors] == [
        ("lab:m: the endpoint refuses the temperature", said),
        ("lab:m: the endpoint refuses the seed", "Unknown name seed"),
        ("lab:m: the endpoint refuses the response_format", no_schema),
    ]


def test_an_endpoint_that_goes_on_refusing_is_not_asked_for_ever(server: ModelStandIn):
    server.acts += [refusal("temperature and seed are wrong")] * 9
    with pytest.raises(ModelError, match="answered 400") as caught:
        Ladder([model(server)]).complete(ASKED, PlanResponse, CallLimits(timeout_s=5))
    assert caught.value.kind == "rejected"
    assert len(server.bodies) == 3
