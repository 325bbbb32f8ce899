"""One comment of coreloop under a pull request: written once and then edited."""

from dataclasses import dataclass
from typing import Final, Literal

from coreloop.base.github.github_api import GithubApi

MARK: Final = "<!-- coreloop-effect -->"
"""First line of the comment, which GitHub does not show."""


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


@dataclass(frozen=True, slots=True)
class WrittenComment:
    """The page of a comment, and what was done."""

    url: str
    done: Literal["created", "edited", "unchanged"]


def write_comment(api: GithubApi, number: int, text: str) -> WrittenComment:
    """Write the comment under a pull request, or edit the one that is there.

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
                return WrittenComment(comment.html_url, "unchanged")
            doing = f"edit comment {comment.id} of {api.repo}"
            edited = api.patch(f"/issues/comments/{comment.id}", {"body": body}, doing=doing)
            return WrittenComment(edited.decoded(_Comment).html_url, "edited")
    doing = f"comment on pull request {number} of {api.repo}"
    created = api.post(place, {"body": body}, doing=doing).decoded(_Comment)
    return WrittenComment(created.html_url, "created")
