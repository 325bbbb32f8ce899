"""The guard's job step by step in a stranger's project: the merge queue, and what act takes back."""

from typing import Any

import pytest

from github_stand_in import Fault, GithubStandIn, Reply
from guarding import event, ordinary_event
from promoting import BRANCH, Project
from stranger import Guarded, merge_group, promote, pull_request, show, states, work

pytestmark = pytest.mark.slow
NUMBER = 7
CHECK, FALLBACK = "Decide", "Without coreloop on the base, stop what claims to be a promotion"
REFUSED = Fault(Reply(403, {"message": "Resource not accessible by integration"}))


def queue(project: Project, github: GithubStandIn, make: Any = event, number: int = NUMBER) -> dict[str, Any]:
    """Queue the commit that is checked out, as the pull request of a payload; gives the group's payload."""
    made = pull_request(project, make("enqueued", number=number, draft=False))
    show(github, made["pull_request"])
    head = project.git("rev-parse", "HEAD")
    github.messages[head] = project.git("log", "-1", "--format=%B", head)
    project.git("switch", "--quiet", "--detach", made["pull_request"]["base"]["sha"])
    subject = f"Merge pull request #{number} from octo/{made['pull_request']['head']['ref']}"
    project.git("merge", "--quiet", "--no-ff", "-m", subject, head)
    return merge_group(project, number=number)


def approve(github: GithubStandIn, number: int = NUMBER) -> None:
    head = github.pulls[number - 1].head_sha
    github.pushed_by[head] = "lee"
    github.add_review(number, "kim", "APPROVED", head)


# --- the merge queue -------------------------------------------------------------------------------


def test_queued_promotion_needs_an_approval(merged: Project, guarded: Guarded, github: GithubStandIn):
    promote(merged)
    group = queue(merged, github)
    result = guarded(group, "merge_group")
    assert result.green, result.log  # the job has decided; what is required is the status
    assert states(github, group) == ["pending", "failure"]
    (sha,) = github.statuses
    assert github.statuses[sha][-1]["description"].startswith("#7 waits for the approval of a human")
    approve(github)
    assert guarded(group, "merge_group").green
    assert states(github, group)[2:] == ["pending", "success"]


def test_label_and_auto_merge_of_a_queued_promotion_are_taken_back(
    merged: Project, guarded: Guarded, github: GithubStandIn
):
    promote(merged)
    group = queue(merged, github)
    queued = github.pulls[NUMBER - 1]
    queued.labels[:], queued.auto_merge = ["coreloop", "automerge"], True
    approve(github)
    result = guarded(group, "merge_group")
    assert result.green, result.log
    assert "took off the label automerge of #7\ntook off auto-merge of #7" in result.log
    assert (queued.labels, queued.auto_merge) == (["coreloop"], False)
    assert states(github, group) == ["pending", "success"]


def test_group_whose_pull_request_cannot_be_read_stays_undecided(
    merged: Project, guarded: Guarded, github: GithubStandIn
):
    promote(merged)
    group = queue(merged, github)
    approve(github)
    github.fail(REFUSED, verb="GET", path="/pulls/7", times=2)
    result = guarded(group, "merge_group")
    assert not result.green
    assert CHECK not in result.ran()
    assert states(github, group) == ["pending"]


@pytest.mark.parametrize("promotes", [False, True], ids=["ordinary", "promotion"])
def test_group_before_coreloop_is_there_is_decided_by_its_commits(
    promotes: bool, stranger: Project, guarded: Guarded, github: GithubStandIn
):
    promote(stranger) if promotes else work(stranger)
    group = queue(stranger, github, event if promotes else ordinary_event)
    result = guarded(group, "merge_group")
    assert FALLBACK in result.ran()
    assert result.green is not promotes, result.log
    assert states(github, group) == ["pending", "failure" if promotes else "success"]


# --- what act takes back ---------------------------------------------------------------------------


@pytest.fixture
def opened(merged: Project, github: GithubStandIn) -> Any:
    """Pull request 1 on GitHub, a promotion whose commit is checked out."""
    opened = github.add_pull(branch=BRANCH)
    opened.labels[:] = ["coreloop"]
    promote(merged)
    return opened


def test_without_a_first_answer_act_decides_from_the_event(
    opened: Any, merged: Project, guarded: Guarded, github: GithubStandIn
):
    opened.labels.append("automerge")
    payload = pull_request(merged, event("labeled", number=1, label="automerge"))
    github.fail(REFUSED, verb="GET", path="/pulls/1")
    result = guarded(payload)
    assert result.green, result.log
    assert "cannot read #1" in result.log
    assert "took off the label automerge of #1" in result.log
    assert opened.labels == ["coreloop"]
    assert states(github, payload) == ["pending", "pending"]
