"""``import --url`` against a server on this machine that answers as the official descriptions say."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest

from logs import records_in

AT = "2026-04-25T09:00:0"
KEYS = {
    "LANGFUSE_PUBLIC_KEY": "pk-1", "LANGFUSE_SECRET_KEY": "sk-SECRET", "LANGSMITH_API_KEY": "ls-SECRET",
    "LANGSMITH_PROJECT": "rooms", "PHOENIX_API_KEY": "px-SECRET", "PHOENIX_PROJECT": "my rooms",
    "MLFLOW_TRACKING_TOKEN": "ml-SECRET", "MLFLOW_EXPERIMENT_NAME": "rooms",
}  # fmt: skip
SPAN = {"name": "find_rooms", "start_time": f"{AT}1Z", "end_time": f"{AT}2Z", "status_code": "OK"}
SCORE = {"id": "s1", "name": "helpful", "value": 0, "timestamp": f"{AT}3Z"}
OBSERVATION = {"type": "TOOL", "name": "find_rooms", "startTime": f"{AT}1Z", "endTime": f"{AT}2Z"}
RUN = {"inputs": {}, "feedback_stats": {"helpful": {"n": 1, "avg": 0.0}}, **SPAN}
ASSESSED = {"assessments": [{"assessment_name": "helpful", "feedback": {"value": False}}]}
OTLP = {
    "trace_id": "AA",
    "name": "x",
    "start_time_unix_nano": 1777107601 * 10**9,
    "end_time_unix_nano": 1777107602 * 10**9,
}


def otlp(id: str) -> dict[str, Any]:
    values = {"mlflow.spanType": "TOOL", "mlflow.spanFunctionName": "find_rooms", "mlflow.traceRequestId": id}
    attributes = [{"key": key, "value": {"string_value": f'"{value}"'}} for key, value in values.items()]
    return {**OTLP, "span_id": id, "attributes": attributes}


# What an item of a trace is, and where a page has its items and the cursor of the next.
Shape = tuple[Callable[[str], dict[str, Any]], str, str]
LANGFUSE: dict[str, Shape] = {  # 4.16, fern/apis/server/definition: observations, scores-v3
    "/api/public/v2/observations": (
        lambda id: {"id": f"o{id}", "traceId": id, **OBSERVATION}, "data", "meta.cursor"),
    "/api/public/v3/scores": (
        lambda id: {**SCORE, "subject": {"kind": "trace", "id": id}}, "data", "meta.cursor"),
}  # fmt: skip
LANGFUSE_3: dict[str, Shape] = {  # legacy/observations-v1, trace, scores
    "/api/public/traces": (lambda id: {"id": id, "timestamp": f"{AT}0Z", "public": False}, "data", "page"),
    "/api/public/observations": (lambda id: {"id": f"o{id}", "traceId": id, **OBSERVATION}, "data", "page"),
    "/api/public/v2/scores": (lambda id: {**SCORE, "traceId": id}, "data", "page"),
}  # fmt: skip
LANGSMITH: dict[str, Shape] = {  # langsmith-sdk bc8dd672, python/langsmith/_openapi_client/resources/runs
    "/api/v2/runs/query": (
        lambda id: {"id": f"r{id}", "trace_id": id, "run_type": "TOOL", **RUN}, "items", "next_cursor"),
}  # fmt: skip
LANGSMITH_1: dict[str, Shape] = {  # the same, python/langsmith/client.py: list_runs
    "/api/v1/runs/query": (
        lambda id: {"id": f"r{id}", "trace_id": id, "run_type": "tool", **RUN}, "runs", "cursors.next"),
}  # fmt: skip
PHOENIX: dict[str, Shape] = {  # 20.3, schemas/openapi.json
    "/v1/projects/my rooms/spans": (
        lambda id: {"context": {"trace_id": id, "span_id": f"a{id}"}, "span_kind": "TOOL", **SPAN},
        "data", "next_cursor"),
}  # fmt: skip
MLFLOW: dict[str, Shape] = {  # 3.17, mlflow/protos/service.proto
    "/api/3.0/mlflow/traces/search": (
        lambda id: {"trace_id": id, **ASSESSED}, "traces", "next_page_token"),
}  # fmt: skip


class Api:
    """The lists of a server, what it was asked, and what goes wrong: by the number of the request."""

    url = ""
    n_traces = 5
    has_spans = True

    def __init__(self) -> None:
        self.lists: dict[str, Shape] = {}
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.faults: Callable[[int], tuple[int, bytes] | None] = lambda number: None

    def answer(self, path: str, given: dict[str, Any]) -> Any:
        ids = given.get("span_ids", given.get("trace_ids", []))
        ids = ids if isinstance(ids, list) else [ids]
        known = {
            "sessions": [{"id": "p-1"}],
            "get-by-name": {"experiment": {"experiment_id": "7"}},
            "span_annotations": {"data": [{**SCORE, "span_id": id, "result": {"score": 0}} for id in ids]},
            "get-trace-artifact": {"spans": [otlp(str(given.get("request_id")))]},
            "batchGet": {
                "traces": [{"trace_info": {"trace_id": id, **ASSESSED}, "spans": [otlp(id)]} for id in ids]
            },
        }  # fmt: skip
        if path.endswith("batchGet") and not self.has_spans:
            return None
        if path not in self.lists:
            return known.get(path.rpartition("/")[2])
        item, items, after = self.lists[path]
        start = int(given.get("cursor") or given.get("page_token") or 2 * int(given.get("page", 1)) - 2)
        part = [item(f"{id}") for id in range(self.n_traces)[start : start + 2]]
        if after == "page":
            return {items: part, "meta": {"page": start // 2 + 1, "totalPages": -(-self.n_traces // 2)}}
        outer, _, inner = after.rpartition(".")
        more = {inner: str(start + 2) if start + 2 < self.n_traces else None}
        return {items: part, **({outer: more} if outer else more)}


@pytest.fixture
def api() -> Iterator[Api]:
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            given = {name: one if len(one) > 1 else one[0] for name, one in parse_qs(query).items()}
            size = int(self.headers.get("content-length", 0))
            given |= json.loads(self.rfile.read(size)) if size else {}
            key = self.headers.get("authorization", self.headers.get("x-api-key", ""))
            api.asked.append((unquote(path), given, key))
            answer = api.answer(unquote(path), given)
            status, body = (404, b"{}") if answer is None else (200, json.dumps(answer).encode())
            status, body = api.faults(len(api.asked)) or (status, body)
            self.send_response(status)
            self.send_header("retry-after", "0")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield api
        server.shutdown()


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: Api, command: Run) -> Run:
    """``import`` in an empty project, with all keys."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "coreloop.yaml").write_text("outcome: {score: helpful >= 0.5}\n")

    def pull(source: str, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = command(tmp_path, "import", "--from", source, "--url", api.url, *more)
        assert done.returncode == code, done.stderr
        return done

    return pull


@pytest.mark.parametrize(
    ("source", "lists", "key"),
    [
        pytest.param("langfuse", LANGFUSE, "Basic cGstMTpzay1TRUNSRVQ=", id="langfuse 4"),
        pytest.param("langfuse", LANGFUSE_3, "Basic cGstMTpzay1TRUNSRVQ=", id="langfuse 3"),
        pytest.param("langsmith", LANGSMITH, "ls-SECRET", id="langsmith"),
        pytest.param("langsmith", LANGSMITH_1, "ls-SECRET", id="langsmith 1"),
        pytest.param("phoenix", PHOENIX, "Bearer px-SECRET", id="phoenix"),
        pytest.param("mlflow", MLFLOW, "Bearer ml-SECRET", id="mlflow"),
        pytest.param("mlflow", MLFLOW, "Bearer ml-SECRET", id="mlflow with spans in files"),
    ],
)
def test_traces_and_their_scores_are_pulled_once(
    source: str, lists: dict[str, Shape], key: str, api: Api, pull: Run, tmp_path: Path, request: Any
) -> None:
    api.lists, api.has_spans = lists, "files" not in request.node.name
    assert "records: 5 added, 0 already there" in pull(source).stdout
    records = records_in(tmp_path)
    assert {call["name"] for record in records for call in record["tool_calls"]} == {"find_rooms"}
    assert [record["judgment"]["verdict"] for record in records] == ["V"] * 5
    assert {asked[2] for asked in api.asked} == {key}
    assert "records: 0 added, 5 already there" in pull(source).stdout
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"SECRET" in path.read_bytes()]
    assert {path.name for path in tmp_path.glob("data/audit/pulled/*/*")} == {".lock", "state"}


