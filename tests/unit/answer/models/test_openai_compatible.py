"""Every answer of an endpoint ends as a typed reply or as an error that says what to do, in its time."""

from collections.abc import Iterator
from contextlib import suppress
from traceback import walk_tb

import pytest

from bounded import given_up
from coreloop.answer.models.choose_model import ENDPOINTS
from coreloop.answer.models.contracts import PlannedQuery, PlanResponse
from coreloop.answer.models.ladder import Ladder, error_response
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from coreloop.base.project.model_settings import EndpointSettings, PriceSettings
from model_stand_in import (
    Act,
    ModelStandIn,
    answers,
    drips,
    error_body,
    floods,
    hangs,
    model_stand_in,
    streams,
)
from rows import slow_after

KEY = "sk-test-0123456789"
PLAN = '{"queries": [{"query": "영업이익", "intent": "figure"}]}'
READ = PlanResponse(queries=(PlannedQuery(query="영업이익", intent="figure"),))
ASKED = [Message("system", "Plan."), Message("user", "왜?")]


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as stand_in:
        yield stand_in


def model(
    server: ModelStandIn, endpoint: EndpointSettings = ENDPOINTS["openai"], name: str = "gpt-5"
) -> OpenAICompatible:
    headers = {"Authorization": f"Bearer {KEY}"}
    price = PriceSettings(input=1.25, output=10.0)
    return OpenAICompatible("openai", name, endpoint=endpoint, url=server.url, headers=headers, price=price)


def ask(server: ModelStandIn, act: Act, **limits: float) -> Reply[PlanResponse]:
    server.acts.append(act)
    return model(server).complete(ASKED, PlanResponse, CallLimits(**{"timeout_s": 5, **limits}))


def test_a_reply_is_read_with_what_it_used(server: ModelStandIn):
    reply = ask(server, streams(PLAN))
    assert reply == Reply(READ, Usage("gpt-5-2026", 10, 5, microusd=63))  # 12.5 + 50, rounded up
    assert reply.usage.tokens == 15


def test_the_request_is_what_the_api_describes(server: ModelStandIn):
    ask(server, streams(PLAN))
    (body,) = server.bodies
    assert body["messages"] == [{"role": "system", "content": "Plan."}, {"role": "user", "content": "왜?"}]
    assert body["model"] == "gpt-5"
    assert body["max_completion_tokens"] == 4096
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["name"] == "PlanResponse"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_an_endpoint_without_schemas_is_sent_none(server: ModelStandIn):
    server.acts.append(streams(PLAN))
    model(server, ENDPOINTS["anthropic"]).complete(ASKED, PlanResponse, CallLimits(max_output_tokens=7))
    assert "response_format" not in server.bodies[0]
    assert server.bodies[0]["max_tokens"] == 7


