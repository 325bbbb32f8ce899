"""What promotion asks of GitHub and what it makes of the answers, both as the API description has them."""

from datetime import UTC, datetime, timedelta

import pytest
import requests

from coreloop.base.errors import ForgeError, ForgeNotFoundError, PullRequestExistsError
from coreloop.base.github.github_forge import GithubForge
from coreloop.base.github.protocol import PullRequest
from github_stand_in import Fault, GithubStandIn, Reply, Request
from github_stand_in.server import FIRST_DAY, sha_of_name

BRANCH = "skill/docstring-analysis-profitability-20260425"
TITLE = "[CORELOOP-R] docs(analysis): what to call for profitability"
KEY = "0123456789abcdef"
TRAILERS = f"Phase: R\nCandidate-Id: cand-001\nCandidate-Key: {KEY}"
BODY = f"What the model receives.\n\n{TRAILERS}\n\nReviewed-by: a tool\n"


def opened(forge: GithubForge) -> PullRequest:
    return forge.open_draft(branch=BRANCH, base="main", title=TITLE, body=BODY)


def writes(github: GithubStandIn) -> list[Request]:
    return [request for request in github.traffic if request.verb != "GET"]


def test_draft_is_opened_with_all_that_was_given(github: GithubStandIn, forge: GithubForge) -> None:
    pull = opened(forge)
    assert pull == PullRequest(
        number=1,
        url="https://github.example/octo/tools/pull/1",
        title=TITLE,
        state="open",
        draft=True,
        branch=BRANCH,
        base="main",
        head_sha=sha_of_name(BRANCH) or "",
        repo="octo/tools",
        head_repo="octo/tools",
        created_at=FIRST_DAY + timedelta(minutes=1),
        body=BODY,
    )
    assert [request.body["draft"] for request in writes(github)] == [True]


def test_second_draft_of_a_branch_is_told_apart_from_other_refusals(forge: GithubForge) -> None:
    opened(forge)
    with pytest.raises(
        PullRequestExistsError, match="A pull request already exists for octo:skill/docstring"
    ):
        opened(forge)


def test_branch_that_was_not_pushed_is_named(github: GithubStandIn, forge: GithubForge) -> None:
    github.sha_of = {"main": "0" * 40}.get
    try:
        with pytest.raises(ForgeError, match="head invalid"):
            opened(forge)
    finally:
        github.sha_of = sha_of_name


def test_label_is_put_on_once(github: GithubStandIn, forge: GithubForge) -> None:
    number = opened(forge).number
    forge.add_label(number)
    forge.add_label(number)
    assert github.pulls[0].labels == ["coreloop"]


@pytest.mark.parametrize("state", ["open", "closed", "merged"])
def test_key_is_found_in_every_state(github: GithubStandIn, forge: GithubForge, state: str) -> None:
    github.add_pull(branch=BRANCH, title=TITLE, body=BODY, state=state)
    found = forge.find_pull_request(KEY)
    assert found is not None
    assert (found.state, found.merged) == ("open" if state == "open" else "closed", state == "merged")


def test_pull_request_from_a_fork_is_nobodys_promotion(github: GithubStandIn, forge: GithubForge) -> None:
    github.add_pull(branch=BRANCH, title=TITLE, body=BODY, fork="mallory/tools")
    assert (forge.find_pull_request(KEY), forge.open_pull_requests()) == (None, ())


def test_pages_are_read_to_the_end(github: GithubStandIn, forge: GithubForge) -> None:
    github.add_pull(branch=BRANCH, body=BODY)
    for number in range(250):
        github.add_pull(branch=f"skill/caveat-{number}", state="open" if number % 2 else "merged", body=None)
    found = forge.find_pull_request(KEY)
    assert found is not None
    assert found.number == 1
    assert [request.query.get("page") for request in github.traffic] == [None, "2", "3"]
    assert {request.path for request in github.traffic} == {"/repos/octo/tools/pulls"}
    assert [pull.number for pull in forge.open_pull_requests()] == [1, *range(3, 252, 2)]


def test_search_stops_at_since(github: GithubStandIn, forge: GithubForge) -> None:
    github.add_pull(branch=BRANCH, body=BODY)
    for number in range(150):
        github.add_pull(branch=f"other-{number}")
    assert forge.find_pull_request(KEY, since=datetime(2026, 4, 1, 1, tzinfo=UTC)) is None
    assert len(github.traffic) == 1


REQUIRED = [
    pytest.param({"main": 2}, {}, id="ruleset"),
    pytest.param({}, {"main": 1}, id="classic"),
    pytest.param({"main": 0}, {"main": 3}, id="classic beside a weak ruleset"),
]
NOT_REQUIRED = [
    ({}, {}, "main is not protected"),
    ({"other": 1}, {"other": 1}, "main is not protected"),
    ({"main": 0}, {}, "main is not protected"),
    ({"main": None}, {}, "main is not protected"),
    ({}, {"main": 0}, "the protection of main does not require a review"),
    ({}, {"main": None}, "the protection of main does not require a review"),
]


@pytest.mark.parametrize(("rulesets", "protections"), REQUIRED)
def test_review_is_required(github, forge, rulesets, protections) -> None:
    github.rulesets, github.protections = rulesets, protections
    assert forge.unreviewed("main") == ""


@pytest.mark.parametrize(("rulesets", "protections", "reason"), NOT_REQUIRED)
def test_review_is_not_required(github, forge, rulesets, protections, reason) -> None:
    github.rulesets, github.protections = rulesets, protections
    assert forge.unreviewed("main") == f"no review is required: {reason}"


def test_protection_that_only_administrators_read_is_unknown(
    github: GithubStandIn, forge: GithubForge
) -> None:
    github.rights = "write"
    github.protections = {"main": 1}
    reason = forge.unreviewed("main")
    assert reason.startswith("it is unknown whether a review is required: ")
    assert "branch protection (404: Not Found)" in reason
    assert reason.endswith("read access to administration")


def test_missing_base_branch_is_an_error(github: GithubStandIn, forge: GithubForge) -> None:
    github.sha_of = {}.get
    try:
        with pytest.raises(
            ForgeNotFoundError, match=r"cannot read branch main of octo/tools: .*Branch not found"
        ):
            forge.unreviewed("main")
    finally:
        github.sha_of = sha_of_name


def test_stand_in_shows_a_pull_request(github: GithubStandIn) -> None:
    """Not asked by coreloop, but by tests of whole promotions: so it is held against the description here."""
    github.add_pull(branch=BRANCH, state="merged")
    answer = requests.get(
        f"{github.url}/repos/octo/tools/pulls/1",
        headers={"Authorization": f"token {github.token}"},
        timeout=5,
    )
    assert (answer.status_code, answer.json()["merged"]) == (200, True)


def test_answer_against_the_description_is_refused_by_prism(
    github: GithubStandIn, forge: GithubForge, request
) -> None:
    """The check itself: without it a silent Prism would pass everything."""
    if github.url == github.address:
        pytest.skip("straight to the stand-in nothing checks")
    github.fail(Fault(Reply(200, [{"number": 1}])))
    with pytest.raises(Exception, match="is unavailable"):
        forge.open_pull_requests()