def test_the_next_pull_begins_a_day_before_the_last_or_when_told(api: Api, pull: Run) -> None:
    api.lists = PHOENIX
    pull("phoenix", "--since", "2026-04-20")
    pull("phoenix")
    first, second = (given for _, given, _ in api.asked if "end_time" in given and "cursor" not in given)
    assert first["start_time"] == "2026-04-20T00:00:00Z"
    assert second["start_time"][11:] == first["end_time"][11:]
    assert first["start_time"] < second["start_time"] < first["end_time"]


def test_interrupted_twenty_times_it_ends_with_the_same_records(api: Api, pull: Run, tmp_path: Path) -> None:
    api.lists, api.n_traces = LANGFUSE, 25
    api.faults = lambda number: (500, b"") if number % 2 else None
    for _ in range(26):
        pull("langfuse", code=2)
    assert "25 added" in pull("langfuse").stdout
    assert len({record["request_id"] for record in records_in(tmp_path)}) == len(records_in(tmp_path)) == 25


def test_a_killed_pull_goes_on_at_its_page(api: Api, pull: Run, tmp_path: Path) -> None:
    api.lists = LANGFUSE
    words = [sys.executable, "-m", "coreloop", "import", "--from", "langfuse", "--url", api.url]
    is_asked, is_dead = threading.Event(), threading.Event()
    api.faults = lambda number: is_asked.set() or (200, b"" * is_dead.wait(30)) if number == 3 else None
    with subprocess.Popen(words, cwd=tmp_path, env={**os.environ, **KEYS}) as process:
        assert is_asked.wait(60)
        process.kill()
    is_dead.set()
    assert "5 added" in pull("langfuse").stdout
    path, given, _ = api.asked[3]
    assert (path, given["cursor"]) == ("/api/public/v2/observations", "4")


