"""GitHub as the forge of promotions.

The only writes open a draft pull request, change its title and text, or add coreloop's label.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

from coreloop.base.git.trailers import LABEL
from coreloop.base.github.branch_rules import read_rules
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.github_errors import moved, wrong_answer
from coreloop.base.github.protocol import PullRequest

PACE_S = (0.25, 1.0)
"""Seconds between requests, and before writes, as GitHub recommends."""


class GithubForge:
    """A `Forge` of one GitHub repository.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    token : str
        The token from GITHUB_TOKEN or GH_TOKEN.
    base_url, tries, timeout_s
        See `GithubApi`.

    Raises
    ------
    ForgeError
        `token` is empty or invalid.
    UsageError
        `repo` or the address is invalid.
    """

    __slots__ = ("_api",)

    def __init__(self, repo: str, *, token: str, base_url: str, tries: int = 1, timeout_s: int = 15) -> None:
        self._api = GithubApi(repo, token, base_url=base_url, tries=tries, timeout_s=timeout_s, pace_s=PACE_S)

    def __repr__(self) -> str:
        return f"GithubForge({self._api.repo!r})"

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """All open pull requests of coreloop, oldest first."""
        pulls = self._pulls(f"list the open pull requests of {self._api.repo}", state="open", direction="asc")
        # by number: a page may repeat pull requests that moved while the previous page was read
        return tuple({pull.number: pull for pull in pulls if pull.is_coreloop}.values())

    def closed_pull_requests(self, *, since: datetime) -> tuple[PullRequest, ...]:
        """Pull requests of coreloop opened after `since` and closed without a merge, newest first."""
        doing = f"list the closed pull requests of {self._api.repo}"
        pulls = self._pulls(doing, state="closed", direction="desc")
        recent = takewhile(lambda pull: pull.created_at >= since, pulls)
        ours = (pull for pull in recent if pull.is_coreloop and not pull.merged)
        return tuple({pull.number: pull for pull in ours}.values())

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """The newest pull request, in any state, that has the candidate's `key`; see `PullRequest.has_key`.

        Reads the list, since GitHub's search indexes new pull requests with a delay. Newest first, so that
        pull requests opened meanwhile make pages overlap rather than skip entries.

        Parameters
        ----------
        key : str
            Value of the trailer ``Candidate-Key``.
        since : datetime | None
            Time zone aware; ignores pull requests opened earlier. None reads the complete history.
        """
        doing = f"look for the pull request of {key} in {self._api.repo}"
        pulls = self._pulls(doing, state="all", direction="desc")
        recent = takewhile(lambda pull: since is None or pull.created_at >= since, pulls)
        return next((pull for pull in recent if pull.has_key(key)), None)

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a draft pull request of the pushed `branch` for `base`.

        Raises
        ------
        PullRequestExistsError
            The branch already has a pull request.
        ForgeUnavailableError
            No answer came. The pull request may exist: look for its key before trying again.
        """
        doing = f"open the pull request of {branch} in {self._api.repo}"
        fields = {"title": title, "head": branch, "base": base, "body": body, "draft": True}
        pull = self._api.send("POST", "/pulls", fields, doing=doing).decoded(PullRequest)
        if not pull.draft:
            raise wrong_answer(doing, f"{pull.url} was opened, but not as a draft: close it")
        return pull

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Change the title and text of a pull request."""
        doing = f"rewrite pull request {number} of {self._api.repo}"
        self._api.send("PATCH", f"/pulls/{number}", {"title": title, "body": body}, doing=doing)

    def add_label(self, number: int) -> None:
        """Add the label ``coreloop`` to a pull request.

        No other label can be added: other automation may treat it as permission to merge.
        """
        doing = f"label pull request {number} of {self._api.repo}"
        self._api.send("POST", f"/issues/{number}/labels", {"labels": [LABEL]}, doing=doing)

    def unreviewed(self, base: str) -> str:
        """Why a change may reach `base` without a review, as far as is known; empty if one is required."""
        rules = read_rules(self._api, base)
        if rules.approvals:
            return ""
        if rules.unread:
            what = "it is unknown whether a review is required: the token may not read the"
            return f"{what} {rules.unread}; give it read access to administration"
        if rules.classic:
            return f"no review is required: the protection of {base} does not require a review"
        return f"no review is required: {base} is not protected"

    def _pulls(self, doing: str, *, state: str, direction: str) -> Iterator[PullRequest]:
        query = {"state": state, "sort": "created", "direction": direction}
        for pull in self._api.pages("/pulls", list[PullRequest], doing=doing, **query):
            # the redirect of a renamed repository may lose the query, and so state=all
            if pull.repo.lower() != self._api.repo.lower():
                raise moved(doing, to=pull.repo)
            yield pull
