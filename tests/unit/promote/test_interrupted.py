"""The real command: killed at any point and run again; refused by GitHub; asked only what it would do."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from github_failures import raw, said
from github_stand_in import Fault, GithubStandIn
from promoting import BRANCH, GOOD, ID, Agent, Project
from rows import slow_after

CANARY = "ghp_canary0123456789"
LONGEST_S = 60


@pytest.fixture
def hub(github: GithubStandIn, project: Project, monkeypatch: pytest.MonkeyPatch) -> GithubStandIn:
    """GitHub as the host of the project's remote, reached as the command reaches it."""
    github.token = CANARY
    github.sha_of = project.head_of
    github.protections = {"main": 1}
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    return github


def promote(project: Project, *options: str) -> list[str]:
    return ["promote", "--candidate", str(project.candidates), "--id", ID, *options]


def start(project: Project, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "coreloop", *promote(project, *options)],
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(project: Project, *options: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr; wherever the token shows, the test fails."""
    process = start(project, *options)
    out, err = process.communicate(timeout=LONGEST_S)
    assert CANARY not in out + err
    return process.returncode, out, err


def kill(process: subprocess.Popen[str]) -> None:
    """As the machine would: the command and the git that it runs."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=LONGEST_S)
    assert process.returncode == -signal.SIGKILL


@contextmanager
def blocking_hook(project: Project, name: str) -> Iterator[int]:
    """A hook of the remote that says it was reached, and then waits for ever; gives where to listen."""
    reached, never = project.remote / "reached", project.remote / "never"
    os.mkfifo(reached)
    os.mkfifo(never)
    hook = project.remote / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho here >'{reached}'\nexec cat <'{never}'\n")
    hook.chmod(0o755)
    listening = os.open(reached, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield listening
    finally:
        os.close(listening)
        hook.unlink()
        reached.unlink()
        never.unlink()


class Watched(list[Any]):
    """A list that tells when something was put in."""

    def __init__(self) -> None:
        super().__init__()
        self.filled = threading.Event()

    def append(self, item: Any) -> None:
        super().append(item)
        self.filled.set()


def assert_one_of_everything(project: Project, hub: GithubStandIn) -> None:
    assert sorted(project.heads()) == ["main", BRANCH]
    project.git("fetch", "--quiet", "origin")
    assert project.git("rev-list", "--count", f"main..origin/{BRANCH}") == "1"
    assert [(pull.branch, pull.draft, pull.labels) for pull in hub.pulls] == [(BRANCH, True, ["coreloop"])]
    assert project.git("worktree", "list").count("\n") == 0


def assert_goes_on(project: Project, hub: GithubStandIn) -> None:
    """The next run ends with one of everything, and the one after it changes nothing."""
    for again in (False, True):
        heads = project.heads()
        code, out, err = run(project, "--confirm", "--allow-unverified")
        assert (code, err) == (0, "")
        assert "https://github.example/octo/tools/pull/1 (draft)" in out
        assert_one_of_everything(project, hub)
        assert not again or (project.heads() == heads and "from an earlier run" in out)


@pytest.mark.slow
@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"], ids=["after commit", "after push"])
def test_killed_in_the_push_it_goes_on(project: Project, hub: GithubStandIn, hook: str) -> None:
    with blocking_hook(project, hook) as listening:
        process = start(project, "--confirm", "--allow-unverified")
        assert select.select([listening], [], [], LONGEST_S)[0], process.communicate()
        kill(process)
    assert (BRANCH in project.heads(), hub.pulls) == (hook == "post-receive", [])
    assert_goes_on(project, hub)


@pytest.mark.slow
def test_killed_before_github_answers_it_finds_its_pull_request(project: Project, hub: GithubStandIn) -> None:
    hub.pulls = watched = Watched()
    hub.fail(Fault(delay_s=LONGEST_S), verb="POST", path="/pulls")
    process = start(project, "--confirm", "--allow-unverified")
    assert watched.filled.wait(LONGEST_S), process.communicate()
    kill(process)
    assert [pull.labels for pull in hub.pulls] == [[]]
    assert_goes_on(project, hub)


@pytest.mark.slow
def test_answer_that_is_lost_is_found_by_the_next_run(project: Project, hub: GithubStandIn) -> None:
    hub.fail(Fault(carried_out=True), verb="POST", path="/pulls")
    code, _, err = run(project, "--confirm", "--allow-unverified")
    assert code == 2
    assert f"branch {BRANCH} is pushed; run the same command to continue" in err
    assert_goes_on(project, hub)


LOST = [
    pytest.param(said(403, "Resource not accessible"), "the token may not do this", id="403"),
    pytest.param(raw(b"<html>", 500), "GitHub is unavailable (500)", id="500"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "reason"), LOST)
def test_github_that_refuses_the_draft_is_named_and_so_is_the_branch(project, hub, fault, reason) -> None:
    hub.fail(fault, verb="POST", path="/pulls")
    code, out, err = run(project, "--confirm", "--allow-unverified")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"cannot open the pull request of {BRANCH} in octo/tools: {reason}" in err
    assert f"branch {BRANCH} is pushed; run the same command to continue" in err
    assert (sorted(project.heads()), hub.pulls) == (["main", BRANCH], [])


@pytest.mark.parametrize("as_json", slow_after(1, [False, True]), ids=["text", "json"])
def test_dry_run_changes_nothing_at_all(
    project: Project, hub: GithubStandIn, as_json: bool, entry_point
) -> None:
    with Agent(GOOD) as agent:
        project.configure(forge={"repo": hub.repo}, replay={"url": agent.url})
        before = project.fingerprint()
        words = promote(project, "--ask", "--json" if as_json else "-v")
        code, out, err = entry_point(project.root, *words)
    assert CANARY not in out + err
    assert (code, err, project.fingerprint() == before) == (0, "", True)
    assert hub.writes() == []
    assert len(agent.asked) == 3
    shown = json.loads(out)["body"] if as_json else out
    assert all(
        word in out for word in (BRANCH, "[CORELOOP-R] docs(analysis)", "reproduced (3 of 3 runs agree)")
    )
    assert "+- When: questions of category FIN-profitability-KR" in shown
    assert "첫째 질문" not in out


@pytest.mark.slow
def test_shallow_clone_is_refused(project: Project, tmp_path: Path) -> None:
    project.commit({})
    project.git("push", "--quiet", "origin", "main")
    clone = Project(tmp_path / "clone", project.remote)
    project.git("clone", "--quiet", "--depth=1", project.remote.as_uri(), str(clone.root))
    clone.candidates.parent.mkdir(parents=True)
    clone.candidates.write_bytes(project.candidates.read_bytes())
    code, _, err = run(clone, "--confirm", "--allow-unverified")
    assert (code, "this clone is shallow" in err, "git fetch --unshallow" in err) == (2, True, True)
    assert list(project.heads()) == ["main"]