@pytest.mark.parametrize(
    ("act", "kind", "is_retryable", "message"),
    [
        (streams("no JSON here"), "malformed", True, "contains no JSON object"),
        (streams('{"queries": 1}'), "malformed", True, "Expected `array`"),
        (streams(PLAN[:10], finish="length"), "cut", False, "cut at the largest number of output tokens"),
        (streams("", finish="content_filter: SAFETY"), "refused", False, "refused to answer"),
        (streams("", refusal="I can't"), "refused", False, "refused to answer"),
        (answers(200, {"error": {"message": "overloaded"}}), "unavailable", True, "broke off"),
        (answers(200, b'{"error":' + b"[" * 500_000), "rejected", False, "not a chat completion"),
        (streams(PLAN, usage=(-5, 1)), "rejected", False, "not a chat completion"),
        (answers(400, {"error": "x" * 295 + KEY}), "rejected", False, "400: x+…?$"),
        (answers(400, {"error": "\x1b[2Jred"}), "rejected", False, r"400: \\u\{1b\}\[2Jred"),
        (answers(401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "auth", False, "401: Incorrect"),
        (answers(403, {"error": "no"}), "auth", False, "answered 403: no"),
        (answers(400, {"error": {"message": "bad\nschema"}}), "rejected", False, "400: bad schema"),
        (answers(404, b"<html>"), "rejected", False, "answered 404"),
        (answers(429, [{"error": {"message": "slow down"}}]), "rate_limited", True, "429: slow down"),
        (answers(500, b""), "unavailable", True, "answered 500"),
        (answers(302, b"", location="http://127.0.0.1:1/"), "rejected", False, "answered 302"),
    ],
)
def test_an_unusable_answer_says_why(
    server: ModelStandIn, act: Act, kind: str, is_retryable: bool, message: str
):
    with pytest.raises(ModelError, match=message) as caught:
        ask(server, act)
    assert (caught.value.kind, caught.value.is_retryable) == (kind, is_retryable)
    assert KEY[:5] not in str(caught.value)
    assert str(caught.value).startswith("openai:gpt-5: ")


@pytest.mark.parametrize(
    "act", slow_after(1, [hangs(), hangs(b'{"choices"'), drips()]), ids=["silent", "torn", "drip"]
)
def test_a_slow_answer_ends_in_its_time(server: ModelStandIn, act: Act):
    with given_up(), pytest.raises(ModelError, match=r"no complete answer in 0\.3 s") as caught:
        ask(server, act, timeout_s=0.3)
    assert caught.value.usage == model(server).most(ASKED, CallLimits())


def test_a_flood_is_cut_off(server: ModelStandIn):
    with pytest.raises(ModelError, match="more than 100,000 bytes") as caught:
        ask(server, floods(), max_bytes=100_000)
    assert (caught.value.kind, caught.value.is_retryable) == ("cut", False)


@pytest.mark.parametrize("header", slow_after(1, ["Authorization", "api-key"]))
@pytest.mark.parametrize(
    ("act", "address"),
    [
        (streams("prose"), ""),
        (answers(401, error_body(f"Incorrect API key: {KEY}")), ""),
        (hangs(), ""),
        (floods(), ""),
        (lambda handler: handler.connection.close(), ""),
        (lambda handler: handler.wfile.write(b"garbage\r\n\r\n"), ""),
        (streams(PLAN), "http://[::1"),
    ],
    ids=["prose", "401", "silent", "flood", "closed", "garbage", "address"],
)
def test_no_error_and_no_traceback_with_variables_shows_the_key(
    server: ModelStandIn, act: Act, address: str, header: str
):
    server.acts.append(act)
    with pytest.raises(ModelError) as caught:
        ask_with_key(address or server.url, header)
    failures = [caught.value, *_causes(caught.value)]
    assert all(KEY not in str(failure) + repr(failure) for failure in failures)
    assert KEY not in "".join(variable for failure in failures for variable in _variables(failure))


def ask_with_key(url: str, header: str) -> None:
    """Ask with the key; variables of this function are the test's own."""
    bearer = "Bearer " if header == "Authorization" else ""
    asked = OpenAICompatible(
        "x", "m", endpoint=ENDPOINTS["azure"], url=url, headers={header: f"{bearer}{KEY}"}
    )
    assert KEY not in repr(asked)
    asked.complete(ASKED, PlanResponse, CallLimits(timeout_s=0.5, max_bytes=100_000))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield cause
        yield from _causes(cause)


def _variables(error: BaseException) -> Iterator[str]:
    """The variables of the frames of an error, but for the test's, as loggers show them."""
    for frame, _line in walk_tb(error.__traceback__):
        if frame.f_code.co_filename != __file__:
            for value in frame.f_locals.values():
                with suppress(Exception):  # of half-built objects
                    yield repr(value)


def test_a_ladder_asks_again_with_the_error_and_then_the_next_model(server: ModelStandIn):
    server.acts += [streams("prose"), streams("prose again"), streams(PLAN, model="other")]
    failures: dict[int, ModelError] = {}
    made: list[tuple[str, str]] = []
    ladder = Ladder([model(server), model(server, name="other")])
    for call in ladder.calls(ASKED, PlanResponse, CallLimits(timeout_s=5), failures):
        try:
            made.append((call.model.name, call.make().usage.model))
            break
        except ModelError as error:
            made.append((call.model.name, error.kind))
            failures[call.place] = error
    assert made == [
        ("openai:gpt-5", "malformed"),
        ("openai:gpt-5", "malformed"),
        ("openai:other", "other"),
    ]
    first, second, third = (body["messages"] for body in server.bodies)
    assert [message["role"] for message in first] == ["system", "user"]
    assert first[0]["content"].startswith("Plan.\n\nReturn only JSON. No prose.")
    assert second[:-2] == first == third
    assert [message["role"] for message in second[-2:]] == ["assistant", "user"]
    assert "contains no JSON object" in second[-1]["content"]


def test_a_ladder_without_a_reply_fails_in_the_structured_form(server: ModelStandIn):
    server.acts += [answers(401, {}), answers(503, {})]
    ladder = Ladder([model(server), model(server, name="other")])
    with pytest.raises(ModelError, match="answered 401; openai:other: the endpoint answered 503") as caught:
        ladder.complete(ASKED, PlanResponse, CallLimits(timeout_s=5))
    error = error_response(caught.value).error
    assert (error.type, error.retryable) == ("unavailable", True)
