"""Recorded calls of observed tools: the model's arguments, and whether the call succeeded."""

import asyncio
import contextvars
import json
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from coreloop.observe import dropped, observed_tool


@pytest.fixture
def calls(tmp_path):
    def read():
        (day,) = (tmp_path / "audit" / "ai-ask").glob("*.jsonl")
        (record,) = map(json.loads, day.read_bytes().splitlines())
        return record["tool_calls"]

    return read


class RunContext:
    """Like a framework's object, which must not be inspected."""

    def __getattribute__(self, name):
        raise AssertionError("looked at")

    __iter__ = keys = __str__ = __repr__ = __getattribute__


# injected parameters


def test_what_a_framework_injects_is_not_recorded(audit, calls):
    @observed_tool
    def show(ctx: RunContext, topic: str, *, runtime: "ToolRuntime[None, dict]" = None, limit: int = 3):  # noqa: F821
        return topic

    with audit():
        show(RunContext(), "IS", runtime=RunContext(), limit=5)
        show(ctx=RunContext(), topic="BS")
    assert [call["args"] for call in calls()] == [{"topic": "IS", "limit": 5}, {"topic": "BS"}]
    assert dropped() == {}


# outside of a request


def test_a_tool_in_a_bare_thread_pool_is_counted_and_logged(audit, calls, caplog):
    caplog.set_level(logging.WARNING, logger="coreloop")

    @observed_tool
    def show(topic):
        return topic

    with audit(), ThreadPoolExecutor(2) as pool:
        assert list(pool.map(show, ["a", "b"])) == ["a", "b"]
        pool.submit(contextvars.copy_context().run, show, "c").result()
    assert [call["args"] for call in calls()] == [{"topic": "c"}]
    assert dropped() == {"outside_request": 2}
    assert [message for message in caplog.messages if "outside_request" in message] == [
        "audit: outside_request (tools are called without an open AuditCollector, so nothing is recorded; "
        "in a thread pool, submit contextvars.copy_context().run, with a copy per call); "
        "the request continues, and further cases are only counted"
    ]


# sources


def test_results_of_decorated_tools_are_sources_and_are_not_stored(audit, calls):
    @observed_tool
    def find(name):
        return {"user": {"id": "u77-geheim"}}

    @observed_tool
    async def get(user_id):
        return None

    with audit("Kim"):
        user = find("Kim")["user"]["id"]
        asyncio.run(get(user))
        asyncio.run(get("nowhere"))
    assert [call.get("args_from") for call in calls()] == [
        {"name": ["question"]},
        {"user_id": ["find.user.id"]},
        {"user_id": []},
    ]
    assert "geheim" not in json.dumps(calls()[0])


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_a_static_or_class_method_below_is_observed_and_stays_one(kind, audit, calls):
    class Shop:
        found = observed_tool(kind(lambda *args: args[-1]))

    with audit():
        assert (Shop.found(3), Shop().found(4)) == (3, 4)
    assert len(calls()) == 2
    assert isinstance(vars(Shop)["found"], kind)


def test_name_without_its_keyword_is_refused():
    with pytest.raises(TypeError, match="name='show'"):
        observed_tool("show")
