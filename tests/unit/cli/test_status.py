"""``status`` as people and jobs meet it: the screen, the JSON, exit codes, wherever it is run."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.cli.main import main
from github_stand_in import GithubStandIn
from logs import record, repeated, write_log
from merging import open_promotion, promote, revert
from promoting import CATEGORIES, KEY, Project, candidate, run_git, write_candidates

COMMAND = [sys.executable, "-m", "coreloop", "status"]
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``status`` in a folder, by default outside of any repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    def run(*args: str, at: Path = tmp_path, **environ: str) -> Result:
        monkeypatch.chdir(at)
        return CliRunner(env=environ).invoke(main, ["status", *args])

    return run


def shown(done: Result) -> str:
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return done.stdout


def facts(done: Result) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(shown(done))
    return status


def today() -> str:
    return datetime.now(UTC).isoformat()


def log(root: Path, *more: dict[str, Any], count: int = 4) -> Path:
    return write_log(root / "data" / "audit" / "ai-ask" / "a.jsonl", [*repeated(count, ts=today()), *more])


def kinds(done: Result) -> list[str]:
    return [alarm["kind"] for alarm in facts(done)["alarms"]]


# --- where it can be run ----------------------------------------------------------------------------


def test_without_a_repository_it_shows_the_log_and_names_what_is_missing(run: Run, tmp_path: Path) -> None:
    log(tmp_path)
    out = shown(run())
    assert re.search(r"^records +4 on 1 day, the newest \d{4}-\d\d-\d\d, today$", out, re.MULTILINE)
    assert re.search(r"^window .*: 4 records, 1 sequence$", out, re.MULTILINE)
    assert re.search(r"^note +no history: .* is not in a git repository; run git init", out, re.MULTILINE)
    assert "promotions" not in out
    assert facts(run("--json"))["promotions"] is None


def test_fields_that_were_read_as_absent_are_named_and_not_called_torn(run: Run, tmp_path: Path) -> None:
    log(tmp_path, record(ts=today(), question=True), record(ts=today(), question=[]))
    out = shown(run())
    note = "1 record has an unusable question, first in a.jsonl line 5: read as absent"
    assert re.search(rf"^note +{note}$", out, re.MULTILINE)
    assert "torn" not in out
    assert facts(run("--json"))["log"]["read_as_absent"] == {"question": {"n": 1, "first": "a.jsonl line 5"}}


def test_a_project_with_history_has_everything_on_one_screen(run: Run, project: Project) -> None:
    log(project.root)
    promote(project, "aa")
    open_promotion(project, "bb", GIT_COMMITTER_DATE="2026-04-01T00:00:00Z")
    project.git("push", "--quiet", "origin", "main")
    out = shown(run(at=project.root))
    assert re.search(
        r"^from pattern +1 pending \(the oldest 2026-04-25, .*\), 1 promoted, 0 rejected$", out, re.M
    )
    assert re.search(
        r"^promotions +1 open \(1 for more than 14 days\), 1 merged in main, the newest ", out, re.M
    )
    assert re.search(r"^ +open 2026-04-01, \d+ days ago: branch skill/docstring-bb, no pull re", out, re.M)
    assert re.search(r"^stability +clean merges in a row: 1 of 30, reverts in 90 days: 0, ", out, re.M)
    assert re.search(r"^ALARM +promotions unmerged for more than 14 days: 1$", out, re.M)
    assert len(out.splitlines()) < 24


def test_it_changes_nothing_but_the_facts(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coreloop.learn.mine.folder._SMALL_BYTES", 0)
    log(project.root)
    promote(project, "aa")
    before = project.fingerprint()
    shown(run("--no-cache", at=project.root))
    run("--stability", at=project.root)
    assert project.fingerprint() == before
    shown(run(at=project.root))
    assert list((project.root / "data" / "audit" / "facts").iterdir())


# --- errors -----------------------------------------------------------------------------------------


def refused(root: Path, *args: str) -> str:
    done = subprocess.run([*COMMAND, *args], cwd=root, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr


@pytest.mark.slow
def test_a_shallow_clone_cannot_know_what_was_promoted(project: Project, tmp_path: Path) -> None:
    project.commit({"other.txt": "x"})
    project.git("push", "--quiet", "origin", "main")
    run_git(tmp_path, "clone", "--quiet", "--depth=1", project.remote.as_uri(), "clone")
    for args in ([], ["--stability"]):
        assert "run git fetch --unshallow" in refused(tmp_path / "clone", *args)


@pytest.mark.slow
def test_stability_needs_a_history(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "is not in a git repository" in refused(tmp_path, "--stability")
    run_git(tmp_path, "init", "--quiet")
    assert "there is no branch main" in refused(tmp_path, "--stability")


# --- stability --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_stability_exits_0_only_when_every_gate_holds(run: Run, project: Project) -> None:
    for number in range(30):
        promote(project, f"{number:04x}", "fast-forward")
    project.git("push", "--quiet", "origin", "main")
    done = run("--stability", at=project.root)
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.search(r"^clean merges in a row +30 of 30$", done.stdout, re.MULTILINE)
    revert(project, "HEAD")
    project.git("push", "--quiet", "origin", "main")
    done = run("--stability", at=project.root)
    assert (done.exit_code, done.stderr) == (1, "")
    assert re.search(r"^clean merges in a row +0 of 30$", done.stdout, re.MULTILINE)
    assert re.search(r"^reverts in 90 days +1, must be 0$", done.stdout, re.MULTILINE)
    assert re.search(r"^not clean +[0-9a-f]{12} cand-001d, .*: it was reverted$", done.stdout, re.MULTILINE)
    assert "stability" in kinds(run("--json", at=project.root))


# --- alarms, from what really happened --------------------------------------------------------------


def test_alarms_do_not_change_the_exit_code(run: Run, tmp_path: Path) -> None:
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "a.jsonl", [record()])
    out = shown(run())
    assert "ALARM" in out
    assert "no record for" in out


def test_old_future_and_torn_records_raise_alarms(run: Run, tmp_path: Path) -> None:
    path = log(tmp_path, record(ts="2199-01-01"), count=0)
    assert kinds(run("--json")) == ["future"]
    path.write_bytes(path.read_bytes() + b'{"torn')
    assert kinds(run("--json")) == ["future", "torn_lines"]
    write_log(path.with_name("b.jsonl"), [record(ts="2020-01-01")])
    assert kinds(run("--json")) == ["no_record", "future", "outside_window", "torn_lines"]


def test_the_alarm_about_missing_candidates_names_the_gate(run: Run, tmp_path: Path) -> None:
    ts = today()
    alike = [record(ts=ts, question="같은 질문") for _ in range(20)]
    failed = repeated(20, ts=ts, category_hash="FIN-dividend-KR", error="KeyError: x")
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "a.jsonl", [*alike, *failed])
    assert kinds(run("--json")) == ["no_candidate"]
    assert "refused by the gates min_success_rate 1, min_unique_questions 1;" in shown(run())


def test_a_verdict_counts_in_the_status_as_in_pattern(run: Run, tmp_path: Path) -> None:
    bad = record(ts=today(), request_id="req-bad", error="KeyError: x", question="왜 안 돼요")
    log(tmp_path, bad, count=30)
    assert "refused by the gates min_success_rate 1;" in shown(run())
    line = {"schema_version": 1, "id": "req-bad", "key": None, "verdict": "T", "cause": None}
    folder = tmp_path / "data" / "audit" / "judgments"
    folder.mkdir()
    given = json.dumps({**line, "judged_at": today(), "judged_by": "Ann"})
    (folder / "2026-04-25.jsonl").write_text(f"{given}\n{{torn\n")
    out = shown(run())
    assert "1 would be proposed: dartlab-coreloop pattern" in out
    assert "1 line of judgments skipped: torn or not JSON" in out


def test_too_few_records_are_no_reason_for_an_alarm(run: Run, tmp_path: Path) -> None:
    log(tmp_path, count=29)
    assert kinds(run("--json")) == []
    log(tmp_path, count=30)
    assert kinds(run("--json")) == ["no_candidate"]
    (tmp_path / "coreloop.yaml").write_text("gates: {min_repeat: 4}\n")
    assert kinds(run("--json")) == []
    write_candidates(tmp_path / "data" / "audit" / "candidates" / "2026-04-25-candidates.json")
    (tmp_path / "coreloop.yaml").unlink()
    assert kinds(run("--json")) == ["pending"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_records_that_a_server_dropped_raise_an_alarm(run: Run, tmp_path: Path) -> None:
    path = log(tmp_path)
    (path.parent / "1970-01-01.jsonl").symlink_to("/dev/full")
    script = "import sys; from coreloop import AuditCollector as A; A('?', clock_ns=lambda: 0).flush(9)"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    (path.parent / "1970-01-01.jsonl").unlink()
    assert re.search(r"^ALARM +records were dropped: 1 \(write_ENOSPC 1\)$", shown(run()), re.MULTILINE)


@pytest.mark.slow
def test_a_reach_check_that_refuses_everything_raises_an_alarm(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not measured has not passed, either."""
    project.settle(f"forge: {{repo: octo/tools}}\ncategories: {json.dumps(CATEGORIES)}\n")
    monkeypatch.chdir(project.root)
    names = ["cand-2026-04-25-001", "cand-2026-04-25-002"]
    write_candidates(project.candidates, *(candidate(id=n, key=n[-3:] + "0123456789abc") for n in names))
    for number, name in enumerate(names):
        assert "reach" not in kinds(run("--json", at=project.root)), number
        asked = ["promote", "--candidate", str(project.candidates), "--id", name, "--confirm"]
        done = CliRunner().invoke(main, [*asked, "--allow-unverified"])
        assert "reach: unmeasured" in str(done.exception)
    out = shown(run(at=project.root))
    assert "refuses every proposal: all 2 that were checked" in out
    CliRunner().invoke(main, [*asked, "--allow-unverified", "--allow-unreached"])
    assert "reach" in kinds(run("--json", at=project.root))  # it was allowed, and still not reached


