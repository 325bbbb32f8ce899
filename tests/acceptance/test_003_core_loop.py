"""What document 003 promises of recording and of patterns, a test a row."""

import json
import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acceptance.core_loop import (
    CALL,
    ERROR,
    KNOWLEDGE,
    NOTES,
    PATTERN,
    QUESTION,
    V2_FIELDS,
    Mined,
    log_in,
    mine,
    observed,
    only,
)
from acceptance.walk import PACKAGE, REPO, command
from coreloop import AuditCollector
from github_stand_in import GithubStandIn
from logs import call, record, repeated, rest, word, write_log
from old_knowledge import bullet, make_old
from promoting import (
    Project,
)


@pytest.mark.promise("003-1")
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"], ids=["day ahead", "day behind"])
def test_01_a_request_is_a_v2_line_in_the_file_of_its_utc_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        first = datetime.now(UTC)
        line = observed(tmp_path)
        last = datetime.now(UTC)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert first <= datetime.fromisoformat(line["ts"]) <= last
    assert line["ts"].endswith("+00:00")
    assert only(tmp_path, "data/audit/ai-ask/*").name == f"{line['ts'][:10]}.jsonl"


@pytest.mark.promise("003-1")
def test_01_a_line_has_every_field_of_the_v2_schema(tmp_path: Path) -> None:
    line = observed(tmp_path)
    assert set(line) >= V2_FIELDS
    assert line["tool_calls"][0]["args_hash"]
    plain = {
        "schema_version": 2,
        "request_id": "req-abc123",
        "question": QUESTION,
        "category_hash": "FIN-profitability-KR-tech",
        "stockCode_hint": "005930",
        "provider": "oauth-codex",
        "model": "gpt-5-codex",
        "rounds": 2,
        "chunk_len": 1823,
        "error": None,
        "violation": None,
        "skill_used": None,
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
        "override_calls": [
            {
                "tool": "analysis",
                "override_keys": ["wacc"],
                "trigger": "detectExtremeFlags:wacc>0.25",
                "succeeded": True,
            }
        ],
    }
    assert {name: line[name] for name in plain} == plain
    (made,) = line["tool_calls"]
    assert {name: made[name] for name in CALL} == CALL


@pytest.mark.promise("003-2")
def test_02_an_argument_is_cut_at_500_characters(tmp_path: Path) -> None:
    args = {"text": "가나" * 300, "kept": "x" * 500, "in": [{"cut": "x" * 501}]}
    stored = observed(tmp_path, args=args)["tool_calls"][0]["args"]
    assert stored["kept"] == "x" * 500
    assert "x" * 501 not in json.dumps(stored)
    assert (stored["in"][0]["cut"]["truncated"], stored["in"][0]["cut"]["size"]) == (True, 501)
    assert len(stored["text"]["preview"]) <= 500
    assert ("가나" * 300).startswith(stored["text"]["preview"])


@pytest.mark.promise("003-2")
def test_02_a_request_of_more_than_4_kb_stands_on_several_lines(tmp_path: Path) -> None:
    with AuditCollector(question=QUESTION * 20, data_dir=tmp_path / "data") as audit:
        for number in range(200):
            audit.observe_tool_call(f"tool_{number}", {"text": "x" * 400}, ok=True)
        audit.flush(chunk_len=5)
    lines = only(tmp_path, "data/audit/ai-ask/*.jsonl").read_bytes().splitlines(keepends=True)
    assert max(map(len, lines)) <= 4096
    assert json.loads(lines[0])["chunk_len"] == 5
    assert sum(len(json.loads(line)["tool_calls"]) for line in lines) == 200


