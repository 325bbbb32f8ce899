"""Spans that exporters send while an agent runs: acknowledged ones are records, once each."""

import base64
import gzip
import json
import random
import signal
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

from coreloop.web.keys import new_key
from serving import REQUESTS, Served, served, until

DAY = "2026-09-21.imported.jsonl"
JSON, PROTOBUF = "application/json", "application/x-protobuf"
QUICK = {
    "coreloop.observe.importers.received.QUIET_S": 0.1,
    "coreloop.observe.importers.received.UNFINISHED_S": 0.2,
    "coreloop.web.traces.EVERY_S": 0.05,
    REQUESTS: 10,  # a minute, of others than exporters, some of which send each span alone
}
pytestmark = pytest.mark.slow
_span_ids = count(2)  # the agent's own is 1, which ends last


def span(
    trace: int, name: str, *, parent: int | None = None, at: int = 0, **attributes: str
) -> dict[str, Any]:
    """A span as JSON; underscores in names stand for dots."""
    id = next(_span_ids)
    started = 1_790_000_000 * 10**9 + at * 10**9
    pairs = [
        {"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()
    ]
    ids = {"traceId": f"{trace:032x}", "spanId": f"{id:016x}"}
    ids |= {} if parent is None else {"parentSpanId": f"{parent:016x}"}
    times = {"startTimeUnixNano": str(started), "endTimeUnixNano": str(started + 10**6)}
    return {**ids, "name": name, **times, "attributes": pairs}


def model(trace: int, question: str = "a room", answer: str = "booked") -> dict[str, Any]:
    told = {"input": ("user", question), "output": ("assistant", answer)}
    texts = {
        f"gen_ai__{side}__messages": json.dumps(
            [{"role": role, "parts": [{"type": "text", "content": text}]}]
        )
        for side, (role, text) in told.items()
    }
    return span(trace, "chat m", gen_ai__operation__name="chat", **texts)


def tool(trace: int, **more: Any) -> dict[str, Any]:
    about = {"gen_ai__tool__name": "book", "gen_ai__tool__call__arguments": '{"room": 7}'}
    return span(trace, "execute_tool book", parent=1, **about, gen_ai__tool__call__result="ok", **more)


def export(*spans: dict[str, Any], scope: str = "an.agent") -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}


def protobuf(document: dict[str, Any]) -> bytes:
    """The same export as protobuf, whose JSON has ids in base64."""
    document = json.loads(json.dumps(document))
    for sent in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in sent.keys() & {"traceId", "spanId", "parentSpanId"}:
            sent[key] = base64.b64encode(bytes.fromhex(sent[key])).decode()
    return ParseDict(document, service.ExportTraceServiceRequest()).SerializeToString()


def send(client: httpx2.Client, document: dict[str, Any], **headers: str) -> httpx2.Response:
    body = json.dumps(document).encode()
    return client.post("/v1/traces", content=body, headers={"Content-Type": JSON, **headers})


