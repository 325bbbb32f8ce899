"""What coreloop writes on GitHub once and then edits: the dashboard issue, a comment under a change."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.github_errors import wrong_answer

DASHBOARD_LABEL: Final = "coreloop-dashboard"
DASHBOARD_TITLE: Final = "coreloop: what waits and what is wrong"
LONGEST_BODY: Final = 60_000
"""Characters; GitHub takes 65,536."""


MARK: Final = "<!-- coreloop-effect -->"
"""First line of the comment, which GitHub does not show."""


@dataclass(frozen=True, slots=True)
class _Label:
    name: str | None = None


@dataclass(frozen=True, slots=True)
class _Issue:
    number: int
    html_url: str
    labels: tuple[_Label, ...] = ()
    pull_request: dict[str, Any] | None = None


def write_dashboard(api: GithubApi, body: str) -> str:
    """Edit the oldest issue with the dashboard's label, or create it; returns what was done, and its page.

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
            edited = api.send("PATCH", f"/issues/{issue.number}", {"body": text}, doing=doing).decoded(_Issue)
            return f"edited {edited.html_url}"
    return _create(api, text)


def _create(api: GithubApi, body: str) -> str:
    doing = f"create the dashboard issue in {api.repo}"
    fields = {"title": DASHBOARD_TITLE, "body": body, "labels": [DASHBOARD_LABEL]}
    issue = api.send("POST", "/issues", fields, doing=doing).decoded(_Issue)
    # GitHub drops labels silently if the token may not set them
    if _Label(DASHBOARD_LABEL) not in issue.labels:
        why = f"{issue.html_url} has no label {DASHBOARD_LABEL}: add it, or close the issue"
        raise wrong_answer(doing, why)
    return f"created {issue.html_url}"


@dataclass(frozen=True, slots=True)
class _User:
    type: str = ""


@dataclass(frozen=True, slots=True)
class _Comment:
    id: int
    html_url: str
    body: str | None = None
    user: _User | None = None

    @property
    def is_ours(self) -> bool:
        """Whether a workflow or an App wrote it: a person may copy the mark."""
        return (self.body or "").startswith(MARK) and self.user is not None and self.user.type == "Bot"


def write_comment(api: GithubApi, number: int, text: str) -> str:
    """Write the comment under a pull request, or edit the one that is there.

    Returns what was done, and the comment's page.

    Parameters
    ----------
    api : GithubApi
        With a token that may write issues or pull requests.
    number : int
        The number of the pull request.
    text : str
        Markdown, without the mark.

    Raises
    ------
    ForgeError
        There is no such pull request, or the token may not write.
    """
    body, place = f"{MARK}\n{text}", f"/issues/{number}/comments"
    doing = f"list the comments of pull request {number} of {api.repo}"
    for comment in api.pages(place, list[_Comment], doing=doing):
        if comment.is_ours:
            if (comment.body or "").replace("\r\n", "\n").strip() == body.strip():
                return f"unchanged {comment.html_url}"
            doing = f"edit comment {comment.id} of {api.repo}"
            edited = api.send("PATCH", f"/issues/comments/{comment.id}", {"body": body}, doing=doing)
            return f"edited {edited.decoded(_Comment).html_url}"
    doing = f"comment on pull request {number} of {api.repo}"
    created = api.send("POST", place, {"body": body}, doing=doing).decoded(_Comment)
    return f"created {created.html_url}"
