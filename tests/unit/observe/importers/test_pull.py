"""``import --url`` against a server on this machine that answers as the official descriptions say."""

import json
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
    "LANGFUSE_PUBLIC_KEY": "pk-1", "LANGFUSE_SECRET_KEY": "sk-CANARY", "LANGSMITH_API_KEY": "ls-CANARY",
    "LANGSMITH_PROJECT_ID": "p-1", "PHOENIX_API_KEY": "px-CANARY", "PHOENIX_PROJECT": "my rooms",
    "MLFLOW_TRACKING_TOKEN": "ml-CANARY", "MLFLOW_EXPERIMENT_ID": "7",
}  # fmt: skip
SENT_KEYS = {
    "langfuse": "Basic cGstMTpzay1DQU5BUlk=",
    "langsmith": "ls-CANARY",
    "phoenix": "Bearer px-CANARY",
    "mlflow": "Bearer ml-CANARY",
}
SPAN = {"name": "find_rooms", "start_time": f"{AT}1Z", "end_time": f"{AT}2Z", "status_code": "OK"}
CONTEXT = {"trace_id": "ID", "span_id": "aID"}
OBSERVATION = {"type": "TOOL", "name": "find_rooms", "startTime": f"{AT}1Z", "endTime": f"{AT}2Z"}
SCORE = {"id": "sID", "name": "helpful", "value": 0, "timestamp": f"{AT}3Z"}
ANNOTATION = {"id": "sID", "name": "helpful", "result": {"score": 0}, "created_at": f"{AT}3Z"}
RUN = {"run_type": "TOOL", "inputs": {}, "feedback_stats": {"helpful": {"n": 1, "avg": 0.0}}, **SPAN}
INFO = {"trace_id": "ID", "assessments": [{"assessment_name": "helpful", "feedback": {"value": False}}]}
TIMES = {"start_time_unix_nano": 1777107601 * 10**9, "end_time_unix_nano": 1777107602 * 10**9}
TEXTS = {"mlflow.traceRequestId": '"ID"', "mlflow.spanType": '"TOOL"'}
ATTRIBUTES = [{"key": key, "value": {"string_value": text}} for key, text in TEXTS.items()]
OTLP = {"trace_id": "AA", "span_id": "ID", "name": "find_rooms", "attributes": ATTRIBUTES, **TIMES}
# What an item is, and where a page has its items and the cursor of the next.
LISTS: dict[str, tuple[dict[str, Any], str, str]] = {
    # Langfuse 4.16, fern/apis/server/definition: observations, scores-v3
    "/api/public/v2/observations": ({"id": "oID", "traceId": "ID", **OBSERVATION}, "data", "meta.cursor"),
    "/api/public/v3/scores": ({**SCORE, "subject": {"kind": "trace", "id": "ID"}}, "data", "meta.cursor"),
    # langsmith-sdk bc8dd672, python/langsmith/_openapi_client/resources/runs
    "/api/v2/runs/query": ({"id": "rID", "trace_id": "ID", **RUN}, "items", "next_cursor"),
    # Phoenix 20.3, schemas/openapi.json
    "/v1/projects/my rooms/spans": ({"context": CONTEXT, "span_kind": "TOOL", **SPAN}, "data", "next_cursor"),
    # MLflow 3.17, mlflow/protos/service.proto
    "/api/3.0/mlflow/traces/search": (INFO, "traces", "next_page_token"),
}
APART = {
    "/v1/projects/my rooms/span_annotations": ({"span_id": "ID", **ANNOTATION}, "data", {"a0", "a2"}),
    "/v1/projects/my rooms/trace_annotations": ({"trace_id": "ID", **ANNOTATION}, "data", {"1", "3", "4"}),
    "/api/3.0/mlflow/traces/batchGet": ({"trace_info": INFO, "spans": [OTLP]}, "traces", set("01234")),
}


def filled(item: dict[str, Any], ids: list[str]) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(item).replace("ID", id)) for id in ids]


class Api:
    """Answers as the servers do; knows what was asked, and what goes wrong by the number of the request."""

    url = ""
    n_traces = 5

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.faults: Callable[[int], tuple[int, bytes] | None] = lambda number: None

    def answer(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        if path in APART:
            item, items, known = APART[path]
            return {items: filled(item, [id for [*ids] in given.values() for id in ids if id in known])}
        item, items, place = LISTS[path]
        start = int("".join(given.get("cursor") or given.get("page_token") or "0"))
        ids = [f"{id}" for id in range(self.n_traces)]
        outer, _, inner = place.rpartition(".")
        more = {inner: f"{start + 2}" if start + 2 < self.n_traces else None}
        return {items: filled(item, ids[start : start + 2]), **({outer: more} if outer else more)}


@pytest.fixture
def api() -> Iterator[Api]:
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = unquote(self.path).partition("?")
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            given = {**parse_qs(query), **json.loads(body or b"{}")}
            key = self.headers.get("authorization", self.headers.get("x-api-key", ""))
            api.asked.append((path, given, key))
            status, body = api.faults(len(api.asked)) or (200, json.dumps(api.answer(path, given)).encode())
            self.send_response(status)
            self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield api
        server.shutdown()


Run = Callable[..., Any]


@pytest.fixture
def pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: Api, command: Run) -> Run:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "coreloop.yaml").write_text("outcome: {score: helpful >= 0.5}\n")

    def pull(source: str, *more: str, code: int = 0) -> Any:
        done = command(tmp_path, "import", "--from", source, "--url", api.url, *more)
        assert done.returncode == code, done.stderr
        return done

    return pull


