"""Imported requests in the day files: complete, private and without duplicates, even after a crash."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.settings import CategoryRule, Settings, ToolSettings
from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.base.records import NO_RESULT, digest, hash_sequence
from coreloop.observe.importers.append_requests import RequestLog
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.observe.reading.decode import RecordLine, read_lines
from coreloop.observe.reading.outcome import Unseen
from coreloop.observe.record_parts import TracedCall

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


def _request(id: str = "a", **more: Any) -> TracedRequest:
    sound = {"source": "otlp", "question": "배당은?", "ended": NOON, "calls": (), "answer_chars": 500}
    return TracedRequest(**{**sound, "ids": (id,), **more})


def _records(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def _ids(folder: Path) -> list[str]:
    return sorted(record["request_id"] for record in _records(folder))


def test_a_request_is_a_record_of_version_2(tmp_path: Path) -> None:
    settings = Settings(
        categories=(CategoryRule(label="FIN-dividend-KR", any=("배당",)),),
        tools={"show": ToolSettings(selectors=("topic",))},
    )
    calls = (
        TracedCall(name="show", args={"topic": "배당", "n": 1}, duration_ms=18.5, result_size_bytes=7),
        TracedCall(name="show", args={}, error="no topic"),
    )
    request = _request(calls=calls, session_id="s", provider="openai", model="m", rounds=2, duration_ms=20.0)
    RequestLog(tmp_path, settings).append([request])
    [record] = _records(tmp_path)
    assert record["ts"] == "2026-04-25T12:00:00.000000+00:00"
    assert (record["schema_version"], record["origin"], record["chunk_len"]) == (2, "otlp", 500)
    assert (record["category_hash"], record["session_hash"]) == ("FIN-dividend-KR", f"session:{digest(b's')}")
    assert (record["provider"], record["model"], record["rounds"]) == ("openai", "m", 2)
    assert record["tool_sequence_hash"] == hash_sequence("show(topic=배당)")
    assert [(call["args"], call["ok"], call["error"]) for call in record["tool_calls"]] == [
        ({"topic": "배당", "n": 1}, True, None),
        ({}, False, "no topic"),
    ]


def test_a_long_session_keeps_all_calls_also_if_its_writer_was_killed_between_its_lines(
    tmp_path: Path,
) -> None:
    calls = [TracedCall(name=f"tool{index}", args={"text": "긴 글" * 300}) for index in range(200)]
    request = _request(calls=(*calls, TracedCall(name="last", args={}, error="Connection reset")))
    report = RequestLog(tmp_path, Settings()).append([request])
    path = tmp_path / "2026-04-25.imported.jsonl"
    [line] = read_lines(path)
    assert isinstance(line, RecordLine)
    assert max(map(len, path.read_bytes().splitlines(keepends=True))) <= MAX_LINE_BYTES
    assert [call.name for call in line.calls] == [call.name for call in request.calls]
    assert line.fields.tool_sequence_hash == hash_sequence(">".join(f"tool{index}()" for index in range(200)))
    assert report.unseen == Unseen(n_requests=1)
    path.write_bytes(path.read_bytes()[:9000])
    assert RequestLog(tmp_path, Settings()).append([request]).corrected == 1
    [whole] = [line for line in read_lines(path) if isinstance(line, RecordLine)]
    assert len(whole.calls) == 201


def test_a_trace_that_has_grown_is_one_record_that_says_more(tmp_path: Path) -> None:
    told = TracedCall(name="show", args={}, result="sunny", result_size_bytes=5)
    asked = TracedCall(name="show", args={}, unknown=NO_RESULT)
    early = [_request("a", calls=(asked,), answer_chars=None), _request("b")]
    late = [_request("a", calls=(told, told)), _request("b")]
    assert RequestLog(tmp_path, Settings()).append(early).added == 2
    report = RequestLog(tmp_path, Settings()).append(late)
    assert (report.added, report.corrected, report.already_there) == (0, 1, 1)
    assert RequestLog(tmp_path, Settings()).append(early).corrected == 0, "an older copy says less"
    records = {record["request_id"]: record for record in _records(tmp_path)}
    assert [len(records[part.id]["tool_calls"]) for part in late] == [2, 0]


def test_importing_again_in_any_order_adds_nothing(tmp_path: Path) -> None:
    for order in permutations([_request("a"), _request("b"), _request("a", question="later version")]):
        RequestLog(tmp_path, Settings()).append(order)
    assert len(_records(tmp_path)) == 2


def test_a_request_of_copied_files_counts_once(tmp_path: Path) -> None:
    report = RequestLog(tmp_path, Settings()).append(
        [_request(calls=(TracedCall(name="show", args={}),))] * 2
    )
    assert (report.records, report.already_there, report.tools.total()) == (1, 0, 1)


def test_half_a_line_that_a_crash_left_is_added_again(tmp_path: Path) -> None:
    RequestLog(tmp_path, Settings()).append([_request("a"), _request("b")])
    path = tmp_path / "2026-04-25.imported.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    report = RequestLog(tmp_path, Settings()).append([_request("a"), _request("b")])
    assert (report.added, report.already_there) == (1, 1)
    lines = list(read_lines(path))
    assert len([line for line in lines if isinstance(line, RecordLine)]) == 2


IMPORT = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from coreloop.observe.importers.append_requests import RequestLog
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.base.project.settings import Settings

def parts():
    for number in range(int(sys.argv[2])):
        ended = datetime(2026, 4, 25, tzinfo=UTC)
        yield TracedRequest(source="otlp", ids=(str(number),), question="q", ended=ended, calls=())
        if number == 50:
            print("running", flush=True)

RequestLog(Path(sys.argv[1]), Settings()).append(parts())
"""


