"""One small log in every spelling of spans, by the real SDK where it can: the same calls and failures."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from coreloop.observe.importers.traced_request import TracedRequest
from foreign_traces import otlp, requests, span

ARGS = {"city": "Oslo", "limit": 42}
KIND = "openinference.span.kind"
ERROR = "limit must be at most 100"


def _recorded() -> Iterable[ReadableSpan]:
    """Three requests: a call that worked, one that failed, and one of which nothing was captured."""
    provider, memory = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("agent")
    content = {"input.value": json.dumps(ARGS), "output.value": "[1]"}
    for captured, status in ((content, "OK"), (content, "ERROR"), ({}, "UNSET")):
        with tracer.start_as_current_span("agent", attributes={KIND: "AGENT", "session.id": "s"}):
            about = {KIND: "TOOL", "tool.name": "find_rooms", **captured}
            with tracer.start_as_current_span("execute_tool", attributes=about) as tool:
                tool.set_status(StatusCode[status], ERROR if status == "ERROR" else None)
    return memory.get_finished_spans()


SPANS = _recorded()
CONSOLE = [json.loads(one.to_json()) for one in SPANS]
EXPORT = MessageToDict(encode_spans(list(SPANS)))
NANOSECONDS = 1_777_000_000_000_000_000


def _phoenix(flat: dict[str, Any]) -> dict[str, Any]:
    ids = {name: flat["context"][name].removeprefix("0x") for name in ("trace_id", "span_id")}
    attributes = {key: value for key, value in flat["attributes"].items() if key != KIND}
    return {
        **{key: flat[key] for key in ("name", "start_time", "end_time")},
        "context": ids,
        "parent_id": flat["parent_id"] and flat["parent_id"].removeprefix("0x"),
        "span_kind": flat["attributes"][KIND],
        "status_code": flat["status"]["status_code"],
        "status_message": flat["status"].get("description", ""),
        "attributes": attributes,
    }


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in flat["attributes"].items():
        first, last = key.split(".")
        tree.setdefault(first, {})[last] = value
    return {**flat, "attributes": tree}


def _javascript(flat: dict[str, Any]) -> dict[str, Any]:
    return {
        "_spanContext": {"traceId": flat["context"]["trace_id"], "spanId": flat["context"]["span_id"]},
        "parentSpanContext": {"spanId": flat["parent_id"]},
        "startTime": [NANOSECONDS // 10**9, 0],
        "endTime": [NANOSECONDS // 10**9 + 1, 0],
        "attributes": {**flat["attributes"], KIND: flat["span_kind"]},
        "status": {"code": 2, "message": ERROR} if flat["status_code"] == "ERROR" else {"code": 0},
    }


def _langsmith(flat: dict[str, Any]) -> dict[str, Any]:
    attributes = flat["attributes"]
    raised = f"ToolException('{ERROR}')Traceback (most recent call last):\n  x"
    return {
        **{key: flat[key] for key in ("start_time", "end_time")},
        "id": flat["context"]["span_id"],
        "trace_id": flat["context"]["trace_id"],
        "run_type": {"AGENT": "chain"}.get(flat["span_kind"], "tool"),
        "name": "find_rooms",
        "inputs": {"input": str(json.loads(attributes.get("input.value", "{}")))},
        "outputs": {"output": attributes.get("output.value")},
        "error": raised if flat["status_code"] == "ERROR" else None,
    }


FLAT = [_phoenix(one) for one in CONSOLE]
FRAME = pd.json_normalize(FLAT)
MILLISECONDS = FRAME.assign(start_time=NANOSECONDS // 10**6, end_time=NANOSECONDS // 10**6 + 1000)
DOCUMENTS: dict[str, Any] = {
    "the collector": EXPORT,
    "protobuf's names": MessageToDict(encode_spans(list(SPANS)), preserving_proto_field_name=True),
    "Tempo": {"batches": EXPORT["resourceSpans"]},
    "Tempo, newer": {"trace": EXPORT},
    "JavaScript": [_javascript(one) for one in FLAT],
    "Phoenix": {"data": FLAT, "next_cursor": None},
    "Phoenix, nested": {"data": [_nested(one) for one in FLAT]},
    **{way: FRAME.to_json(orient=way, date_format="iso") for way in ("columns", "index")},
    "records": MILLISECONDS.to_json(orient="records", lines=True),
    "one line each": "\n".join(one.to_json(indent=None) for one in SPANS),
    "the console": "INFO it starts\n" + "\nINFO between\n".join(one.to_json() for one in SPANS),
    "LangSmith": {"runs": [_langsmith(one) for one in FLAT]},
}


def _requests(path: Path, document: Any, source: str = "otlp") -> list[TracedRequest]:
    path /= "spans.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return requests(source, path)


@pytest.mark.parametrize("spelling", DOCUMENTS)
def test_every_document_has_the_same_calls(tmp_path: Path, spelling: str) -> None:
    read = _requests(tmp_path, DOCUMENTS[spelling], "langsmith" if spelling == "LangSmith" else "otlp")
    calls = [[(call.name, call.args, call.error) for call in request.calls] for request in read]
    error = f"ToolException: {ERROR}" if spelling == "LangSmith" else ERROR
    same = [("find_rooms", ARGS, None)], [("find_rooms", ARGS, error)], [("find_rooms", {}, None)]
    assert sorted(calls, key=repr) == sorted(same, key=repr)
    assert {request.answer_chars for request in read} == {None}


def _asks(id: str, args: dict[str, Any]) -> dict[str, Any]:
    function = {"name": "find_rooms", "arguments": json.dumps(args)}
    return {"role": "assistant", "tool_calls": [{"id": id, "function": function}]}


OTHER = {"city": "Rome", "limit": 7}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "rooms?"},
    _asks("c1", ARGS),
    {"role": "tool", "tool_call_id": "c1", "content": "result of c1"},
    _asks("c2", OTHER),
    {"role": "tool", "tool_call_id": "c2", "content": "result of c2"},
    {"role": "assistant", "content": "Here."},
]
_Messages = list[dict[str, Any]]


def _parts(messages: _Messages) -> str:
    """Messages of the GenAI conventions."""
    written = []
    for message in messages:
        parts = [{"type": "text", "content": message.get("content")}]
        if "tool_calls" in message:
            calls = [(call["id"], call["function"]) for call in message["tool_calls"]]
            parts = [{"type": "tool_call", "id": id, **function} for id, function in calls]
        elif message["role"] == "tool":
            id, response = message["tool_call_id"], message["content"]
            parts = [{"type": "tool_call_response", "id": id, "response": response}]
        written.append({"role": message["role"], "parts": parts})
    return json.dumps(written)


def _flat(prefix: str, value: Any) -> dict[str, Any]:
    """A message as one attribute per field."""
    if not isinstance(value, dict | list):
        return {prefix: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {key: inner for name, item in items for key, inner in _flat(f"{prefix}.{name}", item).items()}


def _wrapped(message: dict[str, Any]) -> dict[str, Any]:
    """A message in the wrappers of OpenInference."""
    calls = [{"tool_call": call} for call in message.get("tool_calls", ())]
    return {"message": {**message, "tool_calls": calls} if calls else message}


def _dotted(message: dict[str, Any]) -> dict[str, Any]:
    calls = [_flat("tool_call", call) for call in message.get("tool_calls", ())]
    dotted = {f"message.{key}": value for key, value in message.items()}
    return {**dotted, "message.tool_calls": calls} if calls else dotted


def _vercel(reply: dict[str, Any]) -> dict[str, Any]:
    calls = [(call["id"], call["function"]) for call in reply.get("tool_calls", ())]
    told = [{"toolCallId": id, "toolName": one["name"], "input": one["arguments"]} for id, one in calls]
    return {"ai.response.toolCalls": json.dumps(told)} if told else {"ai.response.text": reply["content"]}


_GENAI = ("gen_ai.input.messages", "gen_ai.output.messages")
_TRACELOOP = ("gen_ai.prompt", "gen_ai.completion")
_INFERENCE = ("llm.input_messages", "llm.output_messages")
MESSAGES: dict[str, Callable[[_Messages, _Messages], dict[str, Any]]] = {
    "GenAI": lambda *both: dict(zip(_GENAI, map(_parts, both), strict=True)),
    "only what is new": lambda sent, reply: {_GENAI[0]: _parts(sent[-1:]), _GENAI[1]: _parts(reply)},
    "Traceloop": lambda *both: _flat(_TRACELOOP[0], both[0]) | _flat(_TRACELOOP[1], both[1]),
    "OpenInference": lambda *both: {
        key: value
        for name, messages in zip(_INFERENCE, both, strict=True)
        for key, value in _flat(name, list(map(_wrapped, messages))).items()
    },
    "OpenInference in a data frame": lambda *both: {
        name: list(map(_dotted, messages)) for name, messages in zip(_INFERENCE, both, strict=True)
    },
    "Vercel AI SDK": lambda sent, reply: {"ai.prompt.messages": json.dumps(sent), **_vercel(reply[0])},
    "MLflow": lambda sent, reply: {
        "mlflow.spanInputs": json.dumps({"messages": sent}),
        "mlflow.spanOutputs": json.dumps({"choices": [{"index": 0, "message": reply[0]}]}),
    },
}


@pytest.mark.parametrize("spelling", MESSAGES)
def test_calls_are_read_from_the_messages_of_models(tmp_path: Path, spelling: str) -> None:
    written = [
        span(
            f"m{at}", {KIND: "LLM", **MESSAGES[spelling](CONVERSATION[:at], CONVERSATION[at : at + 1])}, at=at
        )
        for at in (1, 3, 5)
    ]
    [request] = _requests(tmp_path, otlp(*written))
    assert [(call.name, call.args, call.result, call.unknown) for call in request.calls] == [
        ("find_rooms", args, f"result of {id}", None) for id, args in (("c1", ARGS), ("c2", OTHER))
    ]
    assert (request.question, request.answer_chars, request.rounds) == ("rooms?", 5, 3)


def test_a_step_that_returns_the_whole_conversation_has_its_calls_once(tmp_path: Path) -> None:
    rules = {"role": "system", "content": "be brief"}
    written = ((CONVERSATION[:1], CONVERSATION[:3]), (CONVERSATION[:3], [rules, *CONVERSATION[:3]]))
    steps = [
        span(
            f"s{at}", {KIND: "CHAIN", "input.value": json.dumps(given), "output.value": json.dumps(returned)}
        )
        for at, (given, returned) in enumerate(written)
    ]
    tool = span("a", {KIND: "TOOL", "tool.name": "find_rooms", "input.value": json.dumps(ARGS)}, at=1)
    [request] = _requests(tmp_path, otlp(*steps, tool))
    assert [call.args for call in request.calls] == [ARGS]


def test_calls_of_earlier_requests_in_a_conversation_are_theirs(tmp_path: Path) -> None:
    sent = [*CONVERSATION, {"role": "user", "content": "and in Rome?"}]
    asked = span("m", {KIND: "LLM", **MESSAGES["GenAI"](sent, [_asks("c3", OTHER)])})
    [request] = _requests(tmp_path, otlp(asked))
    assert [(call.args, call.unknown) for call in request.calls] == [(OTHER, "no result in the trace")]
    assert (request.question, request.answer_chars) == ("and in Rome?", None)


def test_a_conversation_with_a_trace_for_each_reply_is_one_request(tmp_path: Path) -> None:
    told = [(at, MESSAGES["GenAI"](CONVERSATION[:at], CONVERSATION[at : at + 1])) for at in (1, 3, 5)]
    traces = [span(f"m{at}", {KIND: "LLM", **about}, at=at, trace=f"t{at}") for at, about in told]
    [request] = _requests(tmp_path, otlp(*traces))
    assert (len(request.calls), request.answer_chars) == (2, 5)


def test_a_call_that_has_no_span_is_counted_once_and_unknown(tmp_path: Path) -> None:
    told = [(at, MESSAGES["GenAI"](CONVERSATION[:at], CONVERSATION[at : at + 1])) for at in (1, 3)]
    models = [span(f"m{at}", {KIND: "LLM", **about}, at=at) for at, about in told]
    tool = span("a", {KIND: "TOOL", "tool.name": "find_rooms", "input.value": json.dumps(ARGS)}, at=2)
    [request] = _requests(tmp_path, otlp(*models, tool))
    assert [(call.args, call.unknown) for call in request.calls] == [
        (ARGS, None),
        (OTHER, "no result in the trace"),
    ]
