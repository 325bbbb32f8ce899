"""Observed tools behave as before: functions, coroutines and methods."""

import asyncio

from coreloop.observe import dropped, observed_tool


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


def test_a_generator_stays_as_it_is_and_is_counted(audit, only_record):
    @observed_tool
    def tool(axis):
        sent = yield axis
        return sent

    with audit():
        assert list(tool("배당")) == ["배당"]
    assert only_record()["tool_calls"] == []
    assert dropped() == {"generator": 1}
