"""Every answer of an endpoint ends as a typed reply or as an error that says what to do, in its time."""

from collections.abc import Iterator
from contextlib import suppress
from traceback import walk_tb

import pytest

from bounded import given_up
from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.ladder import ENDPOINTS
from coreloop.answer.models.model import CallLimits, Message, Reply
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from coreloop.base.project.settings import Endpoint, PriceSettings
from model_stand_in import (
    Act,
    ModelStandIn,
    answers,
    drips,
    error_body,
    floods,
    hangs,
    streams,
)
from rows import slow_after

KEY = "sk-test-0123456789"
PLAN = '{"queries": [{"query": "영업이익", "intent": "figure"}]}'
ASKED = [Message("system", "Plan."), Message("user", "왜?")]


def model(
    server: ModelStandIn, endpoint: Endpoint = ENDPOINTS["openai"], name: str = "gpt-5"
) -> OpenAICompatible:
    headers = {"Authorization": f"Bearer {KEY}"}
    price = PriceSettings(input=1.25, output=10.0)
    return OpenAICompatible("openai", name, endpoint=endpoint, url=server.url, headers=headers, price=price)


def ask(server: ModelStandIn, act: Act, **limits: float) -> Reply[PlanResponse]:
    server.acts.append(act)
    return model(server).complete(ASKED, PlanResponse, CallLimits(**{"timeout_s": 5, **limits}))


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
