"""Spans of requests for OpenTelemetry: sent if a collector is named, and without texts of users."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from serving import asked, served

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


@pytest.mark.slow
def test_a_request_is_a_span_in_the_trace_of_its_caller_without_its_question(tmp_path: Path):
    with collector() as (url, received):
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{url}/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
        with served(tmp_path, environ=environ) as service, service.client() as client:
            asked(client, "/run-simple", [("traceparent", f"00-{TRACE}-b7ad6b7169203331-01")])
            assert service.end() == 0  # which sends what waits
    (sent,) = received
    assert (sent["path"], sent["key"]) == ("/v1/traces", "a b")
    (whole,) = ExportTraceServiceRequest.FromString(sent["body"]).resource_spans
    (service_name,) = (one for one in whole.resource.attributes if one.key == "service.name")
    assert service_name.value.string_value == "coreloop"
    spans = [span for scope in whole.scope_spans for span in scope.spans]
    assert TRACE in {span.trace_id.hex() for span in spans}
    assert "POST /run-simple" in {span.name for span in spans}
    assert b"Han" not in sent["body"]


async def app(*_: object) -> None:
    """An app that answers nothing."""
