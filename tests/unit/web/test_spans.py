"""Spans of runs for OpenTelemetry: sent if a collector is named, and without texts of users."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from coreloop.base.extras import install_line
from coreloop.runs.stores.sqlite import sqlite_store
from coreloop.web.spans import open_spans
from serving import asked, served, until

TRACE = "0af7651916cd43dd8448eb211c80319c"


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A collector on this machine; gives its address and what it received."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append({"path": self.path, "key": self.headers["x-key"], "body": body})
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", received
    server.shutdown()
    server.server_close()


def facts_of(holder: Any) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in holder.attributes}


@pytest.mark.slow
def test_a_run_is_a_span_with_its_steps_in_the_trace_of_its_request(tmp_path: Path):
    with collector() as (url, received):
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{url}/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
        with served(tmp_path, environ=environ) as service, service.client() as client:
            parent = f"00-{TRACE}-b7ad6b7169203331-01"
            run_id = asked(client, "/run-simple", [("traceparent", parent)]).json()["run_id"]
            until(lambda: [line for line in service.lines if line["event"] == "ended"])
            assert service.end() == 0  # which sends what waits
    (sent,) = received
    assert (sent["path"], sent["key"]) == ("/v1/traces", "a b")
    (whole,) = ExportTraceServiceRequest.FromString(sent["body"]).resource_spans
    assert facts_of(whole.resource)["service.name"] == "coreloop"
    spans = whole.scope_spans[0].spans
    (root,) = [span for span in spans if not span.parent_span_id]
    steps = [span for span in spans if span.parent_span_id]
    assert (root.name, facts_of(root)["gen_ai.conversation.id"]) == ("invoke_agent research", run_id)
    assert {"chat offline", "execute_tool search"} <= {step.name for step in steps}
    assert {step.parent_span_id for step in steps} == {root.span_id}
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert len({span.span_id for span in spans}) == len(spans)
    for step in steps:
        assert root.start_time_unix_nano <= step.start_time_unix_nano
        assert step.start_time_unix_nano <= step.end_time_unix_nano <= root.end_time_unix_nano
    assert b"Han" not in sent["body"]


@pytest.mark.slow
def test_a_collector_that_refuses_is_in_the_log_and_disturbs_nothing(tmp_path: Path):
    with (
        collector(400) as (url, received),
        served(tmp_path, environ={"OTEL_EXPORTER_OTLP_ENDPOINT": url}) as service,
        service.client() as client,
    ):
        assert asked(client, "/run-simple").status_code == 200
        until(lambda: [line for line in service.lines if line["event"] == "ended"])
        assert service.end() == 0
        assert received
        (line,) = [line for line in service.lines if line["level"] == "error"]
        assert line["event"].startswith("Failed to export span")


@pytest.mark.parametrize("environ", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": " "}], ids=["none", "empty"])
def test_without_a_collector_nothing_is_sent(tmp_path: Path, environ: dict[str, str]):
    with sqlite_store(tmp_path / "runs.db") as store, open_spans(store, environ) as spans:
        assert spans is None


def test_without_the_sdk_the_line_that_installs_it_is_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace.export", None)
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with (
        caplog.at_level("INFO", "coreloop.web"),
        sqlite_store(tmp_path / "runs.db") as store,
        open_spans(store, environ) as spans,
    ):
        assert spans is None
    (line,) = caplog.records
    needed = f"OTEL_EXPORTER_OTLP_ENDPOINT needs an extra; install it: {install_line('traces')}"
    assert line.facts == {"error": needed}
