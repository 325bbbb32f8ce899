"""What document 003 of the specification promises, a test a row."""

import ast
import hashlib
import json
import os
import re
import runpy
import subprocess
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from acceptance.walk import BIN, PACKAGE, REPO, SCRIPTS, Done, command, program, public_name, script
from coreloop import AuditCollector
from github_stand_in import GithubStandIn
from logs import call, failed, override, record, repeated, rest, word, write_log
from old_knowledge import bullet, execution, insight, make_old, rows_of
from promoting import (
    BRANCH,
    CATEGORIES,
    FILE,
    GOOD,
    ID,
    KEY,
    OTHER,
    REACH,
    SOURCE,
    Agent,
    Project,
    copy_project,
    hush_git,
    make_project,
    run_git,
    statement,
    write_counterexamples,
)

V2_FIELDS = {
    *("schema_version", "ts", "request_id", "question", "question_hash", "category_hash", "stockCode_hint"),
    *(
        "provider",
        "model",
        "tool_calls",
        "tool_sequence_hash",
        "override_calls",
        "rounds",
        "chunk_len",
        "error",
    ),
    *("violation", "skill_used", "duration_total_ms", "judgment"),
}
CALL = {
    "name": "analysis",
    "args": {"axis": "수익성"},
    "ok": True,
    "error": None,
    "duration_ms": 1823,
    "result_size_bytes": 4012,
    "overrides_used": None,
    "extreme_flags": [],
}
PATTERN = "pattern --since 30d --min-repeat 3 --min-unique-questions 3 --min-chunk-len 400"
REFINE = "refine --since 30d --min-failures 2"
EXCLUDE = "--exclude-types transient_network,rate_limit"
PROMOTE = f"promote --candidate data/audit/candidates/2026-04-25-candidates.json --id {ID} --confirm"
VERIFY = f"verify --candidate data/audit/candidates/2026-04-25-candidates.json --id {ID}"
GATES = "--min-phase-r-merges 3 --min-phase-f-caveats 2 --min-age-days 30"
AXIS = f"propose-axis --engine analysis --axis 수익성 {GATES}"
BACKFILL = "backfill-blog --blog-root blog/ --confirm"
CLEANUP = "scripts/audit/cleanup_knowledge_db.py"
KNOWLEDGE = "data/ai/knowledge/dartlab_knowledge.db"
NOTES = "data/dart/auditAnalysis"
QUESTION = "삼성전자 수익성 분석해줘"
POST = "---\nstockCode: '005930'\nai:\n  verdict: 제품 구성이 마진을 올렸다.\n---\n\n본문\n"
ERROR = "ValueError: no"
NETWORK = "ConnectionError: connection reset by peer"
LIMITED = "HTTP 429 Too Many Requests"
SECTIONS = (
    "Summary",
    "Description",
    "Parameters",
    "Returns",
    "Raises",
    "Examples",
    "Notes",
    "Guide",
    "See Also",
)


def only(folder: Path, pattern: str) -> Path:
    """The one file of a pattern."""
    (path,) = folder.glob(pattern)
    return path


def dated(records: list[dict[str, Any]], days: int = 9) -> list[dict[str, Any]]:
    """The records on the days before today, by turns."""
    now = datetime.now(UTC)
    moments = (now - timedelta(days=1 + index % days) for index in range(len(records)))
    return [{**entry, "ts": moment.isoformat()} for entry, moment in zip(records, moments, strict=True)]


def script_module(name: str) -> dict[str, Any]:
    """The names of a script that is imported rather than run."""
    return runpy.run_path(str(SCRIPTS / name))


def log_in(folder: Path, records: list[dict[str, Any]]) -> Path:
    return write_log(folder / "data/audit/ai-ask/2026-04-25.jsonl", dated(records))


def hashes(folder: Path) -> dict[str, str]:
    """Every file below a folder, with a hash of its bytes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def observed(folder: Path, **fields: Any) -> dict[str, Any]:
    """The one record that a collector with the specification's example writes."""
    with AuditCollector(
        question=QUESTION,
        provider="oauth-codex",
        model="gpt-5-codex",
        stockCode_hint="005930",
        request_id="req-abc123",
        data_dir=folder / "data",
    ) as audit:
        audit.set_category_hash("FIN-profitability-KR-tech")
        audit.observe_tool_call(
            "analysis",
            fields.get("args", {"axis": "수익성"}),
            ok=True,
            duration_ms=1823,
            result_size_bytes=4012,
        )
        audit.observe_override("analysis", ["wacc"], trigger="detectExtremeFlags:wacc>0.25", succeeded=True)
        audit.flush(chunk_len=1823, rounds=2)
    (line,) = only(folder, "data/audit/ai-ask/*.jsonl").read_bytes().splitlines()
    return json.loads(line)


# --- Phase O ----------------------------------------------------------------------------------------


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
    args = {"text": "가나" * 300, "kept": "x" * 500, "cut": "x" * 501}
    stored = observed(tmp_path, args=args)["tool_calls"][0]["args"]
    assert stored["kept"] == "x" * 500
    assert "x" * 501 not in json.dumps(stored)
    assert len(stored["text"]["preview"]) <= 500
    assert ("가나" * 300).startswith(stored["text"]["preview"])