@pytest.mark.promise("003-2")
def test_02_a_failed_write_does_not_disturb_the_answer(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    with AuditCollector(question=QUESTION, data_dir=tmp_path / "data") as audit:
        audit.observe_tool_call("analysis", {}, ok=True)
        audit.flush(chunk_len=5)
    assert (tmp_path / "data").read_text() == "a file where the folder should be"


@pytest.mark.promise("003-3")
def test_03_dartlab_audit_disable_turns_recording_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed(tmp_path / "on")
    monkeypatch.setenv("DARTLAB_AUDIT_DISABLE", "1")
    with AuditCollector(question=QUESTION, data_dir=tmp_path / "off") as audit:
        audit.observe_tool_call("analysis", {}, ok=True)
        audit.flush(chunk_len=5)
    assert not (tmp_path / "off").exists()


@pytest.mark.promise("003-4")
def test_04_the_collector_is_a_library_and_older_lines_of_a_server_are_read(tmp_path: Path) -> None:
    first = {"question": QUESTION, "tool_calls": [], "chunk_len": 900, "error": None, "skill_used": None}
    log_in(tmp_path, [first, record()])
    status = command(tmp_path, "status").assert_code().out
    assert (AuditCollector.__module__.partition(".")[0], list(REPO.glob("src/*"))) == ("coreloop", [PACKAGE])
    assert re.search(r"^records +2 on 2 days", status)


@pytest.mark.promise("003-5")
def test_05_hashes_have_their_prefixes_and_sixteen_hex_digits(tmp_path: Path) -> None:
    line = observed(tmp_path)
    assert re.fullmatch(r"sha256:[0-9a-f]{16}", line["question_hash"])
    assert re.fullmatch(r"seq:[0-9a-f]{16}", line["tool_sequence_hash"])
    assert re.fullmatch(r"[0-9a-f]{16}", line["tool_calls"][0]["args_hash"])


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """The literal ``pattern`` over patterns of which each but one misses one part of the gate."""
    folder = tmp_path_factory.mktemp("mined")
    two_questions = [
        record(question=f"같은 {word(index % 2)}", tool_calls=[call("alike")]) for index in range(6)
    ]
    log_in(
        folder,
        [
            *repeated(12),
            *rest(20),
            *repeated(2, tool_calls=[call("twice")]),
            *two_questions,
            *repeated(12, tool_calls=[call("mostly")]),
            *repeated(1, tool_calls=[call("mostly")], error=ERROR),
            *repeated(5, tool_calls=[call("brief")], chunk_len=399),
            *repeated(5, tool_calls=[call("broken")], error=ERROR),
            *repeated(5, tool_calls=[call("violating")], violation="P8 tool zero"),
        ],
    )
    day = datetime.now(UTC) - timedelta(days=40)
    old = repeated(12, tool_calls=[call("old")], ts=day.isoformat())
    write_log(folder / "data/audit/ai-ask/2026-04-24.jsonl", old)
    return mine(folder)


@pytest.mark.promise("003-6")
def test_06_the_literal_pattern_command_finds_what_repeats(mined: Mined) -> None:
    assert mined.tools == ["analysis"]
    assert mined.done.out.startswith("68 records in ")


@pytest.mark.promise("003-6")
def test_06_the_default_of_min_chunk_len_is_1(tmp_path: Path) -> None:
    log_in(tmp_path, [*repeated(12, chunk_len=1), *rest(20)])
    assert mine(tmp_path).tools == []
    assert mine(tmp_path, "pattern --since 30d").tools == ["analysis"]


@pytest.mark.promise("003-7")
def test_07_the_gate_asks_for_repeats_for_questions_and_for_a_success_rate_of_1(mined: Mined) -> None:
    (entry,) = mined.document["candidates"]
    assert (entry["n_observed"], entry["n_unique_questions"], entry["success_rate"]) == (12, 12, 1.0)
    assert not {"twice", "alike", "mostly", "brief"} & set(mined.tools)


@pytest.mark.promise("003-8")
def test_08_the_day_names_the_candidates_and_the_draft(mined: Mined) -> None:
    written = {path.name for path in (mined.root / "data/audit/candidates").glob("*-*")}
    assert written == {f"{mined.day}-candidates.json", f"{mined.day}-draft.md"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", mined.day)
    (entry,) = mined.document["candidates"]
    assert re.fullmatch(rf"cand-{mined.day}-\d{{3}}", entry["id"])
    assert entry["id"] in mined.draft


@pytest.mark.promise("003-9")
@pytest.mark.parametrize(
    ("successes", "failures", "tools"),
    [(5, 1, ["analysis"]), (4, 0, []), (5, 2, [])],
    ids=["quality of three quarters", "four successes", "quality of two thirds"],
)
def test_09_a_good_bullet_of_the_playbook_lowers_the_gate_to_2(
    tmp_path: Path, successes: int, failures: int, tools: list[str]
) -> None:
    log_in(tmp_path, [*repeated(2), *rest(20)])
    at = datetime.now(UTC).timestamp()
    make_old(tmp_path / KNOWLEDGE, playbook=[bullet(1, at=at, successes=successes, failures=failures)])
    assert mine(tmp_path).tools == tools


@pytest.mark.promise("003-10")
def test_10_audit_notes_are_added_in_a_dry_run(tmp_path: Path) -> None:
    log = log_in(tmp_path, [*repeated(12), *rest(20)])
    os.utime(log, (0, 0))
    (tmp_path / "coreloop.yaml").write_text("retention_days: 1\n")
    write_log(tmp_path / "data/audit/ai-ask/2020-01-01.jsonl", [record(ts="2020-01-01T00:00:00+00:00")])
    (tmp_path / NOTES).mkdir(parents=True)
    note = "# 메모\n\n## 엔진 개선\n\n- 부채비율 표가 비어 있다.\n\n## 그 밖\n\n- 다른 이야기.\n"
    (tmp_path / NOTES / "005930.md").write_text(note)
    noted = mine(tmp_path, f"{PATTERN} --include-audit-analysis")
    assert "부채비율 표가 비어 있다." in noted.draft
    assert "다른 이야기" not in noted.draft
    assert "dry run" in noted.done.errors
    assert (tmp_path / "data/audit/ai-ask/2020-01-01.jsonl").exists()


@pytest.mark.promise("003-11")
def test_11_pattern_takes_dry_run_and_opens_no_pull_request(project: Project, github: GithubStandIn) -> None:
    log_in(project.root, [*repeated(12), *rest(20)])
    heads = project.heads()
    environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}
    command(project.root, *PATTERN.split(), "--dry-run", **environ).assert_code()
    assert (project.heads(), github.traffic, project.git("branch", "--list", "skill/*")) == (heads, [], "")


@pytest.mark.promise("003-11")
def test_11_sanitized_files_have_no_question(tmp_path: Path) -> None:
    log_in(tmp_path, [*repeated(12), *rest(20)])
    clear = mine(tmp_path)
    assert "질문 " in clear.draft
    assert clear.document["candidates"][0]["example_questions"]
    shared = mine(tmp_path, f"{PATTERN} --sanitize")
    assert "질문 " not in shared.draft + json.dumps(shared.document, ensure_ascii=False)


@pytest.mark.promise("003-32")
def test_32_status_counts_records_candidates_and_promotions(mined: Mined) -> None:
    status = command(mined.root, "status").assert_code().out
    assert re.search(r"^records +80 on 10 days", status, re.MULTILINE)
    assert re.search(r"^from pattern +1 pending", status, re.MULTILINE)
    assert re.search(r"^from refine +0 pending", status, re.MULTILINE)


@pytest.mark.promise("003-35")
def test_35_requests_with_an_error_or_a_violation_are_no_pattern(mined: Mined) -> None:
    assert not {"broken", "violating", "guess"} & set(mined.tools)
