"""The dashboard issue: one per repository, created and then edited, as the API description has it."""

import pytest

from coreloop.base.errors import ForgeError, ForgeForbiddenError
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.issues import DASHBOARD_LABEL, DASHBOARD_TITLE, write_dashboard
from github_stand_in import GithubStandIn


def test_issue_is_created_once_and_then_edited(github: GithubStandIn, api: GithubApi) -> None:
    url = "https://github.example/octo/tools/issues/1001"
    assert write_dashboard(api, "first night") == f"created {url}"
    assert write_dashboard(api, "second night") == f"edited {url}"
    [issue] = github.issues
    assert (issue.title, issue.body, issue.labels) == (DASHBOARD_TITLE, "second night", [DASHBOARD_LABEL])
    issues = "/repos/octo/tools/issues"
    assert github.writes() == [f"POST {issues}", f"PATCH {issues}/1001"]


def test_issues_and_pull_requests_of_others_are_left_alone(github: GithubStandIn, api: GithubApi) -> None:
    github.add_issue(DASHBOARD_TITLE, "somebody's")
    github.add_pull(branch="other", body="theirs").labels.append(DASHBOARD_LABEL)
    assert write_dashboard(api, "night").startswith("created ")
    assert [issue.body for issue in github.issues] == ["somebody's", "night"]
    assert github.pulls[0].body == "theirs"


def test_closed_issue_is_edited_and_stays_closed(github: GithubStandIn, api: GithubApi) -> None:
    issue = github.add_issue(DASHBOARD_TITLE, "old", DASHBOARD_LABEL)
    issue.state = "closed"
    assert write_dashboard(api, "new").startswith("edited ")
    assert (issue.body, issue.state) == ("new", "closed")


def test_token_that_may_not_label_does_not_make_an_issue_every_night(
    github: GithubStandIn, api: GithubApi
) -> None:
    github.rights = "write"
    with pytest.raises(ForgeError, match="has no label coreloop-dashboard: add it, or close the issue"):
        write_dashboard(api, "night")


def test_token_that_may_not_write_issues_is_an_error(github: GithubStandIn, api: GithubApi) -> None:
    github.rights = "app"
    with pytest.raises(ForgeForbiddenError, match="cannot create the dashboard issue in octo/tools"):
        write_dashboard(api, "night")