def test_a_busy_server_is_asked_again_a_few_times(api: Api, pull: Run) -> None:
    api.lists = PHOENIX
    api.faults = {1: (429, b""), 3: (503, b"")}.get
    assert "5 added" in pull("phoenix").stdout
    n_asked = len(api.asked)
    api.faults = lambda number: (429, b"")
    assert "HTTP 429" in pull("phoenix", code=2).stderr
    assert len(api.asked) == n_asked + 5


@pytest.mark.parametrize(
    ("status", "body", "mention"),
    [
        pytest.param(200, b"<html>Sign in</html>", "not JSON", id="page for people"),
        pytest.param(200, b"[" * 100_000, "not JSON", id="nested"),
        pytest.param(
            200, b'{"data": [' + b'{"a":' * 990 + b"1" + b"}" * 990 + b"]}", "deeply", id="nested less"
        ),
        pytest.param(200, b'{"data": ["x"], "meta": {}}', "not a list of traces", id="list of texts"),
        pytest.param(200, b'{"error": "no"}', "not a list of traces", id="no list"),
        pytest.param(200, b'{"data": [{}], "meta": {"cursor": "x"}}', "no end", id="a cursor twice"),
        pytest.param(200, b'{"data": [{}]}' + b" " * 2000, "more than 1,000 bytes", id="too long"),
        pytest.param(302, b"", "HTTP 302", id="elsewhere"),
        pytest.param(401, b"sk-SECRET", "HTTP 401, it refuses the key", id="wrong key"),
    ],
)
def test_an_unusable_answer_is_one_line(
    status: int, body: bytes, mention: str, api: Api, pull: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    if "bytes" in mention:
        monkeypatch.setattr("coreloop.observe.importers.pull._MAX_BYTES", 1000)
    api.faults = lambda number: (status, body)
    [line] = pull("langfuse", code=2).stderr.splitlines()
    assert mention in line
    assert "SECRET" not in line
    assert not (tmp_path / "data/audit/ai-ask").exists()


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        ([], "give a PATH, or a server by --from and --url"),
        (["--since", "7d", "x.json"], "--since needs --url"),
        (["--url", "http://localhost"], "--url needs --from langfuse"),
        (["--from", "otlp", "--url", "http://localhost"], "--url needs --from langfuse"),
        (["--from", "phoenix", "--url", "http://localhost", "x.json"], "takes no PATH"),
        (["--from", "phoenix", "--url", "localhost:6006"], "--url is the address of a server"),
        (["--from", "phoenix", "--url", "https://key@localhost"], "without a key"),
        (["--from", "phoenix", "--url", "http://10.0.0.1"], "would send the key to 10.0.0.1 unencrypted"),
        (["--from", "langsmith", "--url", "http://localhost"], "LANGSMITH_API_KEY is not set"),
    ],
)
def test_a_wrong_combination_is_one_line(
    words: list[str], mention: str, tmp_path: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", "px-SECRET")
    [line] = command(tmp_path, "import", *words).stderr.splitlines()
    assert mention in line