@pytest.mark.promise("003-2")
def test_02_a_line_of_more_than_4_kb_is_a_summary(tmp_path: Path) -> None:
    with AuditCollector(question=QUESTION * 20, data_dir=tmp_path / "data") as audit:
        for number in range(200):
            audit.observe_tool_call(f"tool_{number}", {"text": "x" * 400}, ok=True)
        audit.flush(chunk_len=5)
    line = only(tmp_path, "data/audit/ai-ask/*.jsonl").read_bytes()
    assert len(line) <= 4096
    assert json.loads(line)["chunk_len"] == 5


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


# --- Phase P ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mined:
    """A project after ``pattern``."""

    root: Path
    done: Done
    day: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads((self.root / f"data/audit/candidates/{self.day}-candidates.json").read_text())

    @property
    def draft(self) -> str:
        return (self.root / f"data/audit/candidates/{self.day}-draft.md").read_text()

    @property
    def tools(self) -> list[str]:
        return [entry["tool_pattern"][0]["name"] for entry in self.document["candidates"]]


def mine(folder: Path, words: str = PATTERN) -> Mined:
    done = command(folder, *words.split()).assert_code()
    files = (folder / "data/audit/candidates").glob("*-candidates.json")
    return Mined(folder, done, max(path.name[:10] for path in files))


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


# --- Phase R ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promoted:
    """A project after the literal ``promote``, its GitHub, and the agent that was asked again."""

    project: Project
    github: GithubStandIn
    agent: Agent
    done: Done

    def show(self, form: str) -> str:
        return self.project.git("log", "-1", f"--format={form}", f"origin/{BRANCH}")

    @property
    def edited(self) -> str:
        return self.project.git("show", f"origin/{BRANCH}:{FILE}")


def settle(project: Project, **settings: Any) -> None:
    """Write coreloop.yaml; JSON is YAML."""
    base = {"reach": REACH, "categories": CATEGORIES}
    (project.root / "coreloop.yaml").write_text(json.dumps({**base, **settings}), encoding="utf-8")


def promote(project: Project, github: GithubStandIn, *words: str, line: str = PROMOTE) -> Done:
    github.sha_of = project.head_of
    github.protections = {"main": 1}
    environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url, "NO_PROXY": "127.0.0.1"}
    done = command(project.root, *line.split(), *words, **environ)
    project.git("fetch", "--quiet", "origin")
    return done


@pytest.fixture(scope="module")
def promoted(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Promoted]:
    with pytest.MonkeyPatch.context() as monkeypatch, GithubStandIn() as github, Agent(GOOD) as agent:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("promoted"))
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        yield Promoted(project, github, agent, promote(project, github).assert_code())


@pytest.mark.promise("003-12")
def test_12_the_literal_promote_command_opens_a_draft_of_one_commit(promoted: Promoted) -> None:
    assert BRANCH == "skill/docstring-analysis-profitability-20260425"
    assert sorted(promoted.project.heads()) == ["main", BRANCH]
    assert promoted.project.git("rev-list", "--count", f"main..origin/{BRANCH}") == "1"
    assert promoted.project.git("diff", "--name-only", "main", f"origin/{BRANCH}") == FILE
    (pull,) = promoted.github.pulls
    assert (pull.branch, pull.base, pull.draft) == (BRANCH, "main", True)
    assert promoted.show("%s") == pull.title
    assert pull.title.startswith("[CORELOOP-R] ")


@pytest.mark.promise("003-13")
def test_13_the_lines_are_appended_to_the_end_of_the_first_block(promoted: Promoted) -> None:
    docstring = ast.get_docstring(ast.parse(promoted.edited).body[1])  # type: ignore[arg-type]
    assert docstring is not None
    first, _, others = docstring.partition("\n\nParameters\n")
    assert first.startswith("Ratios of a company.\n\n- ")
    assert '- Call: analysis(company, axis="수익성") -> show(company).' in first
    assert others in SOURCE.decode().replace("\n    ", "\n")


@pytest.mark.slow
@pytest.mark.promise("003-13")
@pytest.mark.parametrize("has_guide", [True, False], ids=["with a Guide", "without"])
def test_13_placement_section_appends_to_guide(
    project: Project, github: GithubStandIn, has_guide: bool
) -> None:
    guide = "\n\n    Guide\n    -----\n    - Known.\n" if has_guide else "\n"
    source = SOURCE.replace(b"        Which.\n", b"        Which." + guide.encode())
    project.commit({FILE: source}, "docs: a guide")
    project.git("push", "--quiet", "origin", "main")
    settle(project, docstring={"placement": "section"})
    promote(project, github, "--allow-unverified").assert_code()
    docstring = ast.get_docstring(ast.parse(project.git("show", f"origin/{BRANCH}:{FILE}")).body[1])  # type: ignore[arg-type]
    assert docstring is not None
    head, _, guide = docstring.partition("\nGuide\n-----\n")
    assert "analysis(company" not in head
    assert guide.startswith("- Known.\n") == has_guide
    assert '- Call: analysis(company, axis="수익성") -> show(company).' in guide


@pytest.mark.promise("003-14")
def test_14_the_example_questions_are_posted_to_api_ask_again(promoted: Promoted) -> None:
    assert promoted.agent.url.endswith("/api/ask")
    asked = {body["question"] for body in promoted.agent.asked}
    assert asked == {"첫째 질문?", "둘째 질문?"}
    assert "Replay: reproduced" in promoted.show("%B")


