"""Whole promotions: a project with a bare remote, an agent that is asked again, and GitHub."""

import sys
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import GitError, HumanDecidesError, RefusedError
from coreloop.base.github.protocol import Forge
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import open_workspace
from coreloop.promote import draft_pull_request
from coreloop.promote.commits import WritableRepository
from coreloop.promote.draft_pull_request import Done
from coreloop.promote.plan import Promoting
from coreloop.promote.proposal_entry import read_proposal
from coreloop.promote.replay import ask_again
from github_stand_in import GithubStandIn
from merging import read_trailers
from promoting import (
    BRANCH,
    FILE,
    GOOD,
    ID,
    KEY,
    LINES,
    OTHER,
    REACH,
    SOURCE,
    Agent,
    Project,
    candidate,
    statement,
    suggested,
    write_candidates,
    write_counterexamples,
)
from rows import slow_after

NOBODY = "http://127.0.0.1:1/api/ask"
UNVERIFIED = frozenset({"unverified"})


def promote(
    project: Project,
    forge: Forge | None,
    overrides: frozenset[str] = UNVERIFIED,
    wanted: str = ID,
    path: Path | None = None,
    **changes: Any,
) -> Done:
    """What the command does with --confirm."""
    workspace = open_workspace(project.root)
    repository = WritableRepository(workspace.root)
    promoting = Promoting(
        workspace=workspace,
        repository=repository,
        proposals=(read_proposal(path or project.candidates, wanted, Settings()),),
        ask=lambda entry: ask_again(entry, workspace, runs=None, confirmed=True),
        overrides=overrides,
        **changes,
    )
    _, done = draft_pull_request.promote(promoting, forge)
    return done


def assert_nothing_done(project: Project, github: GithubStandIn) -> None:
    assert github.writes() == []
    assert list(project.heads()) == ["main"]


def test_a_promotion_s_draft_has_the_commit_s_trailers_and_a_label(project, hub, forge) -> None:
    with Agent(GOOD) as agent:
        project.configure(replay={"url": agent.url})
        done = promote(project, forge, frozenset())
    assert (done.branch, done.fresh, done.pull_request.draft) == (BRANCH, True, True)
    project.git("fetch", "--quiet", "origin")
    [pull] = hub.pulls
    assert pull.title == "[CORELOOP-R] docs(analysis): how it is used with success"
    assert read_trailers(project.git("log", "-1", "--format=%B", f"origin/{BRANCH}")) == read_trailers(
        pull.body
    )
    assert pull.labels == ["coreloop"]
    assert "Note:" not in pull.body


def test_a_merged_promotion_gets_no_second_pull_request(project, hub, forge) -> None:
    promote(project, forge)
    project.git("fetch", "--quiet", "origin")
    project.git("merge", "--quiet", "--ff-only", f"origin/{BRANCH}")
    project.commit({FILE: SOURCE}, "Say it shorter")
    project.git("push", "--quiet", "origin", "main")
    hub.pulls[0].state, hub.pulls[0].merged_at = "closed", hub.pulls[0].created_at
    with pytest.raises(HumanDecidesError, match="was merged"):
        promote(project, forge)
    assert len(hub.pulls) == 1


@pytest.mark.slow
def test_a_replay_that_could_not_be_made_is_noted_where_it_is_allowed(project, hub, forge) -> None:
    project.configure(replay={"url": NOBODY})
    promote(project, forge)
    [pull] = hub.pulls
    assert read_trailers(pull.body)["Replay"] == "unavailable"
    assert "> **Note:** replay: " in pull.body
    assert "the endpoint cannot be reached" in pull.body


FIRST_LINE = "import json, tools.finance as module; text = module.analysis.__doc__.strip().splitlines()[0]; "
SHORT = [
    sys.executable,
    "-c",
    f"{FIRST_LINE} print(json.dumps([{{'name': 'analysis', 'description': text}}]))",
]


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [False, True], ids=["no flag", "--allow-unreached"])
@pytest.mark.parametrize(
    ("reach", "reason"),
    slow_after(
        1,
        [
            pytest.param({}, "unmeasured, so it is unknown", id="unmeasured"),
            pytest.param({"command": SHORT}, "2 new lines not in the description", id="left out"),
        ],
    ),
)
def test_reach_decides(project, hub, forge, reach, reason: str, allowed: bool) -> None:
    project.configure(reach=reach)
    overrides = UNVERIFIED | ({"unreached"} if allowed else set())
    if allowed:
        promote(project, forge, overrides)
        assert f"> **Note:** reach: {reason}" in hub.pulls[0].body
    else:
        with pytest.raises(RefusedError, match=f"reach: {reason}.*; --allow-unreached goes on$"):
            promote(project, forge, overrides)
        assert_nothing_done(project, hub)


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [False, True], ids=["no flag", "--allow-unreached"])
def test_nothing_allows_a_description_that_a_provider_does_not_take(
    project, hub, forge, allowed: bool
) -> None:
    write_candidates(project.candidates, candidate())
    project.configure(reach={**REACH, "caps": {"openai": 30}})
    with pytest.raises(
        RefusedError, match=r"^reach: every request to openai would fail: .* over its limit of 30 "
    ):
        promote(project, forge, UNVERIFIED | ({"unreached"} if allowed else set()))
    assert_nothing_done(project, hub)


