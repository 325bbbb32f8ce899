"""ai-policy.yml's steps, run one after the other as a runner does, against a GitHub on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from coreloop.guard.check import CONTEXT
from github_stand_in import Fault, GithubStandIn, Reply
from guarding import BOT, Payload, commit, edit, event, pull
from promoting import FILE, Project
from workflow_runner import RUN_ID, JobResult, WorkflowRunner

ROOT = Path(__file__).parents[3]
FLOW = yaml.safe_load((ROOT / ".github/workflows/ai-policy.yml").read_text(encoding="utf-8"))
JOB = FLOW["jobs"]["block-coreloop-auto-merge"]
pytestmark = pytest.mark.slow
Run = Callable[..., tuple[JobResult, list[str]]]
WAITS = "#1 waits for the approval of a human without a part in it"


@pytest.fixture
def head(project: Project, github: GithubStandIn) -> str:
    """The head of pull request 1, a promotion's draft, in a project that has the guard."""
    project.commit({".github/coreloop-requirements.txt": "installed already\n"}, "ci: the guard")
    project.git("switch", "--quiet", "--detach", "main")
    head = project.commit({FILE: edit()}, commit().message)
    project.git("switch", "--quiet", "main")
    project.git("push", "--quiet", str(project.remote), f"{head}:refs/pull/1/head")
    good = pull()
    opened = github.add_pull(branch=good.branch, title=good.title, body=good.body)
    opened.head_sha, opened.labels[:] = head, ["coreloop"]
    github.pushed_by[head] = "lee"
    return head


@pytest.fixture
def run(project: Project, github: GithubStandIn, head: str, tmp_path: Path, prepared: Path) -> Run:
    """Run the job for an event; gives its result, and the states of the head's status so far."""
    runner = WorkflowRunner(FLOW, project, github, tmp_path / "runner", prepared)

    def run(action: str, make: Any = event, **changes: Any) -> tuple[JobResult, list[str]]:
        project.git("push", "--quiet", "origin", "main")
        base = project.git("rev-parse", "main")
        payload = Payload(make(action, number=1, head_sha=head, base_sha=base, **changes)).as_json()
        name = "pull_request_review" if action in {"submitted", "dismissed"} else "pull_request"
        result = runner.run("block-coreloop-auto-merge", event_name=name, event=payload)
        return result, [status["state"] for status in github.statuses.get(head, ())]

    return run


def test_only_a_review_turns_the_status_green_and_its_dismissal_takes_it_back(
    run: Run, github: GithubStandIn, head: str
):
    (opened,) = github.pulls
    first, found = run("opened")
    assert (first.green, found) == (True, ["pending", "pending"]), first.log
    assert github.statuses[head][-1]["description"] == WAITS
    opened.draft = False
    assert run("ready_for_review", draft=False)[1][2:] == ["pending", "pending"]
    github.add_review(1, "kim", "APPROVED", head)
    assert run("submitted", draft=False)[1][4:] == ["pending", "success"]
    assert run("opened")[1][6:] == ["pending", "success"]  # a re-run
    github.add_review(1, "kim", "DISMISSED", head)
    assert run("dismissed", draft=False)[1][8:] == ["pending", "pending"]
    assert run("opened")[1][10:] == ["pending", "pending"]
    assert {status["context"] for status in github.statuses[head]} == {CONTEXT}


def test_what_the_rules_of_the_base_leave_open_is_said(run: Run, github: GithubStandIn, head: str, project):
    rules = {".github/branch_protection.yml": (ROOT / ".github/branch_protection.yml").read_bytes()}
    project.commit(rules, "ci: rules")
    github.add_review(1, "kim", "APPROVED", head)
    result, found = run("submitted", draft=False)
    assert found == ["pending", "success"]
    assert github.statuses[head][-1]["description"] == (
        f"passes, but main: a promotion can be merged while the guard is red (required check {CONTEXT})"
    )
    assert "\nnote: main: who pushed last can approve it (require_last_push_approval)\n" in result.log


def test_a_pusher_s_approval_does_not_count_and_the_status_links_to_the_run(
    run: Run, github: GithubStandIn, head: str
):
    github.pulls[0].draft = False
    github.add_review(1, "kim", "APPROVED", head)
    github.pushed_by |= {head: "Kim", "f" * 40: "lee"}
    assert run("submitted", draft=False)[1] == ["pending", "pending"]
    said = github.statuses[head][-1]
    assert said["description"] == WAITS
    assert said["target_url"] == f"https://github.com/octo/tools/actions/runs/{RUN_ID}"


def test_a_run_that_cannot_decide_leaves_no_older_green_and_still_takes_the_label_off(
    run: Run, github: GithubStandIn, head: str
):
    github.add_review(1, "kim", "APPROVED", head)
    assert run("opened")[1] == ["pending", "success"]
    opened = github.pulls[0]
    opened.draft = False
    opened.labels.append("automerge")
    github.fail(Fault(Reply(500, {})), verb="GET", path="/pulls/1", times=99)
    changes = {"labels": ("coreloop", "automerge"), "draft": False, "sender": BOT}
    result, states = run("labeled", label="automerge", **changes)
    assert (result.result, states[2:]) == ("failure", ["pending"])
    assert opened.labels == ["coreloop"]


def test_a_fork_gets_no_status_and_the_job_decides(run: Run, github: GithubStandIn):
    opened = github.pulls[0]
    for fork in ("mallory/tools", ""):
        opened.fork = fork
        result, found = run("opened", same_repo=False)
        assert (result.result, found) == ("failure", [])
        assert result.steps[-1].name == "Publish the decision"


def test_the_required_check_is_the_status_and_a_fork_s_job():
    rules = yaml.safe_load((ROOT / ".github/branch_protection.yml").read_text(encoding="utf-8"))
    assert rules["required_status_checks"] == [{"context": CONTEXT, "app_id": 15368}]
    assert JOB["name"] == (
        "${{ github.event_name != 'merge_group' "
        "&& github.event.pull_request.head.repo.full_name != github.repository "
        "&& github.event.pull_request.base.ref == github.event.repository.default_branch "
        f"&& '{CONTEXT}' || 'guard' }}}}"
    )
    first = JOB["steps"][0]
    assert f'"context": "{CONTEXT}"' in first["run"]
    assert first["run"].startswith('[ "$REQUIRED" = "true" ] || exit 0\n')
    assert JOB["env"]["REQUIRED"] == (
        "${{ github.event.merge_group.base_ref == format('refs/heads/{0}', "
        "github.event.repository.default_branch) "
        "|| (github.event.pull_request.head.repo.full_name == github.repository "
        "&& github.event.pull_request.base.ref == github.event.repository.default_branch) }}"
    )