def _start(folder: Path, n_requests: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", IMPORT, str(folder), str(n_requests)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_concurrent_imports_add_each_request_once(tmp_path: Path) -> None:
    both = [_start(tmp_path, 2000), _start(tmp_path, 2000)]
    assert [process.communicate()[0] and process.returncode for process in both] == [0, 0]
    assert len(_ids(tmp_path)) == len(set(_ids(tmp_path))) == 2000


@pytest.mark.slow
def test_a_killed_import_is_completed_by_the_next(tmp_path: Path) -> None:
    with _start(tmp_path, 10**6) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "running\n"
        killed.kill()
    with _start(tmp_path, 20_000) as second:
        second.communicate()
    recorded = [
        line for line in read_lines(tmp_path / "2026-04-25.imported.jsonl") if isinstance(line, RecordLine)
    ]
    ids = [line.fields.request_id for line in recorded]
    assert len(ids) == len(set(ids)) >= 20_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "2026-04-25.imported.jsonl").symlink_to("/dev/full")
    with pytest.raises(WorkspaceError, match="run it again to add the missing records"):
        RequestLog(tmp_path, Settings()).append(request for request in [_request()])


@pytest.mark.slow
def test_what_is_written_later_is_followed_until_ctrl_c(tmp_path: Path) -> None:
    span = {
        "traceId": "1" * 32,
        "spanId": "1" * 16,
        "name": "execute_tool book",
        "startTimeUnixNano": "1790000000",
    }
    span["attributes"] = [{"key": "gen_ai.tool.name", "value": {"stringValue": "book"}}]
    (tmp_path / "coreloop.yaml").write_text("tools: {}\n")
    traces = tmp_path / "traces.jsonl"
    traces.write_text(json.dumps(span) + "\n")
    records = tmp_path / "data" / "audit" / "ai-ask"
    restored = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in a job
    command = [sys.executable, "-c", f"{restored}; import coreloop.__main__", "import", "--follow", traces]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "records: 1 added, 0 already there; files: 1\n"
        with traces.open("a") as file:
            file.write(json.dumps({**span, "spanId": "2" * 16}) + "\n")
        assert following.stdout.readline() == "records: 0 added, 1 corrected, 0 already there; files: 1\n"
        following.send_signal(signal.SIGINT)
        assert following.wait(30) == 130
    assert [len(record["tool_calls"]) for record in _records(records)] == [2]