@pytest.mark.parametrize("allowed", [False, True], ids=["no flag", "--allow-unprotected"])
def test_base_branch_must_ask_for_a_review(project, hub, forge, allowed: bool) -> None:
    hub.protections = {}
    if allowed:
        promote(project, forge, UNVERIFIED | {"unprotected"})
        assert len(hub.pulls) == 1
        return
    reason = "no review is required: main is not protected.*; protect main, or use --allow-unprotected"
    with pytest.raises(RefusedError, match=reason):
        promote(project, forge)
    assert_nothing_done(project, hub)


def test_fork_as_the_remote_is_refused_before_the_push(project, hub, forge) -> None:
    fork = "https://github.com/me/tools.git"
    project.git("remote", "set-url", "origin", fork)
    project.git("config", f"url.{project.remote}.insteadOf", fork)
    project.configure(forge={"repo": "octo/tools"})
    for connected in (forge, None):
        with pytest.raises(RefusedError, match="origin is me/tools, but pull requests go to octo/tools"):
            promote(project, connected)
    assert hub.traffic == []
    assert_nothing_done(project, hub)


@pytest.mark.slow
def test_no_more_than_max_open_at_once(project, hub, forge) -> None:
    project.configure(forge={"max_open": 2})
    project.git("push", "--quiet", "origin", "main:skill/caveat-a", "main:skill/docstring-b")
    hub.add_pull(branch="skill/caveat-a")
    hub.add_pull(branch="feature")
    hub.add_pull(branch="skill/docstring-b", state="merged")
    hub.add_pull(branch="x", title="[CORELOOP-F] docs(show): how it fails")
    with pytest.raises(
        RefusedError, match="2 promotions are open, max_open is 2; merge or close a pull request first"
    ):
        promote(project, forge)
    assert hub.writes() == []
    assert BRANCH not in project.heads()


@pytest.mark.slow
@pytest.mark.parametrize("answer", [OTHER, "off"], ids=["another answer", "off"])
def test_published_branch_keeps_its_verdict_and_gets_its_pull_request(project, hub, forge, answer) -> None:
    """Killed after the push; the agent does not answer as well the next time."""
    with Agent(GOOD) as agent:
        project.configure(replay={"url": agent.url})
        promote(project, None, frozenset())
    with Agent(answer) as agent:
        project.configure(replay={"url": NOBODY if answer == "off" else agent.url})
        done = promote(project, forge, frozenset())
    assert (agent.asked, done.branch, len(hub.pulls)) == ([], BRANCH, 1)
    assert read_trailers(hub.pulls[0].body)["Replay"] == "reproduced"


def other_text(project: Project) -> None:
    body = "\n".join(LINES).replace("analysis(company, ", "analysis(")
    write_candidates(project.candidates, candidate(suggested_append=suggested(body=body)))


def other_file_too(project: Project) -> None:
    project.git("fetch", "--quiet", "origin")
    project.git("switch", "--quiet", "--detach", f"origin/{BRANCH}")
    (project.root / "more.txt").write_text("x")
    project.git("add", "more.txt")
    project.git("commit", "--quiet", "--amend", "--no-edit")
    project.git("push", "--quiet", "--force", "origin", f"HEAD:{BRANCH}")


@pytest.mark.slow
@pytest.mark.parametrize("change", [other_text, other_file_too])
def test_branch_that_a_person_changed_is_left_as_it_is(project, hub, forge, change) -> None:
    promote(project, None)
    change(project)
    heads = project.heads()
    with pytest.raises(RefusedError, match=f"branch {BRANCH} has other text than {ID}"):
        promote(project, forge)
    assert (hub.writes(), project.heads()) == ([], heads)


