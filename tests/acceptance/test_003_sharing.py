"""What document 003 promises of knowledge, of sharing and of memory, a test a row."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acceptance.core_loop import (
    BACKFILL,
    KNOWLEDGE,
    NOTES,
    PATTERN,
    POST,
    PRIVATE,
    SECTIONS,
    dated,
    hashes,
    log_in,
    only,
    post,
)
from acceptance.walk import BIN, command, public_name, script
from logs import record, repeated, rest, write_log
from old_knowledge import bullet, execution, insight, make_old, rows_of
from promoting import (
    FILE,
    Project,
)


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
def test_26_mask_hides_addresses_links_and_the_names_of_companies(private: Path) -> None:
    question = json.loads(share(private, "mask"))["question"]
    assert "hong@example.com" not in question
    assert "https://example.com" not in question
    assert "삼성전자" not in question
    assert "보내줘" in question


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
        sizes[name] = (log_kb, peak_kb(tmp_path / name, *PATTERN.split()))
    (small_log, small), (large_log, large) = sizes["small"], sizes["large"]
    assert large_log - small_log > 50_000
    assert large - small < (large_log - small_log) / 2
