"""OTLP JSON: the attribute names of each library, and the requests made from traces."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe.importers.traced_request import TracedRequest
from foreign_traces import otlp, recorded, requests, skips, span, write_document, write_lines

CITY = {"city": "서울"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "show"}


def _only(path: Path, *spans: dict[str, Any]) -> TracedRequest:
    [request] = requests("otlp", write_document(path / "trace.json", otlp(*spans)))
    return request


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


LIBRARIES = {
    "GenAI, as text": {**TOOL, "gen_ai.tool.call.arguments": _text(CITY)},
    "pydantic-ai": {"gen_ai.tool.name": "show", "tool_arguments": _text(CITY)},
    "OpenInference of LangChain, Python's repr": {
        "openinference.span.kind": "TOOL",
        "tool.name": "show",
        "input.value": "{'city': '서울'}",
    },
    "Vercel AI SDK": {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "show",
        "ai.toolCall.args": _text(CITY),
    },
    "Traceloop": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "show",
        "traceloop.entity.input": _text({"args": [], "kwargs": CITY}),
    },
    "Traceloop of LangChain": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "show",
        "traceloop.entity.input": _text({"input_str": "{'city'…", "inputs": CITY, "kwargs": {}}),
    },
    "Google ADK": {"gen_ai.tool.name": "show", "gcp.vertex.agent.tool_call_args": _text(CITY)},
    "MLflow, encoded twice": {
        "mlflow.spanType": _text("TOOL"),
        "mlflow.spanFunctionName": _text("show"),
        "mlflow.spanInputs": _text(_text(CITY)),
    },
    "Langfuse": {"langfuse.observation.type": "tool", "langfuse.observation.input": _text(CITY)},
}


@pytest.mark.parametrize("attributes", LIBRARIES.values(), ids=LIBRARIES)
def test_every_library_says_the_same(tmp_path: Path, attributes: dict[str, Any]) -> None:
    [call] = _only(tmp_path, span("a", attributes)).calls
    assert (call.name, call.args, call.error, call.duration_ms) == ("show", CITY, None, 1000)


def test_the_real_tool_span_is_read_when_it_has_ids_and_times(tmp_path: Path, shared_data: Path) -> None:
    attributes = json.loads(
        (shared_data / "import_samples" / "otel_genai_tool_execution_span.json").read_text()
    )
    [call] = _only(tmp_path, span("a", attributes)).calls
    assert (call.name, call.args) == ("get_weather", {"city": "New York"})
    assert call.result_size_bytes == len(attributes["output"])


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"status": {"code": 2, "message": "no such city"}}, "no such city"),
        ({"status": {"code": 1}}, None),
        ({"status_code": "ERROR", "status_message": "no"}, "no"),
        (
            {
                "status": {"code": 2},
                "events": [
                    {
                        "name": "exception",
                        "attributes": [
                            {"key": "exception.type", "value": {"stringValue": "ValueError"}},
                            {"key": "exception.message", "value": {"stringValue": "no"}},
                        ],
                    }
                ],
            },
            "ValueError: no",
        ),
        (
            {
                "status": {
                    "code": 2,
                    "message": "1 validation error for call[show]\nseats\n"
                    "  Field required [type=missing, input_value={'a': 'private'}, input_type=dict]",
                }
            },
            "invalid_argument: seats: Field required",
        ),
        (
            {"output": {"raw_output": "Tool 9 is full", "is_error": True, "tool_name": "show"}},  # LlamaIndex
            "Tool 9 is full",
        ),
    ],
)
def test_errors(tmp_path: Path, more: dict[str, Any], error: str | None) -> None:
    assert _only(tmp_path, span("a", TOOL, **more)).calls[0].error == error


MESSAGES = [
    {"role": "user", "content": "before"},
    {"role": "assistant", "content": "…"},
    {"role": "user", "content": "왜?"},
]


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"ai.prompt": _text({"prompt": "왜?"}), "ai.model.id": "m-1"}, id="Vercel"),
        pytest.param(
            {
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "be kind",
                "llm.input_messages.1.message.role": "user",
                "llm.input_messages.1.message.content": "왜?",
                "llm.model_name": "m-1",
            },
            id="OpenInference",
        ),
        pytest.param(
            {
                "gcp.vertex.agent.llm_request": _text(
                    {"contents": [{"role": "user", "parts": [{"text": "왜?"}]}]}
                ),
                "gen_ai.request.model": "m-1",
            },
            id="Google ADK",
        ),
        pytest.param(
            {"mlflow.spanInputs": _text({"messages": MESSAGES}), "mlflow.llm.model": "m-1"}, id="MLflow"
        ),
        pytest.param(
            {"input.value": _text({"messages": [MESSAGES]}), "llm.model_name": "m-1"}, id="LangChain's batch"
        ),
        pytest.param({"input.value": _text({"task": "왜?"}), "llm.model_name": "m-1"}, id="smolagents"),
    ],
)
def test_question_and_model(tmp_path: Path, attributes: dict[str, Any]) -> None:
    asked = span("m", {"gen_ai.operation.name": "chat", **attributes})
    request = _only(tmp_path, asked, span("a", TOOL, at=1))
    assert (request.question, request.model, request.rounds) == ("왜?", "m-1", 1)


def test_the_outermost_span_knows_question_answer_and_error(tmp_path: Path) -> None:
    root = span(
        "r",
        {
            "openinference.span.kind": "AGENT",
            "input.value": "왜?",
            "output.value": "그래서",
            "session.id": "s",
            "gen_ai.provider.name": "openai",
        },
        status={"code": 2, "message": "gave up"},
    )
    inner = span(
        "m", {"openinference.span.kind": "LLM", "input.value": "a template", "output.value": "x"}, at=1
    )
    request = _only(tmp_path, span("a", TOOL, at=2, parentSpanId="r"), {**inner, "parentSpanId": "r"}, root)
    assert (request.question, request.answer_chars, request.error) == ("왜?", 3, "gave up")
    assert (request.session_id, request.provider, request.duration_ms) == ("s", "openai", 3000)


def test_a_call_without_a_span_has_what_came_before_it_and_a_value_gets_its_name(tmp_path: Path) -> None:
    asked = [("a", "find", {"city": "Oslo"}), ("b", "show", {"id": "os-fjord"}), ("c", "show", {"id": "x"})]
    messages = [{"role": "user", "content": "a room"}]
    for id, name, args in asked:
        call = {"id": id, "function": {"name": name, "arguments": _text(args)}}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id, "content": "rejected"})
    model = span("m", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": _text(messages)}, at=3)
    bare = {"openinference.span.kind": "TOOL", "output.value": '["os-fjord"]'}
    tools = [
        span(id, {**bare, "tool.name": name, "input.value": value}, at=at)
        for at, (id, name, value) in enumerate([("a", "find", "Oslo"), ("c", "show", "x")])
    ]
    request = _only(tmp_path, *tools, model)
    assert [(call.name, call.args) for call in request.calls] == [(name, args) for _, name, args in asked]
    sources = [call.get("args_from") for call in recorded(request)["tool_calls"]]
    assert sources == [{"city": []}, {"id": ["find[]"]}, None]


def test_arguments_are_unwrapped_and_hidden_or_hostile_ones_hide_no_other(tmp_path: Path) -> None:
    written = {
        "a": _text({"args": [], "kwargs": {"id": 1}, "sanitize_inputs_outputs": True}),
        "b": "__REDACTED__",
        "c": "[" * 990 + "]" * 990,
    }
    tool = {"openinference.span.kind": "TOOL", "tool.name": "show"}
    spans = [span(id, {**tool, "input.value": args}, at=at) for at, (id, args) in enumerate(written.items())]
    first, hidden, hostile = _only(tmp_path, *spans).calls
    assert (first.args, hidden.args, list(hostile.args)) == ({"id": 1}, {}, ["value"])


def test_starts_that_are_counted_in_milliseconds_are_in_the_order_of_the_export(tmp_path: Path) -> None:
    ids = {"traceId": "t1", "name": "ai.toolCall", "startTimeUnixNano": "1777000000947000000"}
    spans = [
        {
            **ids,
            "spanId": id,
            "endTimeUnixNano": f"1777000000947{ended}",
            "attributes": span(id, {"ai.toolCall.name": name, **told})["attributes"],
        }
        for id, name, ended, told in (
            ("b", "find", "054280", {"ai.toolCall.result": '["os-fjord"]'}),
            ("a", "show", "038948", {"ai.toolCall.args": '{"id": "os-fjord"}'}),
        )
    ]
    [found, shown] = recorded(_only(tmp_path, *spans))["tool_calls"]
    assert (found["name"], shown["args_from"]) == ("find", {"id": ["find[]"]})


def test_what_models_did_not_reply_is_no_round_and_how_python_shows_an_object_no_answer(
    tmp_path: Path,
) -> None:
    kind = {"openinference.span.kind": "LLM"}
    spans = [
        span("r", {"openinference.span.kind": "CHAIN", "output.value": "StopEvent(result=AgentOutput(…"}),
        span("p", {**kind, "output.value": '{"tools": []}'}),
        span("m", {**kind, "input.value": "왜?", "output.value": "그래서"}),
        span("n", {**kind, "output.value": "그래서"}, parentSpanId="m"),
    ]
    request = _only(tmp_path, *spans)
    assert (request.rounds, request.answer_chars) == (1, 3)


def test_a_call_that_two_libraries_trace_counts_once(tmp_path: Path) -> None:
    outer = span("a", TOOL)
    between = span("b", {"gen_ai.operation.name": "other"}, parentSpanId="a")
    inner = span("c", {"openinference.span.kind": "TOOL", "tool.name": "show"}, parentSpanId="b")
    path = write_document(tmp_path / "trace.json", otlp(outer, between, inner))
    assert [len(request.calls) for request in requests("otlp", path)] == [1]
    assert skips("otlp", path) == ["span nested in a span of the same tool"]


def test_a_trace_is_one_request_in_any_order_of_spans(tmp_path: Path) -> None:
    spans = [
        span("r", {"openinference.span.kind": "AGENT", "input.value": "왜?"}),
        span("a", {**TOOL, "gen_ai.tool.name": "first"}, at=1),
        span("b", {**TOOL, "gen_ai.tool.name": "second"}, at=2),
    ]
    imported = set()
    for index, order in enumerate(permutations(spans)):
        first = write_lines(tmp_path / f"{index}-1.jsonl", [otlp(order[0]), otlp(order[1])])
        other = write_lines(tmp_path / f"{index}-2.jsonl", [otlp(order[1], order[2])])
        [request] = requests("otlp", first, other)
        imported.add((request.id, request.question, tuple(call.name for call in request.calls)))
    assert {(question, names) for _, question, names in imported} == {("왜?", ("first", "second"))}
    assert len(imported) == 1


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([otlp(span("a", TOOL))], id="list of exports"),
        pytest.param(
            {
                "data": {
                    "spans": [
                        {
                            "name": "show",
                            "context": {"trace_id": "t1", "span_id": "a"},
                            "start_time": 1_777_000_000_000_000_000,
                            "end_time": 1_777_000_001_000_000_000,
                            "attributes": {"mlflow.spanType": '"TOOL"'},
                        }
                    ]
                }
            },
            id="MLflow's own download",
        ),
    ],
)
def test_envelopes(tmp_path: Path, document: Any) -> None:
    [request] = requests("otlp", write_document(tmp_path / "trace.json", document))
    assert [(call.name, call.duration_ms) for call in request.calls] == [("show", 1000)]


def test_anything_but_a_call_is_skipped_with_the_reason(tmp_path: Path) -> None:
    spans = [
        span("a", {"http.method": "GET"}),
        span("b", {"gen_ai.operation.name": "embeddings"}),
        span("c", {**TOOL, "gen_ai.tool.name": "(merged tools)"}),
        span("d", TOOL, startTimeUnixNano="soon", endTimeUnixNano=None),
    ]
    path = write_document(tmp_path / "trace.json", otlp(*spans))
    assert sorted(skips("otlp", path)) == [
        "no valid time",
        "span of unknown kind",
        "span that repeats others",
        "trace without a tool call or an answered question",
    ]
