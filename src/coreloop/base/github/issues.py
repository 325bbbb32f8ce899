"""The dashboard: one issue of a repository, found by its label, created once and then edited."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.github_errors import wrong_answer

DASHBOARD_LABEL: Final = "coreloop-dashboard"
DASHBOARD_TITLE: Final = "coreloop: what waits and what is wrong"
LONGEST_BODY: Final = 60_000
"""Characters; GitHub takes 65,536."""


@dataclass(frozen=True, slots=True)
class _Label:
    name: str | None = None


@dataclass(frozen=True, slots=True)
class _Issue:
    number: int
    html_url: str
    labels: tuple[_Label | str, ...] = ()
    pull_request: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class WrittenIssue:
    """The page of an issue, and whether it was created now."""

    url: str
    created: bool


def write_dashboard(api: GithubApi, body: str) -> WrittenIssue:
    """Edit the oldest issue with the dashboard's label, or create it.

    Only people with triage access can set a label, so nobody else's issue is taken for the dashboard. A
    closed issue is edited and stays closed.

    Raises
    ------
    ForgeError
        The token lacks ``issues: write``, or issues are disabled.
    """
    text = body if len(body) <= LONGEST_BODY else body[: LONGEST_BODY - 2] + "\n…"
    doing = f"list the issues of {api.repo}"
    query = {"labels": DASHBOARD_LABEL, "state": "all", "sort": "created", "direction": "asc"}
    for issue in api.pages("/issues", list[_Issue], doing=doing, **query):
        if issue.pull_request is None:  # GitHub lists pull requests as issues
            doing = f"edit issue {issue.number} of {api.repo}"
            edited = api.patch(f"/issues/{issue.number}", {"body": text}, doing=doing).decoded(_Issue)
            return WrittenIssue(edited.html_url, created=False)
    return _create(api, text)


def _create(api: GithubApi, body: str) -> WrittenIssue:
    doing = f"create the dashboard issue in {api.repo}"
    fields = {"title": DASHBOARD_TITLE, "body": body, "labels": [DASHBOARD_LABEL]}
    issue = api.post("/issues", fields, doing=doing).decoded(_Issue)
    names = {label if isinstance(label, str) else label.name for label in issue.labels}
    if DASHBOARD_LABEL not in names:  # GitHub drops labels silently if the token may not set them
        raise wrong_answer(
            doing, f"{issue.html_url} has no label {DASHBOARD_LABEL}: add it, or close the issue"
        )
    return WrittenIssue(issue.html_url, created=True)
