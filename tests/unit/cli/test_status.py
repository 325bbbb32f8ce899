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
from logs import repeated, write_log
from merging import open_promotion, promote
from promoting import Project, run_git

COMMAND = [sys.executable, "-m", "coreloop", "status"]
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``status`` in a folder, by default outside of any repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    def run(*args: str, at: Path = tmp_path, **environ: str) -> Result:
        monkeypatch.chdir(at)
        return CliRunner(env={"COLUMNS": "200", **environ}).invoke(main, ["status", *args])

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


# --- where it can be run ----------------------------------------------------------------------------


def test_without_a_repository_it_shows_the_log_and_names_what_is_missing(run: Run, tmp_path: Path) -> None:
    log(tmp_path, count=40)
    out = shown(run())
    assert "ALARM" not in out  # two days are needed
    assert re.search(r"^records +40 on 1 day, the newest \d{4}-\d\d-\d\d, today$", out, re.MULTILINE)
    assert re.search(r"^window .*: 40 records, 1 sequence$", out, re.MULTILINE)
    assert re.search(r"^note +no history: .* is not in a git repository; run git init", out, re.MULTILINE)
    assert "promotions" not in out
    assert facts(run("--json"))["promotions"] is None
    assert re.search(r"^next +dartlab-coreloop refine$", shown(CliRunner().invoke(main)), re.M)


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
    assert max(map(len, shown(run(at=project.root, COLUMNS="80")).splitlines())) <= 80
    front = shown(CliRunner(env={"COLUMNS": "200"}).invoke(main))
    assert re.search(r"^ALARM .*\nnext +promote them or .*; dartlab-coreloop judge lists", front, re.M)


def test_it_changes_nothing_but_the_facts(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coreloop.learn.mine.folder._KEPT_FROM", 0)
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


# --- the forge --------------------------------------------------------------------------------------


@pytest.fixture
def forge(github: GithubStandIn) -> dict[str, str]:
    return {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}


def test_a_forge_that_refuses_hides_nothing(
    run: Run, project: Project, github: GithubStandIn, forge: dict[str, str]
) -> None:
    open_promotion(project, "aa")
    out = shown(run(at=project.root, **{**forge, "GITHUB_TOKEN": "no such token"}))
    assert re.search(r"^note +pull requests are unknown, only branches are listed: .*", out, re.MULTILINE)
    assert "branch skill/docstring-aa, no pull request known" in out
    assert "no such token" not in out