def records(receiver: Served) -> list[dict[str, Any]]:
    files = sorted((receiver.folder / "data" / "audit" / "ai-ask").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def said(receiver: Served) -> list[tuple[str, int]]:
    """The question of each record, and how many calls it has."""
    return sorted((record["question"], len(record["tool_calls"])) for record in records(receiver))


def test_any_encoding_gives_the_record_that_a_file_of_the_spans_gives(tmp_path: Path, entry_point) -> None:
    encoded = {
        "json": lambda document: (json.dumps(document).encode(), {"Content-Type": JSON}),
        "protobuf": lambda document: (protobuf(document), {"Content-Type": PROTOBUF}),
    }
    document = export(tool(1, at=0), model(1), span(1, "GET /"))
    (tmp_path / "spans.json").write_text(json.dumps(document))
    assert entry_point(tmp_path, "import", "spans.json", "--out", "imported")[0] == 0
    [expected] = map(json.loads, (tmp_path / "imported" / DAY).read_text().splitlines())
    for name, encode in encoded.items():
        folder = tmp_path / name
        folder.mkdir()
        with served(folder, command="receive", bounds=QUICK) as receiver, receiver.client() as client:
            body, headers = encode(document)
            packed = gzip.compress(body)
            answer = client.post(
                "/v1/traces", content=packed, headers={**headers, "Content-Encoding": "gzip"}
            )
            assert (answer.status_code, answer.headers["content-type"]) == (200, headers["Content-Type"])
            assert answer.content in {b"", b"{}"}
            [record] = until(lambda: records(receiver))
            assert {**record, "session_hash": 0} == {**expected, "session_hash": 0}
            assert client.post("/v1/traces", content=body, headers=headers).status_code == 200
            until(lambda: len([one for one in receiver.lines if one["event"] == "traces"]) == 2)
            assert records(receiver) == [record], "sent again"
            assert receiver.end() == 0


def test_what_cannot_be_kept_is_said_as_the_protocol_wants(tmp_path: Path) -> None:
    with served(tmp_path, command="receive", bounds=QUICK) as receiver, receiver.client() as client:
        partial = send(client, export(tool(1), {"name": "without ids"}))
        assert partial.json() == {
            "partialSuccess": {"rejectedSpans": "1", "errorMessage": "1 span have no ids"}
        }
        mixed = export(tool(1))
        mixed["resourceSpans"][0]["scopeSpans"][0]["spans"].append({"name": "without ids"})
        sent = client.post("/v1/traces", content=protobuf(mixed), headers={"Content-Type": PROTOBUF})
        answer = service.ExportTraceServiceResponse.FromString(sent.content).partial_success
        assert (answer.rejected_spans, answer.error_message) == (1, "1 span have no ids")
        bomb = gzip.compress(bytes(65 << 20))
        hostile = {
            "no list of resourceSpans": (b"[]", {}),
            "not JSON": (b"{", {}),
            "not gzip": (b"{}", {"Content-Encoding": "gzip"}),
            "bytes without gzip": (bomb, {"Content-Encoding": "gzip"}),
            "gzip or absent": (b"{}", {"Content-Encoding": "br"}),
        }
        for why, (body, headers) in hostile.items():
            refused = client.post("/v1/traces", content=body, headers={"Content-Type": JSON, **headers})
            assert refused.status_code == 400, why
            assert why in refused.json()["message"]
        refused = client.post("/v1/traces", content=b"\xff", headers={"Content-Type": PROTOBUF})
        assert refused.status_code == 400
        assert b"not protobuf" in refused.content
        assert (
            client.post("/v1/traces", content=b"x", headers={"Content-Type": "text/plain"}).status_code == 415
        )
        foreign = send(client, export(tool(2)), Origin="https://example.org")
        assert foreign.status_code == 403, "a page of another site"


def test_beyond_this_machine_a_key_that_allows_it_is_needed(tmp_path: Path, entry_point) -> None:
    assert entry_point(tmp_path, "receive", "--host", "0.0.0.0", "--port", "0")[0] == 2
    recorder, reader = new_key("agent", ["record"]), new_key("reader", ["read"])
    environ = {"CORELOOP_API_KEYS": f"{recorder[1]} {reader[1]}"}
    with served(tmp_path, environ=environ, bounds=QUICK) as service, service.client() as client:
        statuses = [
            send(client, export(tool(1), model(1)), **headers).status_code
            for headers in (
                {},
                {"Authorization": f"Bearer {reader[0]}"},
                {"Authorization": f"Bearer {recorder[0]}"},
            )
        ]
        assert statuses == [401, 403, 200]
        assert client.get("/runs", headers={"Authorization": f"Bearer {recorder[0]}"}).status_code == 403
        until(lambda: said(service) == [("a room", 1)])


def test_a_trace_that_grows_after_it_was_written_has_one_record_that_says_all(tmp_path: Path) -> None:
    with served(tmp_path, command="receive", bounds=QUICK) as receiver, receiver.client() as client:
        send(client, export(tool(1), model(1), tool(2), model(2, "two rooms")))
        until(lambda: said(receiver) == [("a room", 1), ("two rooms", 1)])
        send(client, export(tool(1, at=1), tool(1, at=2)))
        until(lambda: said(receiver) == [("a room", 3), ("two rooms", 1)])
        receiver.process.kill()
    with served(tmp_path, command="receive") as receiver, receiver.client() as client:
        send(client, export(tool(2, at=5)))
        assert receiver.end(signal.SIGINT) == 0, "what came last is written before it ends"
        assert said(receiver) == [("a room", 3), ("two rooms", 2)]


def test_an_instrumentation_that_leaves_texts_out_is_named_once_with_what_lets_them_in(
    tmp_path: Path,
) -> None:
    bare = span(1, "execute_tool book", gen_ai__tool__name="book")
    with served(tmp_path, command="receive", bounds=QUICK) as receiver, receiver.client() as client:
        for _ in range(3):
            send(client, export(bare, scope="pydantic-ai"))
        send(client, export(bare, scope="unheard\n\x1bof"))
        notes = until(lambda: _notes(receiver) if len(_notes(receiver)) == 2 else None)
        assert notes["pydantic-ai"] == "InstrumentationSettings(include_content=True)"
        assert any("CAPTURE_MESSAGE_CONTENT" in text and "\x1b" not in scope for scope, text in notes.items())


def _notes(receiver: Served) -> dict[str, str]:
    return {line["scope"]: line["captured_by"] for line in receiver.lines if line["event"] == "no content"}


def test_nothing_acknowledged_is_lost_or_twice_when_it_is_killed_under_load(tmp_path: Path) -> None:
    draw, sent, taken = random.Random(1), count(1), Counter[str]()
    for _ in range(6):
        with served(tmp_path, command="receive", bounds=QUICK) as receiver, receiver.client() as client:
            left = draw.randrange(20, 120)
            while receiver.process.poll() is None:
                traces = [next(sent) for _ in range(5)]
                spans = [one for n in traces for one in (tool(n), model(n, f"room {n}"))]
                try:
                    assert send(client, export(*spans)).status_code == 200
                except httpx2.TransportError:
                    continue  # not acknowledged: an exporter sends it again
                taken.update(f"room {n}" for n in traces)
                left -= 1
                if left == 0:
                    receiver.process.send_signal(signal.SIGKILL)
    with served(tmp_path, command="receive", bounds=QUICK) as receiver:
        until(lambda: taken.keys() <= {question for question, _ in said(receiver)}, 60)
        questions = Counter(question for question, _ in said(receiver))
        assert set(questions.values()) == {1}
        assert {n for question, n in said(receiver) if question in taken} == {1}