@pytest.mark.slow
@pytest.mark.parametrize("fork", ["mallory/tools", None], ids=["a fork", "a member's branch"])
@pytest.mark.parametrize("state", slow_after(1, ["open", "closed"]))
def test_copied_trailers_neither_capture_nor_block_a_promotion(project, hub, forge, fork, state) -> None:
    branch = BRANCH if fork else "feature"
    project.git("push", "--quiet", "origin", "main:feature")
    hub.add_pull(branch=branch, body=f"Phase: R\nCandidate-Key: {KEY}\n", state=state, fork=fork)
    done = promote(project, forge)
    assert (done.fresh, done.pull_request.number, hub.pulls[0].labels) == (True, 2, [])


@pytest.mark.slow
def test_foreign_branch_of_that_name_is_left_alone(project, hub, forge) -> None:
    project.git("push", "--quiet", "origin", f"main:{BRANCH}")
    foreign = project.heads()[BRANCH]
    assert promote(project, forge).branch == f"{BRANCH}-2"
    assert project.heads()[BRANCH] == foreign


@pytest.mark.slow
def test_refused_push_leaves_nothing(project, hub, forge) -> None:
    hook = project.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError, match=r"\(pre-receive hook declined\)"):
        promote(project, forge)
    assert_nothing_done(project, hub)


@pytest.mark.slow
def test_base_that_moved_on_at_the_remote_is_what_is_edited(project, hub, forge) -> None:
    """The work tree is behind and has commits of its own: a diverged base."""
    old = project.git("rev-parse", "HEAD")
    theirs = project.commit({FILE: SOURCE.replace(b"Which.", b"Which one.")}, "theirs")
    project.git("push", "--quiet", "origin", "main")
    project.git("reset", "--quiet", "--hard", old)
    project.commit({FILE: b"broken ("}, "mine, not pushed")
    promote(project, forge)
    assert project.git("rev-parse", f"{project.heads()[BRANCH]}^") == theirs


def dirty(project: Project) -> None:
    (project.root / FILE).write_bytes(b"broken (")
    project.git("add", FILE)
    (project.root / "new.py").write_bytes(b"x")


def detached(project: Project) -> None:
    project.git("checkout", "--quiet", "--detach")


def elsewhere(project: Project) -> None:
    project.git("switch", "--quiet", "--orphan", "empty")
    project.configure()


@pytest.mark.parametrize("state", slow_after(1, [dirty, detached, elsewhere]))
def test_checkout_is_not_touched(project, hub, forge, state) -> None:
    state(project)
    git = project.root / ".git"
    before = {path: project.fingerprint()[str(path)] for path in (git / "HEAD", git / "config")}
    status, heads = (
        project.git("status", "--porcelain", "--branch"),
        project.git("for-each-ref", "refs/heads"),
    )
    promote(project, forge)
    assert {path: project.fingerprint()[str(path)] for path in before} == before
    assert project.git("status", "--porcelain", "--branch") == status
    assert project.git("for-each-ref", "refs/heads") == heads
    assert len(hub.pulls) == 1


@pytest.mark.slow
def test_promoted_candidate_is_refused_and_so_is_a_reverted_one(project) -> None:
    promote(project, None)
    project.git("fetch", "--quiet")
    project.git("merge", "--quiet", "--ff-only", f"origin/{BRANCH}")
    project.git("push", "--quiet", "origin", "main", f":{BRANCH}")
    with pytest.raises(RefusedError, match=f"{ID} is already promoted: commit "):
        promote(project, None)
    project.git("revert", "--no-edit", "HEAD")
    project.git("push", "--quiet", "origin", "main")
    with pytest.raises(RefusedError, match=f"{ID} was promoted and reverted: commit "):
        promote(project, None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    slow_after(
        1,
        [
            ({"line": "- password: from show().x"}, "the base declares no argument password"),
            (
                {"line": '- axis="growth" fails', "kind": "value"},
                "the base declares no value growth",
            ),
        ],
    ),
)
def test_statement_of_what_the_base_branch_does_not_declare_is_refused(
    project, hub, forge, changes, reason
) -> None:
    entry = statement(**changes)
    path, write = project.candidates, write_candidates
    if entry["kind"] != "source":
        path, write = path.with_name("2026-04-25-counterexamples.json"), write_counterexamples
    write(path, entry)
    with pytest.raises(RefusedError, match=rf"{FILE}::analysis: the guard would stop it: {reason}\. "):
        promote(project, forge, wanted=entry["id"], path=path)
    assert_nothing_done(project, hub)
