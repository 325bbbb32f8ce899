"""The span processor reads the GenAI names of now and before."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode

from coreloop import dropped
from coreloop.observe.adapters import requests
from coreloop.observe.adapters.otel import Traces, record_spans


@pytest.fixture
def traced(tmp_path: Path) -> tuple[Any, Callable[[], list[dict[str, Any]]]]:
    provider = TracerProvider()
    provider.add_span_processor(record_spans(tmp_path))

    def records() -> list[dict[str, Any]]:
        paths = tmp_path.glob("audit/ai-ask/*.jsonl")
        return [json.loads(line) for path in paths for line in path.read_text().splitlines()]

    return provider.get_tracer("test"), records


OLD = {
    "tool": {"gen_ai.tool.name": "find", "tool_arguments": '{"city": "Oslo"}', "tool_response": '{"n": 1}'},
    "model": {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "rooms?",
    },
}
NEW = {
    "tool": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
        "gen_ai.tool.call.result": '{"n": 1}',
    },
    "model": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.response.model": "m",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "rooms?"}]}]',
    },
}


@pytest.mark.parametrize("names", [OLD, NEW], ids=["old", "new"])
def test_names_of_each_convention_are_read(traced: Any, names: dict[str, dict[str, Any]]) -> None:
    tracer, records = traced
    with tracer.start_as_current_span("run"):
        with tracer.start_as_current_span("chat", attributes=names["model"]):
            pass
        with tracer.start_as_current_span("tool", attributes=names["tool"]):
            pass
    (record,) = records()
    assert [(call["name"], call["args"], call["ok"]) for call in record["tool_calls"]] == [
        ("find", {"city": "Oslo"}, True)
    ]
    assert (record["question"], record["model"], record["provider"]) == ("rooms?", "m", "openai")
    assert record["input_tokens"] == 7


def test_failed_span_is_a_failed_call_and_a_rejection_has_no_value(traced: Any) -> None:
    tracer, records = traced
    text = "1 validation error for find\nseats\n  Field required [type=missing, input_value={'a': 'private'}]"
    with tracer.start_as_current_span("run"):
        for message in ("no room", text):
            span = tracer.start_span("tool", attributes=OLD["tool"])
            span.set_status(Status(StatusCode.ERROR, message))
            span.end()
    assert [call["error"] for call in records()[0]["tool_calls"]] == [
        "no room",
        "invalid_argument: seats: Field required",
    ]


def test_traces_without_an_agent_are_not_recorded(traced: Any) -> None:
    tracer, records = traced
    with tracer.start_as_current_span("GET /", attributes={"http.method": "GET"}):
        tracer.start_span("SELECT").end()
    assert records() == []


def test_span_that_ends_after_the_outermost_is_written_when_the_process_ends(traced: Any) -> None:
    tracer, records = traced
    with tracer.start_as_current_span("run", attributes={"gen_ai.operation.name": "invoke_agent"}):
        late = tracer.start_span("tool", attributes=OLD["tool"])
    late.end()
    assert len(records()) == 1
    requests.give_up_all()
    assert [len(record["tool_calls"]) for record in records()] == [0, 1]


def test_hostile_attributes_do_not_reach_the_host(traced: Any) -> None:
    tracer, records = traced
    before = dropped()
    hostile = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": "[" * 5_000,
        "gen_ai.input.messages": json.dumps([{"parts": [{"type": "tool_call_response", "id": None}]}]),
        "gen_ai.tool.definitions": json.dumps([{"name": 7}, None, {"name": "x", "parameters": []}]),
        "gen_ai.usage.input_tokens": "many",
    }
    with tracer.start_as_current_span("run", attributes=hostile):
        tracer.start_span("tool", attributes={"gen_ai.tool.name": "x", "tool_arguments": "{" * 9_000}).end()
    assert [call["name"] for call in records()[0]["tool_calls"]] == ["x"]
    assert dropped() == before


@pytest.mark.slow
def test_ten_thousand_roots_that_never_end_stay_within_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coreloop.observe.adapters.otel.MAX_SPANS", 500)
    monkeypatch.setattr(requests, "MAX_UNDER_WAY", 100)
    monkeypatch.setattr(requests, "_under_way", {})
    before, traces = dropped(), Traces(tmp_path)
    tracer = TracerProvider().get_tracer("test")
    for _ in range(10_000):
        root = tracer.start_span("run", attributes={"gen_ai.operation.name": "invoke_agent"})
        traces.on_start(root)
        chat = tracer.start_span("chat", trace.set_span_in_context(root), attributes=NEW["model"])
        traces.on_start(chat)
        chat.end()
        traces.on_end(chat)
    assert len(requests._under_way) == 100
    assert len(traces._spans) <= 500
    assert dropped()["never_ended"] - before.get("never_ended", 0) == 9_900