@pytest.mark.promise("003-14")
def test_14_a_replay_with_the_same_sequence_hash_is_reproduced(project: Project) -> None:
    steps = "analysis(axis=수익성)>show()".encode()
    with Agent({"tool_sequence_hash": f"seq:{hashlib.sha256(steps).hexdigest()[:16]}"}) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        done = command(project.root, *VERIFY.split()).assert_code(0)
    assert done.out.splitlines()[-1] == f"{ID}: reproduced"


@pytest.mark.promise("003-14")
def test_14_what_other_calls_answered_is_not_promoted(project: Project, github: GithubStandIn) -> None:
    with Agent(OTHER) as agent:
        settle(project, replay={"url": agent.url, "timeout_s": 20})
        done = command(project.root, *VERIFY.split()).assert_code(1)
        promote(project, github, "--allow-unverified").assert_code(1)
    assert done.out.splitlines()[-1] == f"{ID}: not_reproduced"
    assert sorted(project.heads()) == ["main"]


@pytest.mark.promise("003-14", "003-32")
def test_14_without_an_endpoint_the_replay_is_unavailable(project: Project, github: GithubStandIn) -> None:
    done = command(project.root, *VERIFY.split()).assert_code(1)
    assert f"{ID}: unavailable" in done.out
    assert "replay: url" in done.out
    assert promote(project, github).code == 1
    assert sorted(project.heads()) == ["main"]


@pytest.mark.promise("003-15")
def test_15_a_korean_axis_has_a_slug(project: Project) -> None:
    slugs = public_name("to_slug")
    table = script_module("_axis_slug.py")["KOREAN_AXIS_SLUG"]
    assert {axis: slugs(axis) for axis in table} == dict(table)
    assert table["수익성"] == "profitability"
    settle(project, axis_slugs={"수익성": "margins"})
    plan = command(project.root, *PROMOTE.removesuffix(" --confirm").split()).assert_code(0)
    assert re.search("^branch +skill/docstring-analysis-margins-20260425$", plan.out, re.MULTILINE)


@pytest.mark.promise("003-16")
@pytest.mark.xfail(
    strict=True, reason="the lines under a Korean docstring are English: When: questions of category …"
)
def test_16_the_guide_text_of_a_korean_docstring_is_korean(tmp_path: Path) -> None:
    guide = "회사의 비율을 계산한다.\n\n    Guide\n    -----\n    기존 안내.\n    "
    source = f'"""도구."""\n\n\ndef analysis(axis):\n    """{guide}"""\n'
    (tmp_path / "tools.py").write_text(source)
    log_in(tmp_path, [*repeated(12), *rest(20)])
    (entry,) = mine(tmp_path).document["candidates"]
    prose = [re.sub(r"\w+\([^)]*\)", "", line) for line in entry["suggested_append"]["body"].splitlines()]
    assert prose
    assert [line for line in prose if not re.search("[가-힣]", line)] == []


