"""One small log in every spelling of spans: the same calls and failures."""

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe.importers.traced_request import TracedRequest
from foreign_traces import otlp, otlp_value, requests, span

ARGS = {"city": "Oslo", "limit": 42}
START = 1_777_000_000
ERROR = "limit must be at most 100"
WORKED, FAILED, UNSEEN = (f"{number:032x}" for number in (0xA1, 0xA2, 0xA3))


def _flat(trace: str, id: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A span as Phoenix and the console write it."""
    status = more.pop("status", "OK")
    return {
        "name": "execute_tool find_rooms",
        "context": {"trace_id": trace, "span_id": id},
        "parent_id": None if id == "b" * 16 else "b" * 16,
        "start_time": "2026-04-24T03:06:40.000000Z",
        "end_time": "2026-04-24T03:06:41.000000Z",
        "status_code": status,
        "status_message": ERROR if status == "ERROR" else "",
        "attributes": attributes,
        "events": [],
        **more,
    }


def _spans(kind_beside: bool = False) -> list[dict[str, Any]]:
    """Three requests: a call that worked, one that failed, and one of which nothing was captured."""
    spans = []
    for trace in (WORKED, FAILED, UNSEEN):
        content = {} if trace == UNSEEN else {"input.value": json.dumps(ARGS), "output.value": "[1]"}
        status = {"status": "ERROR"} if trace == FAILED else {}
        kinds = {"LLM": {"llm.model_name": "m"}, "TOOL": {"tool.name": "find_rooms", **content}}
        for kind, attributes in kinds.items():
            id = ("b" if kind == "LLM" else "c") * 16
            named = attributes if kind_beside else {**attributes, "openinference.span.kind": kind}
            beside = {"span_kind": kind} if kind_beside else {}
            spans.append(_flat(trace, id, named, **beside, **(status if kind == "TOOL" else {})))
    return spans


def _as_otlp(flat: dict[str, Any], ids: Callable[[str], str] = str) -> dict[str, Any]:
    code, context = {"OK": 0, "ERROR": 2}[flat["status_code"]], flat["context"]
    return {
        "traceId": ids(context["trace_id"]),
        "spanId": ids(context["span_id"]),
        "parentSpanId": ids(flat["parent_id"] or ""),
        "name": flat["name"],
        "startTimeUnixNano": f"{START}000000000",
        "endTimeUnixNano": f"{START + 1}000000000",
        "attributes": [{"key": key, "value": otlp_value(one)} for key, one in flat["attributes"].items()],
        "status": {"code": code, "message": flat["status_message"]},
    }


def _base64(id: str) -> str:
    return base64.b64encode(bytes.fromhex(id)).decode()


def _as_jaeger(flat: dict[str, Any]) -> dict[str, Any]:
    context, failed = flat["context"], flat["status_code"] == "ERROR"
    told = {"error": True, "otel.status_description": ERROR} if failed else {}
    tags = {**flat["attributes"], **told}
    return {
        "traceID": context["trace_id"],
        "spanID": context["span_id"],
        "operationName": flat["name"],
        "references": [{"refType": "CHILD_OF", "traceID": context["trace_id"], "spanID": flat["parent_id"]}],
        "startTime": START * 1_000_000,
        "duration": 1_000_000,
        "tags": [{"key": key, "type": "string", "value": value} for key, value in tags.items()],
        "logs": [{"timestamp": START * 1_000_000, "fields": [{"key": "event", "value": "x"}]}],
    }


def _as_javascript(flat: dict[str, Any]) -> dict[str, Any]:
    context = flat["context"]
    return {
        "_spanContext": {"traceId": context["trace_id"], "spanId": context["span_id"]},
        "parentSpanId": flat["parent_id"],
        "name": flat["name"],
        "startTime": [START, 0],
        "endTime": [START + 1, 0],
        "attributes": flat["attributes"],
        "status": {"code": 2, "message": ERROR} if flat["status_code"] == "ERROR" else {"code": 0},
    }


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in flat["attributes"].items():
        *above, last = key.split(".")
        inside = tree
        for name in above:
            inside = inside.setdefault(name, {})
        inside[last] = value
    return {**flat, "attributes": tree}


def _row(flat: dict[str, Any]) -> dict[str, Any]:
    """A row of Phoenix's data frame."""
    row = {key: value for key, value in flat.items() if key not in ("context", "attributes")}
    row |= {f"context.{key}": value for key, value in flat["context"].items()}
    row |= {f"attributes.{key}": value for key, value in flat["attributes"].items()}
    return {**row, "start_time": START * 1000, "end_time": START * 1000 + 1000}


def _split(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = list({column: None for row in rows for column in row})
    return {"columns": columns, "index": [], "data": [[row.get(name) for name in columns] for row in rows]}


def _by_column(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {column: None for row in rows for column in row}
    return {name: {str(i): row.get(name) for i, row in enumerate(rows)} for name in columns}


def _console(flat: dict[str, Any]) -> dict[str, Any]:
    context = {key: f"0x{id}" for key, id in flat["context"].items()}
    status = {"status_code": flat.pop("status_code"), "description": flat.pop("status_message")}
    return {**flat, "context": context, "status": status}


def _pretty(values: Iterable[Any]) -> str:
    return "INFO it starts\n" + "\nINFO between\n".join(json.dumps(value, indent=4) for value in values)


def _langsmith(flat: dict[str, Any]) -> dict[str, Any]:
    context, attributes = flat["context"], flat["attributes"]
    is_tool = "tool.name" in attributes
    return {
        "id": f"{context['trace_id']}-{context['span_id']}",
        "trace_id": context["trace_id"],
        "run_type": "tool" if is_tool else "llm",
        "name": "find_rooms" if is_tool else "ChatOpenAI",
        "inputs": json.loads(attributes.get("input.value", "{}")),
        "outputs": {"output": attributes.get("output.value")},
        "error": f"ToolException('{ERROR}')Traceback (most recent call last):\n  x"
        * bool(flat["status_message"])
        or None,
        "start_time": flat["start_time"],
        "end_time": flat["end_time"],
    }


SPANS = _spans()
DOCUMENTS: dict[str, Any] = {
    "the collector": otlp(*map(_as_otlp, SPANS)),
    "protobuf's JSON": otlp(*(_as_otlp(one, _base64) for one in SPANS)),
    "Tempo": {"batches": [{"instrumentationLibrarySpans": [{"spans": list(map(_as_otlp, SPANS))}]}]},
    "Tempo's newer API": {"trace": otlp(*map(_as_otlp, SPANS))},
    "Jaeger": {"data": [{"traceID": "x", "spans": list(map(_as_jaeger, SPANS)), "processes": {}}]},
    "JavaScript": list(map(_as_javascript, SPANS)),
    "Phoenix": {"data": _spans(kind_beside=True), "next_cursor": None},
    "Phoenix, nested": {"data": list(map(_nested, _spans(kind_beside=True)))},
    "records": [_row(one) for one in _spans(kind_beside=True)],
    "split": _split([_row(one) for one in SPANS]),
    "columns": _by_column([_row(one) for one in SPANS]),
    "index": {str(index): _row(one) for index, one in enumerate(SPANS)},
    "one line each": "\n".join(json.dumps(_console(one)) for one in _spans()),
    "the console": _pretty(_console(one) for one in _spans()),
    "LangSmith": list(map(_langsmith, SPANS)),
}  # fmt: skip


def _requests(path: Path, document: Any, source: str = "otlp") -> list[TracedRequest]:
    path /= "spans.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return requests(source, path)


@pytest.mark.parametrize("spelling", DOCUMENTS)
def test_every_document_has_the_same_calls(tmp_path: Path, spelling: str) -> None:
    source = "langsmith" if spelling == "LangSmith" else "otlp"
    read = {request.ids[0]: request for request in _requests(tmp_path, DOCUMENTS[spelling], source)}
    calls = {trace: [(c.name, c.args, c.error, c.duration_ms) for c in read[trace].calls] for trace in read}
    error = f"ToolException: {ERROR}" if spelling == "LangSmith" else ERROR
    assert calls == {
        WORKED: [("find_rooms", ARGS, None, 1000)],
        FAILED: [("find_rooms", ARGS, error, 1000)],
        UNSEEN: [("find_rooms", {}, None, 1000)],
    }
    assert {request.answer_chars for request in read.values()} == {None}


# A neutral conversation: a text of the user, calls with their results, an answer.
OTHER = {"city": "Rome", "limit": 7}
ASKED = [("c1", ARGS), ("c2", OTHER)]


def _openai(message: tuple[Any, ...]) -> dict[str, Any]:
    role, *rest = message
    if role == "call":
        function = {"name": "find_rooms", "arguments": json.dumps(rest[1])}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": rest[0], "function": function}]}
    if role == "tool":
        return {"role": "tool", "tool_call_id": rest[0], "content": rest[1]}
    return {"role": role, "content": rest[0]}


def _parts(message: tuple[Any, ...]) -> dict[str, Any]:
    role, *rest = message
    if role == "call":
        part = {"type": "tool_call", "id": rest[0], "name": "find_rooms", "arguments": rest[1]}
        return {"role": "assistant", "parts": [part], "finish_reason": "tool_call"}
    if role == "tool":
        part = {"type": "tool_call_response", "id": rest[0], "response": rest[1]}
        return {"role": "tool", "parts": [part]}
    return {"role": role, "parts": [{"type": "text", "content": rest[0]}]}


def _numbered(prefix: str, messages: Iterable[dict[str, Any]], *, wrapped: bool) -> dict[str, Any]:
    attributes = {}
    for index, message in enumerate(messages):
        start = f"{prefix}.{index}." + "message." * wrapped
        attributes |= {start + key: value for key, value in message.items() if isinstance(value, str)}
        for number, call in enumerate(message.get("tool_calls", ())):
            inner = f"{start}tool_calls.{number}." + "tool_call." * wrapped
            for key, value in call["function"].items():
                attributes[inner + "function." * wrapped + key] = value
            attributes[inner + "id"] = call["id"]
    return attributes


def _dotted(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "tool_call.id": call["id"],
            **{f"tool_call.function.{key}": one for key, one in call["function"].items()},
        }
        for call in message.get("tool_calls", ())
    ]
    dotted = {f"message.{key}": value for key, value in message.items()}
    return {**dotted, "message.tool_calls": calls} if calls else dotted


def _events(sent: list[dict[str, Any]], reply: dict[str, Any]) -> list[dict[str, Any]]:
    events = []
    for message in sent:
        about = {key: value for key, value in message.items() if value is not None and key != "tool_call_id"}
        about |= {"id": message["tool_call_id"]} if "tool_call_id" in message else {}
        events.append({"event.name": f"gen_ai.{message['role']}.message", **about})
    return [*events, {"event.name": "gen_ai.choice", "index": 0, "message": reply}]


def _vercel(sent: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "toolCallId": call["id"],
            "toolName": call["function"]["name"],
            "args": call["function"]["arguments"],
        }
        for call in reply.get("tool_calls", ())
    ]
    told = {"ai.response.toolCalls": json.dumps(calls)} if calls else {"ai.response.text": reply["content"]}
    return {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(sent), **told}


def _langchain(message: dict[str, Any]) -> dict[str, Any]:
    kinds = {"user": "human", "assistant": "ai"}
    calls = [
        {"id": call["id"], "name": "find_rooms", "args": json.loads(call["function"]["arguments"])}
        for call in message.get("tool_calls", ())
    ]
    kept = {key: value for key, value in message.items() if key != "role"}
    kwargs = {**kept, "content": message["content"] or "", "type": kinds.get(message["role"], "tool")}
    return {"lc": 1, "type": "constructor", "kwargs": {**kwargs, "tool_calls": calls} if calls else kwargs}


Attributes = Callable[[list[Any], Any], dict[str, Any]]
MESSAGES: dict[str, Attributes] = {
    "GenAI": lambda sent, reply: {
        "gen_ai.input.messages": json.dumps(list(map(_parts, sent))),
        "gen_ai.output.messages": json.dumps([_parts(reply)]),
    },
    "GenAI, as objects": lambda sent, reply: {
        "gen_ai.input.messages": list(map(_parts, sent)),
        "gen_ai.output.messages": [_parts(reply)],
    },
    "only what is new": lambda sent, reply: {
        "gen_ai.input.messages": [_parts(message) for message in sent[-1:]],
        "gen_ai.output.messages": [_parts(reply)],
    },
    "Traceloop": lambda sent, reply: {
        **_numbered("gen_ai.prompt", map(_openai, sent), wrapped=False),
        **_numbered("gen_ai.completion", [_openai(reply)], wrapped=False),
    },
    "OpenInference": lambda sent, reply: {
        **_numbered("llm.input_messages", map(_openai, sent), wrapped=True),
        **_numbered("llm.output_messages", [_openai(reply)], wrapped=True),
    },
    "OpenInference in a data frame": lambda sent, reply: {
        "llm.input_messages": [_dotted(_openai(message)) for message in sent],
        "llm.output_messages": [_dotted(_openai(reply))],
    },
    "Logfire": lambda sent, reply: {"events": json.dumps(_events(list(map(_openai, sent)), _openai(reply)))},
    "Logfire of OpenAI": lambda sent, reply: {
        "request_data": json.dumps({"messages": list(map(_openai, sent)), "model": "m"}),
        "response_data": json.dumps({"message": _openai(reply)}),
    },
    "Vercel AI SDK": lambda sent, reply: _vercel(list(map(_openai, sent)), _openai(reply)),
    "MLflow": lambda sent, reply: {
        "mlflow.spanInputs": json.dumps({"messages": list(map(_openai, sent))}),
        "mlflow.spanOutputs": json.dumps({"choices": [{"index": 0, "message": _openai(reply)}]}),
    },
    "LangChain": lambda sent, reply: {
        "input.value": json.dumps({"messages": [[_langchain(_openai(message)) for message in sent]]}),
        "output.value": json.dumps({"generations": [[{"text": "", "message": _langchain(_openai(reply))}]]}),
    },
}  # fmt: skip


@pytest.mark.parametrize("spelling", MESSAGES)
def test_calls_are_read_from_the_messages_of_models(tmp_path: Path, spelling: str) -> None:
    conversation: list[Any] = [("user", "rooms?")]
    spans = []
    for id, args in ASKED:
        spans.append((list(conversation), ("call", id, args)))
        conversation += [("call", id, args), ("tool", id, f"result of {id}")]
    spans.append((conversation, ("assistant", "Here.")))
    written = [
        span(f"m{at}", {"gen_ai.request.model": "m", **MESSAGES[spelling](sent, reply)}, at=2 * at)
        for at, (sent, reply) in enumerate(spans)
    ]
    [request] = _requests(tmp_path, otlp(*written))
    assert [(call.name, call.args, call.result, call.unknown) for call in request.calls] == [
        ("find_rooms", args, f"result of {id}", None) for id, args in ASKED
    ]
    assert (request.question, request.answer_chars, request.rounds) == ("rooms?", 5, 3)
