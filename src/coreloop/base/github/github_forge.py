"""GitHub as the forge of promotions.

The only writes open a draft pull request, change its title and text, or add coreloop's label.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import takewhile
from typing import Any, Self

import requests
import urllib3
from github import Auth, Github

from coreloop.base.errors import ForgeError
from coreloop.base.git.trailers import LABEL
from coreloop.base.github.branch_rules import read_rules
from coreloop.base.github.github_api import API_VERSION, ApiAnswer, GithubApi
from coreloop.base.github.github_errors import moved, no_answer, wrong_answer
from coreloop.base.github.protocol import PullRequest

PACE_S = (0.25, 1.0)
"""Seconds between requests, and between writes, as GitHub recommends."""

# PyGithub logs to stderr by default, where an error must be a single line. Configured logging is unaffected.
logging.getLogger("github").handlers[:] = [logging.NullHandler()]


class _PygithubApi(GithubApi):
    """The API with PyGithub, which does the pacing, and logging with a masked token.

    Its objects are not used: they take null for an empty list and a redirected write for success, ask again
    for missing fields, and know no branch rules.
    """

    def __init__(self, repo: str, token: str, *, base_url: str, tries: int, timeout_s: int) -> None:
        super().__init__(repo, token, base_url=base_url, timeout_s=timeout_s, tries=tries)
        self.github = Github(
            auth=Auth.Token(self._token),
            base_url=self._base_url,
            retry=None,
            timeout=timeout_s,
            user_agent="coreloop",
            seconds_between_requests=PACE_S[0],
            seconds_between_writes=PACE_S[1],
            api_version=API_VERSION,
        )

    def _ask(self, verb: str, url: str, body: Mapping[str, Any] | None, doing: str) -> ApiAnswer:
        try:
            status, headers, text = self.github.requester.requestJson(verb, url, input=body)
        except Exception as exc:  # its own, and those of its libraries
            raise translate(exc, doing, timeout_s=self._timeout_s) from None  # its frames hold the token
        return ApiAnswer(doing, status, headers, text.replace(self._token, "***"))


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
    ForgeAuthError
        `token` is empty or invalid.
    UsageError
        `repo` or the address is invalid.
    """

    __slots__ = ("_api",)

    def __init__(self, repo: str, *, token: str, base_url: str, tries: int = 1, timeout_s: int = 15) -> None:
        self._api = _PygithubApi(repo, token, base_url=base_url, tries=tries, timeout_s=timeout_s)

    def __repr__(self) -> str:
        return f"GithubForge({self._api.repo!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._api.github.close()

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
            # PyGithub follows the redirect of a renamed repository without the query, so without state=all
            if pull.repo.lower() != self._api.repo.lower():
                raise moved(doing, to=pull.repo)
            yield pull


def translate(exc: Exception, doing: str, *, timeout_s: int) -> ForgeError:
    """The ForgeError for a foreign exception, without the exception's text."""
    if isinstance(exc, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return no_answer(doing, f"no answer within {timeout_s} s")
    if isinstance(exc, requests.exceptions.SSLError):
        return no_answer(doing, "the server's certificate is not trusted")
    if isinstance(exc, requests.RequestException | urllib3.exceptions.HTTPError | OSError):
        return no_answer(doing, "the connection failed")
    return wrong_answer(doing, type(exc).__name__)