@pytest.mark.parametrize("source", SENT_KEYS)
def test_traces_and_their_scores_are_pulled_once(source: str, api: Api, pull: Run, tmp_path: Path) -> None:
    assert "records: 5 added, 0 already there" in pull(source).stdout
    records = records_in(tmp_path)
    assert {call["name"] for record in records for call in record["tool_calls"]} == {"find_rooms"}
    assert [record["judgment"]["verdict"] for record in records] == ["V"] * 5
    assert {asked[2] for asked in api.asked} == {SENT_KEYS[source]}
    assert "records: 0 added, 5 already there" in pull(source).stdout
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()]
    assert {path.name for path in tmp_path.glob("data/audit/pulled/*/*")} == {".lock", "state"}


def test_the_next_pull_begins_a_day_before_the_last_or_when_told(api: Api, pull: Run) -> None:
    pull("phoenix", "--since", "2026-04-20")
    pull("phoenix")
    first, second = (given for _, given, _ in api.asked if "end_time" in given and "cursor" not in given)
    assert first["start_time"] == ["2026-04-20T00:00:00Z"]
    assert second["start_time"][0][11:] == first["end_time"][0][11:]
    assert first["start_time"] < second["start_time"] < first["end_time"]
    api.n_traces = 0
    assert "records: 0 added, 0 already there" in pull("phoenix").stdout, "a quiet day"


def test_interrupted_twenty_times_it_ends_with_the_same_records(api: Api, pull: Run, tmp_path: Path) -> None:
    api.n_traces = 20
    api.faults = lambda number: (500, b"") if number % 2 else None
    for _ in range(20):
        pull("langfuse", code=2)
    assert "20 added" in pull("langfuse").stdout
    assert len({record["request_id"] for record in records_in(tmp_path)}) == len(records_in(tmp_path)) == 20


def test_a_busy_server_is_asked_again_a_few_times(api: Api, pull: Run) -> None:
    api.faults = {1: (429, b""), 3: (503, b"")}.get
    assert "5 added" in pull("phoenix").stdout
    n_asked = len(api.asked)
    api.faults = lambda number: (429, b"")
    assert "HTTP 429" in pull("phoenix", code=2).stderr
    assert len(api.asked) == n_asked + 5


@pytest.mark.parametrize(
    ("status", "body", "mention"),
    [
        (200, b"<html>Sign in</html>", "JSON is malformed"),
        (200, b'{"data": {}}', "no list of traces"),
        (200, b'{"data": [{}], "meta": {"cursor": "x"}}', "pages without an end"),
        pytest.param(200, bytes(65 << 20), "more than 67,108,864 bytes", id="too long"),
        (302, b"", "HTTP 302 from /api/public/v2/observations"),
        (401, b"sk-CANARY", "set LANGFUSE_PUBLIC_KEY LANGFUSE_SECRET_KEY"),
    ],
)
def test_an_unusable_answer_is_one_line(status: int, body: bytes, mention: str, api: Api, pull: Run) -> None:
    api.faults = lambda number: (status, body)
    [line] = pull("langfuse", code=2).stderr.splitlines()
    assert mention in line
    assert "CANARY" not in line


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        ("", "give a PATH, or --from and --url"),
        ("--since 7d x.json", "which --since needs"),
        ("--from otlp --url http://localhost", "--url needs --from langfuse"),
        ("--from phoenix --url http://localhost --follow", "takes no PATH or --follow"),
        ("--from phoenix --url https://key@localhost", "--url is not the address of an API"),
        ("--from phoenix --url http://10.0.0.1", "would send the token to 10.0.0.1 unencrypted"),
        ("--from langsmith --url http://localhost", "LANGSMITH_PROJECT_ID is not set"),
    ],
)
def test_misuse_is_one_line(words: str, mention: str, tmp_path: Path, command: Run, monkeypatch: Any) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", "px-CANARY")
    [line] = command(tmp_path, "import", *words.split()).stderr.splitlines()
    assert mention in line
