"""What a model had read up to each call: kept only if the project wants it, privately, with the log's ids."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop import AuditCollector
from coreloop.base.project.promotion_settings import MeasureSettings
from coreloop.base.project.settings import Settings
from coreloop.observe.importers.append_requests import RequestLog
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.observe.record_parts import MAX_KEPT_CHARS, TracedCall, kept_call

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


def project(folder: Path) -> Path:
    (folder / "coreloop.yaml").write_text("measure: {contexts: true}\n")
    return folder / "data"


def kept(data: Path, name: str = "contexts") -> list[dict[str, Any]]:
    files = sorted((data / "audit" / name).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_a_collector_keeps_results_beside_the_log_only_if_it_is_told_to(tmp_path: Path) -> None:
    for folder in (tmp_path / "asked", tmp_path / "silent"):
        folder.mkdir()
        data = project(folder) if folder.name == "asked" else folder / "data"
        with AuditCollector("Make it urgent", data_dir=data) as audit:
            audit.observe_tool_call("find", {"q": "x"}, result=[{"id": "T-1"}])
            audit.observe_tool_call("update", {"id": "T-1"}, error="no such ticket")
            audit.observe_tool_call("close", {"id": "T-1"})
    assert not (tmp_path / "silent" / "data" / "audit" / "contexts").exists()
    data = tmp_path / "asked" / "data"
    (line,), (record,) = kept(data), kept(data, "ai-ask")
    assert line == {
        "request_id": record["request_id"],
        "question": "Make it urgent",
        "calls": [
            {"name": "find", "args": {"q": "x"}, "result": '[{"id":"T-1"}]', "said": []},
            {"name": "update", "args": {"id": "T-1"}, "result": "no such ticket", "said": []},
            {"name": "close", "args": {"id": "T-1"}, "result": None, "said": []},
        ],
    }
    folder = data / "audit" / "contexts"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_an_import_keeps_them_once_and_only_in_the_projects_log(tmp_path: Path) -> None:
    project(tmp_path)
    settings = Settings(measure=MeasureSettings(contexts=True))
    calls = (
        TracedCall(name="find", args={"q": "x"}, result="T-1"),
        TracedCall(name="update", args={"id": "T-1"}, error="bad", user_texts=("now, please",)),
    )
    request = TracedRequest(source="otlp", ids=("a",), question="Make it urgent", ended=NOON, calls=calls)
    log = tmp_path / "data" / "audit" / "ai-ask"
    for folder in (log, log, tmp_path / "elsewhere" / "ai-ask"):
        RequestLog(folder, settings, tmp_path).append([request])
    (line,) = kept(tmp_path / "data")
    assert line["request_id"] == request.id
    assert [(call["result"], call["said"]) for call in line["calls"]] == [
        ("T-1", []),
        ("bad", ["now, please"]),
    ]
    assert not (tmp_path / "elsewhere" / "contexts").exists()


@pytest.mark.parametrize("result", ["x" * 10**6, ["x"] * 10**6, {"\ud800": object()}, float("nan"), b"\xff"])
def test_any_result_is_kept_as_short_text(result: object) -> None:
    text = kept_call("find", {}, result)["result"]
    assert len(text) <= MAX_KEPT_CHARS
    text.encode()