# --- the forge --------------------------------------------------------------------------------------


@pytest.fixture
def forge(github: GithubStandIn) -> dict[str, str]:
    return {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}


@pytest.mark.slow
def test_with_a_token_the_open_pull_requests_are_named(
    run: Run, project: Project, github: GithubStandIn, forge: dict[str, str]
) -> None:
    open_promotion(project, "aa")
    github.add_pull(branch="skill/docstring-aa")
    github.add_pull(branch="skill/docstring-colleague", body=f"Phase: R\nCandidate-Key: {KEY}")
    github.add_pull(branch="feature")
    github.add_pull(branch="skill/docstring-old", state="closed")
    status = facts(run("--json", at=project.root, **forge))
    urls = {entry["branch"]: entry["url"].rpartition("/")[2] for entry in status["promotions"]["open"]}
    assert urls == {"skill/docstring-aa": "1", "skill/docstring-colleague": "2"}
    assert status["candidates"]["pending"] == 0  # the colleague's is this clone's candidate
    assert "unmerged" in kinds(run("--json", at=project.root, **forge))
    assert {request.verb for request in github.traffic} == {"GET"}
    without = facts(run("--json", at=project.root))
    assert [(entry["branch"], entry["url"]) for entry in without["promotions"]["open"]] == [
        ("skill/docstring-aa", None)
    ]
    assert without["candidates"]["pending"] == 1


def test_a_forge_that_refuses_hides_nothing(
    run: Run, project: Project, github: GithubStandIn, forge: dict[str, str]
) -> None:
    open_promotion(project, "aa")
    out = shown(run(at=project.root, **{**forge, "GITHUB_TOKEN": "no such token"}))
    assert re.search(r"^note +pull requests are unknown, only branches are listed: .*", out, re.MULTILINE)
    assert "branch skill/docstring-aa, no pull request known" in out
    assert "no such token" not in out


# --- what is printed --------------------------------------------------------------------------------
