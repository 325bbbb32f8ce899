"""Observed tools behave as before: functions, coroutines, generators and methods."""

import asyncio
import inspect

import pytest

from coreloop.observe import current, dropped, observed_tool


def test_an_observed_tool_behaves_as_before_and_is_recorded(audit, only_record):
    @observed_tool
    def show(topic, /, company="삼성", *rest, limit=3, **more):
        """Show a topic."""
        return f"{topic}가{company}{rest}{limit}{more}"

    assert show.__name__ == "show"
    assert show.__doc__ == "Show a topic."
    with audit():
        assert show("IS", "LG", 1, limit=5, axis="x") == "IS가LG(1,)5{'axis': 'x'}"
    (call,) = only_record()["tool_calls"]
    assert (call["name"], call["ok"], call["error"]) == ("show", True, None)
    assert call["args"] == {"topic": "IS", "company": "LG", "limit": 5, "axis": "x"}
    assert call["duration_ms"] >= 0
    assert call["result_size_bytes"] == len("IS가LG(1,)5{'axis': 'x'}".encode())


def test_an_observed_coroutine_is_timed_until_it_ends(audit, only_record):
    @observed_tool(name="fin.show")
    async def show(topic):
        ended = asyncio.get_running_loop().time() + 0.02
        while asyncio.get_running_loop().time() < ended:
            await asyncio.sleep(0)
        return topic

    async def main():
        with audit():
            assert await show("IS") == "IS"

    asyncio.run(main())
    (call,) = only_record()["tool_calls"]
    assert (call["name"], call["args"]) == ("fin.show", {"topic": "IS"})
    assert call["duration_ms"] >= 20


def test_an_observed_generator_is_recorded_when_its_iteration_ends(audit, only_record):
    @observed_tool
    def tool(axis):
        sent = yield axis
        yield sent
        return "done"

    assert inspect.isgeneratorfunction(tool)
    with audit() as request:
        iteration = tool("배당")
        assert next(iteration) == "배당"
        assert not request._pending[0]["tool_calls"]
        assert iteration.send("sent") == "sent"
        with pytest.raises(StopIteration, match="done"):
            next(iteration)
    (call,) = only_record()["tool_calls"]
    assert (call["name"], call["args"], call["ok"]) == ("tool", {"axis": "배당"}, True)


def test_an_observed_async_generator_is_recorded_when_its_iteration_ends(audit, only_record):
    closed = []

    @observed_tool
    async def tool(fails):
        try:
            yield 1
            yield "more"
            await asyncio.to_thread(int)
            if fails:
                raise ValueError("no")
        finally:
            closed.append(fails)

    async def main():
        complete = tool(False)
        assert await complete.asend(None) == 1
        assert not current()._pending[0]["tool_calls"]
        assert await anext(complete) == "more"
        assert [item async for item in complete] == []
        with pytest.raises(ValueError, match="no"):
            [item async for item in tool(True)]
        abandoned = tool(True)
        await anext(abandoned)
        await abandoned.aclose()

    assert inspect.isasyncgenfunction(tool)
    with audit():
        asyncio.run(main())
    calls = only_record()["tool_calls"]
    assert [call["ok"] for call in calls] == [True, False, True]
    assert closed == [False, True, True]
    assert calls[1]["error"] == "ValueError: no"
    assert not dropped()
