"""Where records are written: coreloop.yaml, the data folder, the day file and its mode."""

import json
import os
import time
from datetime import UTC, datetime

import pytest

from coreloop.observe import AuditCollector, dropped
from observing import ns, run
from rows import slow_after


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"gate: {}\n", id="unknown key"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b"[" * 1200, id="nested too deeply"),
    ],
)
def test_a_broken_coreloop_yaml_loses_only_the_settings(tmp_path, records, broken):
    (tmp_path / "coreloop.yaml").write_bytes(broken)
    request = AuditCollector(question="배당", data_dir=tmp_path / "data")
    request.flush()
    (record,) = records(tmp_path / "data")
    assert record["category_hash"] == "UNSPECIFIED"
    assert dropped() == {"settings": 1}


WHERE = """
import os
from coreloop.observe import AuditCollector, dropped
AuditCollector(question="x").flush()
print(dropped())
"""


@pytest.mark.parametrize(
    ("yaml", "environ", "folder"),
    slow_after(
        2,
        [
            pytest.param(None, {}, "data", id="default"),
            pytest.param("data_dir: log\n", {}, "log", id="file"),
            pytest.param("data_dir: log\n", {"CORELOOP_DATA_DIR": "env"}, "env", id="variable over file"),
        ],
    ),
)
def test_records_are_in_the_data_dir_of_the_working_directory(
    tmp_path, records, monkeypatch, yaml, environ, folder
):
    if yaml:
        (tmp_path / "coreloop.yaml").write_text(yaml)
    monkeypatch.chdir(tmp_path)
    assert run(WHERE, **environ) == ["{}"]
    assert len(records(tmp_path / folder)) == 1


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(2026, 4, 25, 23, 59, 59, 999_999, tzinfo=UTC), "2026-04-25"),
        (datetime(2028, 2, 29, 12, 0, 0, 7, tzinfo=UTC), "2028-02-29"),
    ],
)
def test_the_file_is_named_after_the_utc_day_of_the_requests_end(tmp_path, monkeypatch, moment, day):
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    now = [ns(datetime(2026, 4, 25, 23, 0, tzinfo=UTC))]
    request = AuditCollector(data_dir=tmp_path, clock_ns=lambda: now[0])
    request.observe_tool_call("a")
    now[0] = ns(moment)
    request.flush()
    monkeypatch.undo()
    time.tzset()
    (file,) = (tmp_path / "audit" / "ai-ask").iterdir()
    assert file.name == f"{day}.jsonl"
    ts = json.loads(file.read_bytes())["ts"]
    assert ts == moment.isoformat(timespec="microseconds")
    assert ts.startswith(day)


def test_only_the_owner_may_read(audit, tmp_path):
    before = os.umask(0)
    try:
        audit().flush()
    finally:
        os.umask(before)
    folder = tmp_path / "audit" / "ai-ask"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["DARTLAB_AUDIT_DISABLE", "CORELOOP_AUDIT_DISABLE"])
@pytest.mark.parametrize("value", ["1", " TRUE"])
def test_the_collector_can_be_turned_off(tmp_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with AuditCollector(question="x", data_dir=tmp_path / "data") as request:
        request.observe_tool_call("a")
        request.observe_override("a", ["b"])
        request.observe_violation("c")
        request.set_category_hash("수익성")
        request.flush()
        request.flush()
    assert not (tmp_path / "data").exists()
    assert dropped() == {}
