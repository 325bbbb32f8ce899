"""The guard's job step by step in a stranger's project: the merge queue."""

from typing import Any

import pytest

from github_stand_in import Fault, GithubStandIn, Reply
from guarding import event
from promoting import Project
from stranger import Guarded, merge_group, promote, pull_request, show, states

pytestmark = pytest.mark.slow
NUMBER = 7
CHECK, FALLBACK = "Decide", "Without coreloop, stop what claims to be a promotion"
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