@pytest.fixture(scope="module")
def initialised(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project after ``init --confirm``."""
    source = f"git+https://example.com/coreloop.git@{'0' * 40}"
    with pytest.MonkeyPatch.context() as monkeypatch:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("initialised"))
        command(project.root, "init", "--owner", "@octo", "--source", source, "--confirm").assert_code()
        yield project


@pytest.mark.promise("003-17")
def test_17_promote_asks_nobody_to_merge(promoted: Promoted) -> None:
    sent = [(request.line, json.dumps(request.body)) for request in promoted.github.traffic]
    assert [
        line for line, body in sent if re.search(r"/merge\b|auto.?merge", line + body, re.IGNORECASE)
    ] == []
    assert promoted.github.pulls[0].draft


@pytest.mark.promise("003-17")
def test_17_the_branch_protection_requires_a_review(initialised: Project) -> None:
    rules = yaml.safe_load((initialised.root / ".github/branch_protection.yml").read_text())
    assert rules["branch"] == "main"
    assert rules["required_pull_request_reviews"]["required_approving_review_count"] == 1


@pytest.mark.promise("003-17")
def test_17_the_guard_takes_the_label_off_and_fails(
    initialised: Project, promoted: Promoted, tmp_path: Path
) -> None:
    jobs = yaml.safe_load((initialised.root / ".github/workflows/ai-policy.yml").read_text())["jobs"]
    steps = json.dumps(jobs["block-coreloop-auto-merge"])
    assert "guard act --confirm" in steps
    assert "coreloop.guard check" in steps
    with GithubStandIn() as github:
        github.sha_of = promoted.project.head_of
        github.add_pull(branch=BRANCH, title=promoted.show("%s"), body=promoted.show("%B"))
        github.pulls[0].labels[:] = ["coreloop", "auto-merge"]
        event = tmp_path / "event.json"
        event.write_text(json.dumps(labelled(promoted)))
        about = ("--event", str(event), "--event-name", "pull_request")
        environ = {
            "GITHUB_TOKEN": github.token,
            "GITHUB_API_URL": github.url,
            "NO_PROXY": "127.0.0.1",
            "GITHUB_REPOSITORY": github.repo,
        }
        refused = command(promoted.project.root, "guard", "check", *about, "--json").assert_code(1)
        command(promoted.project.root, "guard", "act", "--confirm", *about, **environ).assert_code()
        assert github.pulls[0].labels == ["coreloop"]
    assert "auto-merge" in refused.out


def labelled(promoted: Promoted) -> dict[str, Any]:
    """GitHub's payload after somebody put the label auto-merge on the promotion."""
    repo = {"full_name": promoted.github.repo}
    user = {"login": "somebody", "type": "User"}
    head = {"ref": BRANCH, "sha": promoted.project.head_of(BRANCH), "repo": repo}
    return {
        "action": "labeled",
        "number": 1,
        "label": {"name": "auto-merge"},
        "sender": user,
        "repository": repo,
        "pull_request": {
            "number": 1,
            "title": promoted.show("%s"),
            "body": promoted.show("%B"),
            "draft": True,
            "user": user,
            "head": head,
            "base": {"ref": "main", "sha": promoted.project.head_of("main"), "repo": repo},
            "labels": [{"name": "coreloop"}, {"name": "auto-merge"}],
            "auto_merge": None,
        },
    }


@pytest.mark.promise("003-18")
def test_18_git_revert_of_the_promotion_restores_every_byte(
    promoted: Promoted, tmp_path: Path, quiet_git: None
) -> None:
    tree = tmp_path / "tree"
    promoted.project.git("worktree", "add", "--quiet", "--detach", str(tree), f"origin/{BRANCH}")
    assert (tree / FILE).read_bytes() != SOURCE
    trailers = dict(
        line.split(": ", 1) for line in promoted.show("%B").splitlines() if re.match(r"[\w-]+: ", line)
    )
    assert (trailers["Candidate-Key"], trailers["Target"]) == (KEY, f"{FILE}::analysis")
    run_git(tree, "revert", "--no-edit", "HEAD")
    assert (tree / FILE).read_bytes() == SOURCE


# --- Phase F ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with each signal of failure, transient errors, and a call that fails for its arguments."""
    folder = tmp_path_factory.mktemp("failing")
    (folder / "tools.py").write_text('def plain(company, overrides=None):\n    """Plain."""\n')
    wrong = {"company": "A", "overrides": {"wacc": 1}}
    overrides = [
        record(
            question=f"질문 {word(index)}",
            error=ERROR,
            tool_calls=[failed("plain", wrong)],
            session_hash=f"s{index}",
        )
        for index in range(75)
    ]
    log_in(
        folder,
        [
            *repeated(3, tool_calls=[call("erring")], error=ERROR),
            *repeated(3, tool_calls=[call("violating")], violation="P8 tool zero"),
            *repeated(3, tool_calls=[call("brief")], chunk_len=199),
            *repeated(3, tool_calls=[call("enough")], chunk_len=200),
            *repeated(3, tool_calls=[call("flagged", extreme_flags=["wacc>0.25"])]),
            *repeated(
                3, tool_calls=[call("overriding")], override_calls=[override("overriding", succeeded=False)]
            ),
            *repeated(3, tool_calls=[failed("offline", error=NETWORK)], error=NETWORK),
            *repeated(3, tool_calls=[failed("limited", error=LIMITED)], error=LIMITED),
            *repeated(1, tool_calls=[call("once")], error=ERROR),
            *repeated(15, tool_calls=[call("plain", {"company": "A"})]),
            *overrides,
        ],
    )
    return folder


def refine(folder: Path, *words: str) -> dict[str, Any]:
    command(folder, *REFINE.split(), *words).assert_code()
    return json.loads(only(folder, "data/audit/counterexamples/*-counterexamples.json").read_text())


@pytest.mark.promise("003-19")
def test_19_the_literal_refine_command_finds_what_makes_calls_fail(failing: Path) -> None:
    document = refine(failing, *EXCLUDE.split())
    assert [statement["line"] for statement in document["statements"]] == ["- Leave out overrides"]
    tools = {entry["tool"] for entry in document["counterexamples"]}
    assert {"erring", "plain"} <= tools
    assert not {"offline", "limited", "once"} & tools


@pytest.mark.promise("003-20")
def test_20_each_of_the_five_signals_is_a_counterexample(failing: Path) -> None:
    document = refine(failing, "--min-chunk-len", "400")
    signals = {entry["tool"]: entry["labels"] for entry in document["counterexamples"]}
    assert {
        tool: labels for tool, labels in signals.items() if tool not in {"plain", "offline", "limited"}
    } == {
        "erring": ["error"],
        "violating": ["violation"],
        "brief": ["chunk_len_low"],
        "flagged": ["extreme_flags"],
        "overriding": ["override_failed"],
    }
    path = only(failing, "data/audit/counterexamples/*-counterexamples.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-counterexamples\.json", path.name)


# --- Phase A ----------------------------------------------------------------------------------------


def git_time(days_ago: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="seconds")


@pytest.fixture
def old_project(tmp_path: Path, quiet_git: None) -> Project:
    """A project that was begun 40 days ago."""
    with pytest.MonkeyPatch.context() as patch:
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_DATE", git_time(40))
        return make_project(tmp_path)


def merge(project: Project, number: int, *, phase: str, days_ago: int) -> None:
    """Merge a promotion of the axis 수익성, as it looks in the history some days ago."""
    section = {"R": "Guide", "F": "Caveats"}[phase]
    line = f'- Call: analysis(company, axis="수익성") -> show(company{number}).'
    words = ("docstring", "append", f"{FILE}::analysis", "--section", section, "--line", line, "--write")
    command(project.root, *words).assert_code()
    trailers = (
        f"Phase: {phase}\nCandidate-Id: cand-2026-04-25-00{number}\n"
        f"Candidate-Key: {number:016x}\nTarget: {FILE}::analysis"
    )
    at = git_time(days_ago)
    project.git("add", FILE)
    message = f"[CORELOOP-{phase}] docs(analysis): a line\n\n{trailers}"
    project.git("commit", "--quiet", "-m", message, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)


def merge_all(project: Project, phases: str = "RRRFF", *, days_ago: int = 31) -> None:
    for number, phase in enumerate(phases, 1):
        merge(project, number, phase=phase, days_ago=days_ago - number + 1)
    project.git("push", "--quiet", "origin", "main")


@pytest.mark.promise("003-21", "003-34")
def test_21_the_gates_of_an_axis_are_3_merges_2_caveats_and_30_days(old_project: Project) -> None:
    project = old_project
    merge_all(project)
    before = {path: text for path, text in hashes(project.root).items() if "/.git/" not in path}
    command(project.root, *AXIS.split()).assert_code(0)
    after = {path: text for path, text in hashes(project.root).items() if "/.git/" not in path}
    (proposal,) = after.keys() - before.keys()
    assert proposal.endswith("docs/phase-a-proposals/analysis-profitability.md")
    assert {path: after[path] for path in before} == before
    for option, figure in (("r-merges", 4), ("f-caveats", 3)):
        command(project.root, *AXIS.split(), f"--min-phase-{option}", str(figure)).assert_code(1)
    command(project.root, *AXIS.split(), "--min-age-days", "32").assert_code(1)


@pytest.mark.promise("003-21")
def test_21_without_options_the_gates_are_the_same_and_each_that_fails_is_shown(project: Project) -> None:
    done = command(project.root, "propose-axis", "--engine", "analysis").assert_code(1)
    gates = [" ".join(line.split()) for line in done.out.splitlines()[1:4]]
    assert gates == [
        "Phase R merges 0 of 3 3 short",
        "Phase F caveats 0 of 2 2 short",
        "days since the first merge 0 of 30 30 short",
    ]
    assert not (project.root / "docs").exists()


# --- Knowledge --------------------------------------------------------------------------------------


def post(folder: Path, name: str = "one", text: str = POST) -> Path:
    path = folder / "blog" / name / "index.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.promise("003-22")
def test_22_the_literal_backfill_imports_the_ai_blocks_of_a_blog(tmp_path: Path) -> None:
    post(tmp_path)
    post(tmp_path, "two", POST.replace("stockCode: '005930'\n", ""))
    dry = command(tmp_path, *BACKFILL.removesuffix(" --confirm").split()).assert_code()
    assert re.search(r"^skipped .*blog/two/index\.md.*stockCode", dry.out, re.MULTILINE)
    assert not (tmp_path / KNOWLEDGE).exists()
    command(tmp_path, *BACKFILL.split()).assert_code()
    (row,) = rows_of(tmp_path / KNOWLEDGE, "insights")
    assert (row["source"], row["stock_code"], row["evidence_ref"]) == (
        "blog",
        "005930",
        "blog:blog/one/index.md",
    )


@pytest.mark.promise("003-23")
def test_23_a_publisher_hands_a_post_to_upsert_ai_frontmatter_to_insights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = post(tmp_path)
    for verdict in ("제품 구성이", "환율이"):
        path.write_text(POST.replace("제품 구성이", verdict), encoding="utf-8")
        public_name("upsert_ai_frontmatter_to_insights")(path)
    (row,) = rows_of(tmp_path / KNOWLEDGE, "insights")
    assert (row["source"], row["narrative"]) == ("blog", "환율이 마진을 올렸다.")


@pytest.fixture
def old_knowledge(tmp_path: Path) -> Path:
    """A dartlab database with rows of each kind that a cleanup decides about, and one note."""
    (tmp_path / NOTES).mkdir(parents=True)
    (tmp_path / NOTES / "990003.md").write_text("# 메모\n")
    now = datetime.now(UTC).timestamp()
    young, old = now - 29 * 86_400, now - 31 * 86_400
    return make_old(
        tmp_path / KNOWLEDGE,
        insights=[
            insight(1, at=now, source="live"),
            insight(2, at=now, source="audit"),
            insight(3, at=now, source="audit"),
            insight(4, at=now, source="blog"),
        ],
        playbook=[
            bullet(1, at=now, successes=5),
            bullet(2, at=now, successes=4),
            bullet(3, at=now, successes=5, failures=2),
        ],
        executions=[execution(1, at=young), execution(2, at=old)],
    )


@pytest.mark.promise("003-24")
def test_24_a_cleanup_without_confirm_changes_nothing(tmp_path: Path, old_knowledge: Path) -> None:
    before = hashes(tmp_path)
    script(tmp_path, "cleanup_knowledge_db.py").assert_code()
    assert {path: before[path] for path in before} == {path: hashes(tmp_path).get(path) for path in before}
    assert not list(tmp_path.rglob("*.sqlite"))


@pytest.mark.promise("003-24")
def test_24_a_cleanup_keeps_what_its_rules_keep_and_archives_the_rest(
    tmp_path: Path, old_knowledge: Path
) -> None:
    day = datetime.now(UTC).date()
    script(tmp_path, "cleanup_knowledge_db.py", "--confirm").assert_code()
    kept = {row["stock_code"]: row for row in rows_of(old_knowledge, "insights")}
    assert sorted(kept) == ["990003", "990004"]
    assert kept["990003"]["evidence_ref"] == "audit:data/dart/auditAnalysis/990003.md"
    assert kept["990003"]["quality_gate"] == "migration"
    assert [row["bullet"] for row in rows_of(old_knowledge, "playbook")] == ["BULLET1."]
    (run,) = rows_of(old_knowledge, "executions")
    assert "question" not in run
    assert run["question_hash"]
    assert b"QUESTION" not in old_knowledge.read_bytes()
    archive = only(tmp_path, "data/ai/knowledge/_archive/*.sqlite")
    assert archive.name in {f"{day}-pre-cleanup.sqlite", f"{day + timedelta(days=1)}-pre-cleanup.sqlite"}
    assert len(rows_of(archive, "insights")) == 4


@pytest.mark.promise("003-25")
@pytest.mark.parametrize(
    ("code", "chars", "grade", "is_kept"),
    [
        ("990168", 500, "P", True),
        ("990168", 500, "T", True),
        ("990168", 499, "P", False),
        ("990168", 500, "C", False),
        ("", 500, "P", False),
    ],
    ids=["P", "T", "short", "C", "no company"],
)
def test_25_a_live_insight_needs_500_characters_a_grade_and_a_company(
    tmp_path: Path, code: str, chars: int, grade: str, is_kept: bool
) -> None:
    known = public_name("Insight")(stock_code=code, narrative="좋다", source="live")
    with public_name("writing", beside="save_live")(tmp_path / "x.db") as knowledge:
        public_name("save_live")(knowledge, known, answer_chars=chars, grade=grade, now=datetime.now(UTC))
    assert len(rows_of(tmp_path / "x.db", "insights")) == is_kept


@pytest.mark.promise("003-25")
def test_25_the_monthly_prune_removes_bullets_below_a_half(tmp_path: Path) -> None:
    at = datetime.now(UTC).timestamp()
    weak, even = bullet(1, at=at, successes=0, failures=1), bullet(2, at=at, successes=1, failures=1)
    database = make_old(tmp_path / KNOWLEDGE, playbook=[weak, even])
    command(tmp_path, "knowledge", "prune").assert_code()
    assert len(rows_of(database, "playbook")) == 2
    command(tmp_path, "knowledge", "prune", "--confirm").assert_code()
    assert [row["bullet"] for row in rows_of(database, "playbook")] == ["BULLET2."]


# --- Sanitize ---------------------------------------------------------------------------------------

PRIVATE = "삼성전자 담당자 hong@example.com 에게 https://example.com/a?b=1 를 보내줘"


def share(folder: Path, mode: str) -> str:
    """What a mode of the literal command writes."""
    line = f"sanitize --in data/audit/ai-ask/ --out sanitized-{mode} --mode {mode}"
    command(folder, *line.split()).assert_code()
    return "".join(
        path.read_text(encoding="utf-8") for path in (folder / f"sanitized-{mode}").glob("*.jsonl")
    )


@pytest.fixture
def private(tmp_path: Path) -> Path:
    log_in(tmp_path, [record(question=PRIVATE, question_hash="sha256:0123456789abcdef")])
    return tmp_path


@pytest.mark.promise("003-26")
def test_26_check_reports_and_writes_no_file(private: Path) -> None:
    before = hashes(private)
    done = command(private, "sanitize", "--check", "data/audit/ai-ask/").assert_code(1)
    assert "question" in done.out
    assert "hong@example.com" not in done.out + done.errors
    assert hashes(private) == before


@pytest.mark.promise("003-26")
def test_26_hash_replaces_the_question_by_a_hash(private: Path) -> None:
    (line,) = share(private, "hash").splitlines()
    shared = json.loads(line)
    assert PRIVATE not in line
    assert "hong" not in line
    assert shared["question_hash"]
    assert shared["question_hash"] != "sha256:0123456789abcdef"


@pytest.mark.promise("003-26")
def test_26_drop_removes_the_question(private: Path) -> None:
    shared = json.loads(share(private, "drop"))
    assert not shared.get("question")
    assert not shared.get("question_hash")


@pytest.mark.promise("003-26")
def test_26_mask_hides_addresses_and_links(private: Path) -> None:
    question = json.loads(share(private, "mask"))["question"]
    assert "hong@example.com" not in question
    assert "https://example.com" not in question
    assert "보내줘" in question


@pytest.mark.promise("003-26")
def test_26_mask_hides_the_names_of_companies(private: Path) -> None:
    assert "삼성전자" not in json.loads(share(private, "mask"))["question"]


@pytest.mark.promise("003-27")
@pytest.mark.parametrize("mode", ["hash", "drop", "mask"])
def test_27_originals_are_never_overwritten(private: Path, mode: str) -> None:
    before = hashes(private / "data")
    share(private, mode)
    for out in ("data/audit/ai-ask", "data/audit/ai-ask/.", f"sanitized-{mode}"):
        command(private, "sanitize", "--in", "data/audit/ai-ask/", "--out", out, "--mode", mode).assert_code(
            2
        )
    assert hashes(private / "data") == before


@pytest.mark.promise("003-28")
def test_28_a_docstring_that_lost_a_section_fails_the_check(project: Project) -> None:
    body = "\n\n    ".join(f"{name}\n    {'-' * len(name)}\n    Words of it." for name in SECTIONS[2:])
    source = f'def analysis(axis):\n    """Ratios.\n\n    More words.\n\n    {body}\n    """\n'
    project.commit({FILE: source}, "docs: all sections")
    whole = command(project.root, "docstring", "check", FILE, "--base", "HEAD").assert_code(0)
    assert "analysis  9/9" in whole.out
    (project.root / FILE).write_text(source.replace("Guide\n    -----\n    Words of it.\n", ""))
    lost = command(project.root, "docstring", "check", FILE, "--base", "HEAD").assert_code(1)
    assert "8/9  missing Guide" in lost.out


def peak_kb(folder: Path, *words: str) -> int:
    """The most memory that a process of the command had."""
    process = subprocess.Popen(
        [str(BIN / "dartlab-coreloop"), *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


@pytest.mark.slow
@pytest.mark.promise("003-29")
def test_29_a_larger_log_is_mined_in_the_same_memory(tmp_path: Path) -> None:
    lines = dated([*repeated(2_000, session_hash="s" * 500), *rest(2_000)])
    sizes = {}
    for name, files in {"small": 2, "large": 20}.items():
        for number in range(files):
            path = tmp_path / name / f"data/audit/ai-ask/part-{number:02}.jsonl"
            write_log(
                path, ({**line, "request_id": f"r{number}-{index}"} for index, line in enumerate(lines))
            )
        log_kb = sum(path.stat().st_size for path in (tmp_path / name).rglob("*.jsonl")) // 1024
        sizes[name] = (log_kb, peak_kb(tmp_path / name, *PATTERN.split(), "--jobs", "1"))
    (small_log, small), (large_log, large) = sizes["small"], sizes["large"]
    assert large_log - small_log > 50_000
    assert large - small < (large_log - small_log) / 2


# --- Commands, scripts, schedule --------------------------------------------------------------------

COMMANDS = {
    "status": 0,
    "pattern --since 7d": 0,
    "refine --since 30d": 0,
    PROMOTE: 0,
    "propose-axis --engine analysis": 1,
    "sanitize --mode hash": 0,
    VERIFY: 0,
    BACKFILL: 0,
    PATTERN: 0,
    f"{PATTERN} --include-audit-analysis": 0,
    f"{PATTERN} --dry-run --sanitize": 0,
    f"{REFINE} {EXCLUDE}": 0,
    AXIS: 1,
    "sanitize --check data/audit/ai-ask/": 1,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode hash": 0,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode drop": 0,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode mask": 0,
}
"""The document's commands with their exit codes here: no promotion was merged, and the log has an e-mail."""
RUN_SCRIPTS = {
    "extract_skill_candidates.py --include-audit-analysis": 0,
    PROMOTE.replace("promote", "promote_skill.py").removesuffix(" --confirm"): 0,
    "refine_skill.py --since 30d --min-failures 2": 0,
    "propose_axis.py --engine analysis": 1,
    "backfill_blog_insights.py --blog-root blog/": 0,
    "cleanup_knowledge_db.py": 0,
    "cleanup_knowledge_db.py --confirm": 0,
    "sanitize_audit.py --mode hash": 0,
    VERIFY.replace("verify", "verify_candidate.py"): 0,
}


@dataclass(frozen=True)
class Workshop:
    """A project in which each command has something to work on."""

    project: Project
    github: GithubStandIn
    environ: dict[str, str]


@pytest.fixture(scope="module")
def first_workshop(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as monkeypatch, GithubStandIn() as github, Agent(GOOD) as agent:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("workshop"))
        project.settle(
            json.dumps(
                {"reach": REACH, "categories": CATEGORIES, "replay": {"url": agent.url, "timeout_s": 20}}
            )
        )
        log_in(project.root, [*repeated(4), *rest(4), record(question=PRIVATE)])
        post(project.root)
        at = datetime.now(UTC).timestamp()
        make_old(project.root / KNOWLEDGE, insights=[insight(1, at=at, source="live")])
        github.protections = {"main": 1}
        environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url, "NO_PROXY": "127.0.0.1"}
        yield Workshop(project, github, environ)


@pytest.fixture
def workshop(first_workshop: Workshop, tmp_path: Path, quiet_git: None) -> Workshop:
    project = copy_project(first_workshop.project, tmp_path)
    first_workshop.github.sha_of = project.head_of
    return Workshop(project, first_workshop.github, first_workshop.environ)


def of_section_11(line: str) -> bool:
    return list(COMMANDS).index(line) < 8


@pytest.mark.promise("003-30", "003-32")
@pytest.mark.parametrize("line", [line for line in COMMANDS if of_section_11(line) and line != PROMOTE])
def test_30_a_literal_command_is_accepted_as_it_stands(workshop: Workshop, line: str) -> None:
    command(workshop.project.root, *line.split(), **workshop.environ).assert_code(COMMANDS[line])


@pytest.mark.slow
@pytest.mark.promise("003-30", "003-32")
@pytest.mark.parametrize("line", COMMANDS)
def test_30_a_literal_command_runs_as_a_process(workshop: Workshop, line: str) -> None:
    done = program(workshop.project.root, "dartlab-coreloop", *line.split(), **workshop.environ)
    done.assert_code(COMMANDS[line])


@pytest.mark.promise("003-30")
@pytest.mark.parametrize("line", [line for line in RUN_SCRIPTS if "promote" not in line])
def test_30_a_script_takes_the_options_of_its_command(workshop: Workshop, line: str) -> None:
    script(workshop.project.root, *line.split(), **workshop.environ).assert_code(RUN_SCRIPTS[line])


@pytest.mark.slow
@pytest.mark.promise("003-30")
@pytest.mark.parametrize("line", RUN_SCRIPTS)
def test_30_a_script_runs_as_a_process(workshop: Workshop, line: str) -> None:
    name, *words = line.split()
    done = program(workshop.project.root, "python", str(SCRIPTS / name), *words, **workshop.environ)
    done.assert_code(RUN_SCRIPTS[line])


@pytest.mark.promise("003-30")
def test_30_every_script_of_the_document_is_there_and_run(tmp_path: Path) -> None:
    run = {line.split()[0] for line in RUN_SCRIPTS}
    imported = {"_axis_slug.py", "_parse_audit_analysis.py"}
    assert {path.name for path in SCRIPTS.glob("*.py")} == run | imported
    assert script_module("_axis_slug.py")["KOREAN_AXIS_SLUG"]
    assert callable(script_module("_parse_audit_analysis.py")["parse_all"])


@pytest.mark.promise("003-31")
def test_31_the_pattern_workflow_runs_every_night(initialised: Project) -> None:
    workflow = yaml.safe_load((initialised.root / ".github/workflows/coreloop-pattern.yml").read_text())
    (schedule,) = workflow[True]["schedule"]  # YAML reads the key "on" as true
    minute, hour, *days = schedule["cron"].split()
    assert minute.isdecimal()
    assert hour.isdecimal()
    assert days == ["*", "*", "*"]
    assert " pattern --sanitize " in json.dumps(workflow)


@pytest.mark.promise("003-31", "003-32")
def test_31_status_prints_the_stability_of_30_merges_0_reverts_0_lost_sections(project: Project) -> None:
    log_in(project.root, repeated(1))
    status = command(project.root, "status").assert_code().out
    line = "clean merges in a row: 0 of 30, reverts in 90 days: 0, docstrings that lost a section: 0"
    assert re.search(f"^stability +{line}$", status, re.MULTILINE)
    command(project.root, "status", "--stability").assert_code(1)


@pytest.mark.promise("003-32")
def test_32_status_counts_records_candidates_and_promotions(mined: Mined) -> None:
    status = command(mined.root, "status").assert_code().out
    assert re.search(r"^records +80 on 10 days", status, re.MULTILINE)
    assert re.search(r"^candidates +1 pending", status, re.MULTILINE)
    assert re.search(r"^counterexamples +0 pending", status, re.MULTILINE)


@pytest.mark.promise("003-33")
def test_33_the_page_on_nights_has_the_steps_of_the_roadmap(initialised: Project) -> None:
    page = (REPO / "docs/how-to/nightly.md").read_text(encoding="utf-8")
    steps = ("## By hand or by cron", "## As a GitHub workflow", "### Drafts")
    places = [page.index(step) for step in steps]
    assert places == sorted(places)
    steps = yaml.safe_load((initialised.root / ".github/workflows/coreloop-pattern.yml").read_text())
    (drafts,) = [step for step in steps["jobs"]["propose"]["steps"] if step.get("name") == "Open drafts"]
    (check,) = [step for step in steps["jobs"]["propose"]["steps"] if step.get("id") == "tier1"]
    assert drafts["if"] == "steps.tier1.outputs.open == 'true'"
    assert check["env"]["WANTED"] == "${{ vars.CORELOOP_TIER1 }}"
    assert "status --stability" in check["run"]


@pytest.mark.promise("003-34")
def test_34_no_workflow_proposes_an_axis(initialised: Project) -> None:
    workflows = list((initialised.root / ".github/workflows").glob("*.yml"))
    assert {path.name for path in workflows} == {"ai-policy.yml", "coreloop-pattern.yml"}
    assert [path.name for path in workflows if "propose-axis" in path.read_text()] == []


@pytest.mark.promise("003-35")
def test_35_requests_with_an_error_or_a_violation_are_no_pattern(mined: Mined) -> None:
    assert not {"broken", "violating", "guess"} & set(mined.tools)


@pytest.mark.slow
@pytest.mark.promise("003-36")
def test_36_a_caveat_is_promoted_like_a_guide(project: Project, github: GithubStandIn) -> None:
    path = write_counterexamples(
        project.root / "data/audit/counterexamples/2026-04-25-counterexamples.json",
        statement(kind="condition", line="- Leave out axis", tool="analysis"),
    )
    line = f"promote --candidate {path.relative_to(project.root)} --id ce-2026-04-25-001 --confirm"
    promote(project, github, line=line).assert_code()
    (pull,) = github.pulls
    assert (pull.draft, pull.title.partition(" ")[0]) == (True, "[CORELOOP-F]")
    edited = project.git("show", f"origin/{pull.branch}:{FILE}")
    assert edited.replace("\n    - Leave out axis\n", "", 1).encode().split() == SOURCE.split()


@pytest.mark.promise("003-37")
def test_37_the_command_is_registered_by_the_distribution() -> None:
    scripts = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert "dartlab-coreloop" in scripts
    assert (BIN / "dartlab-coreloop").is_file()


@pytest.mark.promise("003-38")
def test_38_code_owners_review_what_promotions_change(initialised: Project) -> None:
    owners = (initialised.root / ".github/CODEOWNERS").read_text()
    rules = yaml.safe_load((initialised.root / ".github/branch_protection.yml").read_text())
    assert "@octo" in owners
    assert rules["required_pull_request_reviews"]["require_code_owner_reviews"] is True
