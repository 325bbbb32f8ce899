"""The use cases of ``sanitize`` without a shell."""

import json
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.project.workspace import open_workspace
from coreloop.sanitize.detectors.rule import Detection, current
from coreloop.sanitize.run import check_records, export_records
from logs import record, write_log

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


def test_the_settings_choose_what_is_searched(tmp_path: Path):
    (tmp_path / "coreloop.yaml").write_text(
        "sanitize:\n"
        "  names: [Acme Rooms]\n"
        "  detect: [{name: STAFF, pattern: 'EMP-[0-9]{6}', example: EMP-123456}]\n"
        "  allow: [help@example.com]\n"
        "  countries: [us]\n",
        encoding="utf-8",
    )
    question = "Acme Rooms asked EMP-123456 or help@example.com about 078-05-1120 and 900101-1234567"
    write_log(tmp_path / "data/audit/ai-ask/2026-04-25.jsonl", [record(question=question)])
    workspace = open_workspace(tmp_path)
    masked = export_records(workspace, "mask", now=NOW)
    assert masked.out is not None
    (line,) = next(masked.out.iterdir()).read_text(encoding="utf-8").splitlines()
    expected = "[COMPANY-1] asked [STAFF-1] or help@example.com about [SSN-1] and 900101-1234567"
    assert json.loads(line)["question"] == expected
    assert check_records(workspace, (masked.out,)).is_clean
    found = check_records(workspace, ()).reports[0].findings
    assert found == {"COMPANY": 1, "STAFF": 1, "SSN": 1}
    assert current() == Detection()


def test_a_pattern_that_looks_like_a_label_leaves_labels_alone(tmp_path: Path):
    (tmp_path / "coreloop.yaml").write_text(
        "sanitize:\n  detect: [{name: TICKET, pattern: '[A-Z]{2,5}-[0-9]{1,4}', example: PROJ-1234}]\n"
    )
    log = tmp_path / "data/audit/ai-ask/2026-04-25.jsonl"
    write_log(log, [record(question="PROJ-1234 and AB-12 of jane@example.com")])
    workspace = open_workspace(tmp_path)
    masked = export_records(workspace, "mask", now=NOW)
    assert masked.out is not None
    (line,) = next(masked.out.iterdir()).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["question"] == "[TICKET-1] and [TICKET-2] of [EMAIL-1]"
    assert masked.reports[0].findings == {"TICKET": 2, "EMAIL": 1}
    assert check_records(workspace, (masked.out,)).is_clean


def test_cards_and_credentials_are_searched_without_any_country(tmp_path: Path):
    (tmp_path / "coreloop.yaml").write_text("sanitize: {countries: []}\n")
    log = tmp_path / "data/audit/ai-ask/2026-04-25.jsonl"
    write_log(log, [record(question="card 4111 1111 1111 1111, pw: hunter2!, 900101-1234567")])
    assert check_records(open_workspace(tmp_path), ()).reports[0].findings == {"CARD": 1, "SECRET": 1}
