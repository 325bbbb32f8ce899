"""The use cases of ``sanitize`` without a shell."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.project.workspace import Workspace, open_workspace
from coreloop.sanitize.run import ExportRequest, check_records, export_records
from logs import record, write_log

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    write_log(
        tmp_path / "data/audit/ai-ask/2026-04-25.jsonl", [record(question="hong@example.com"), record()]
    )
    return open_workspace(tmp_path)


def test_a_copy_is_named_by_mode_and_time(workspace: Workspace):
    result = export_records(workspace, ExportRequest(mode="drop", now=NOW))
    assert result.out == workspace.audit_dir / "sanitized" / "drop-20260425T093000Z"
    assert [path.name for path in result.out.iterdir()] == ["records-0001.jsonl"]
    assert result.is_clean


def test_a_finding_and_a_rejected_line_are_not_clean(workspace: Workspace):
    assert not check_records(workspace, ()).is_clean
    with (workspace.records_dir / "2026-04-25.jsonl").open("ab") as log:
        log.write(b"{\n")
    assert not export_records(workspace, ExportRequest(mode="mask", now=NOW)).is_clean


def test_a_single_source_gives_a_report_and_several_give_a_list(workspace: Workspace):
    source = workspace.records_dir
    assert json.loads(check_records(workspace, (source,)).to_json())["source"] == str(source)
    assert len(json.loads(check_records(workspace, (source, source)).to_json())) == 2


def test_nothing_is_printed(workspace: Workspace, capsys: pytest.CaptureFixture[str]):
    export_records(workspace, ExportRequest(mode="hash", now=NOW))
    assert capsys.readouterr() == ("", "")
