"""Spans of runs for OpenTelemetry: sent if a collector is named, and without texts of users."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from coreloop.service.spans import collector_in
from rows import each_row
from serving import asked, served, until


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A collector on this machine; gives its address and what it received."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append({"path": self.path, "key": self.headers["x-key"], **json.loads(body)})
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", received
    server.shutdown()
    server.server_close()


def facts_of(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


@pytest.mark.slow
def test_a_run_is_a_span_with_its_steps_and_no_text_of_users(tmp_path: Path):
    with collector() as (url, received):
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{url}/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
        with served(tmp_path, environ=environ) as service, service.client() as client:
            run_id = asked(client, "/run-simple").json()["run_id"]
            (sent,) = until(lambda: received)
    assert (sent["path"], sent["key"]) == ("/v1/traces", "a b")
    (whole,) = sent["resourceSpans"]
    assert facts_of(whole["resource"]) == {"service.name": "coreloop"}
    root, *steps = whole["scopeSpans"][0]["spans"]
    assert (root["name"], facts_of(root)["gen_ai.conversation.id"]) == ("invoke_agent research", run_id)
    assert {"chat offline", "execute_tool search"} <= {step["name"] for step in steps}
    assert {step["parentSpanId"] for step in steps} == {root["spanId"]}
    assert {step["traceId"] for step in steps} == {root["traceId"]}
    assert len({span["spanId"] for span in (root, *steps)}) == len(steps) + 1
    for step in steps:
        assert int(root["startTimeUnixNano"]) <= int(step["startTimeUnixNano"])
        assert int(step["startTimeUnixNano"]) <= int(step["endTimeUnixNano"]) <= int(root["endTimeUnixNano"])
    assert "Han" not in json.dumps(sent)


@pytest.mark.slow
def test_a_collector_that_fails_is_one_line_and_disturbs_nothing(tmp_path: Path):
    with (
        collector(503) as (url, _),
        served(tmp_path, environ={"OTEL_EXPORTER_OTLP_ENDPOINT": url}) as service,
        service.client() as client,
    ):
        assert asked(client, "/run-simple").status_code == 200
        (line,) = until(lambda: [line for line in service.lines if line["event"] == "spans"])
        assert line["error"] == "the collector answered 503"
        assert service.end() == 0


@each_row("environ", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": " "}])
def test_without_a_collector_nothing_is_sent(environ: dict[str, str]):
    assert collector_in(environ) is None
