"""GitHub as the forge: the operations, and the shapes of their answers.

The only writes open a draft pull request, change its title and text, or add coreloop's label.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Any, Literal, Self
from urllib.parse import quote

import requests
import urllib3
from github import Auth, Github, GithubException, RateLimitExceededException

from coreloop.base.errors import ForgeError, ForgeForbiddenError, ForgeNotFoundError
from coreloop.base.git.trailers import LABEL
from coreloop.base.github.github_api import API_VERSION, DEFAULT_URL, ApiAnswer, GithubApi, Verb
from coreloop.base.github.github_errors import (
    moved,
    no_answer,
    quoted,
    rate_limit,
    refusal,
    wrong_answer,
)
from coreloop.base.github.protocol import (
    PullRequest,
    ReviewNotRequired,
    ReviewRequired,
    ReviewRule,
    ReviewUnknown,
)

# PyGithub logs to stderr by default, where an error must be a single line. Configured logging is unaffected.
logging.getLogger("github").handlers[:] = [logging.NullHandler()]


@dataclass(frozen=True, slots=True)
class Connection:
    """Connection settings for GitHub.

    Attributes
    ----------
    base_url : str
        Address of the API: GITHUB_API_URL on GitHub Enterprise. Plain http only to this machine.
    tries : int
        Attempts in all, for requests that only read.
    timeout_s : int
        Longest wait for data from the server.
    seconds_between_requests, seconds_between_writes : float
        The pace that GitHub recommends.
    """

    base_url: str = DEFAULT_URL
    tries: int = 1
    timeout_s: int = 15
    seconds_between_requests: float = 0.25
    seconds_between_writes: float = 1.0


class _PygithubApi(GithubApi):
    """The API with PyGithub, which does the pacing, and logging with a masked token.

    Its objects are not used: they take null for an empty list, ask again for missing fields, and know no
    branch rules.
    """

    def __init__(self, repo: str, token: str, connection: Connection) -> None:
        url, timeout_s = connection.base_url, connection.timeout_s
        super().__init__(repo, token, base_url=url, timeout_s=timeout_s, tries=connection.tries)
        self._github = Github(
            auth=Auth.Token(self._token),
            base_url=self._base_url,
            retry=None,
            timeout=timeout_s,
            user_agent="coreloop",
            seconds_between_requests=connection.seconds_between_requests,
            seconds_between_writes=connection.seconds_between_writes,
            api_version=API_VERSION,
        )

    def _ask(self, verb: Verb, url: str, body: Mapping[str, Any] | None, doing: str) -> ApiAnswer:
        try:
            status, headers, text = self._github.requester.requestJson(verb, url, input=body)
        except Exception as exc:  # its own, and those of its libraries
            raise translate(exc, doing, timeout_s=self._timeout_s) from None  # its frames hold the token
        return ApiAnswer(doing, status, headers, text.replace(self._token, "***"))

    def close(self) -> None:
        self._github.close()


@dataclass(frozen=True, slots=True)
class _Repo:
    full_name: str


@dataclass(frozen=True, slots=True)
class _Head:
    ref: str
    sha: str
    repo: _Repo | None  # None for a deleted fork


@dataclass(frozen=True, slots=True)
class _Base:
    ref: str
    repo: _Repo


@dataclass(frozen=True, slots=True)
class _Pull:
    number: int
    html_url: str
    title: str
    state: Literal["open", "closed"]
    head: _Head
    base: _Base
    body: str | None
    merged_at: datetime | None
    created_at: datetime
    draft: bool = False


@dataclass(frozen=True, slots=True)
class _Reviews:
    required_approving_review_count: int = 0


@dataclass(frozen=True, slots=True)
class _Rule:
    type: str
    parameters: _Reviews = _Reviews()


@dataclass(frozen=True, slots=True)
class _Protection:
    required_pull_request_reviews: _Reviews = _Reviews()


@dataclass(frozen=True, slots=True)
class _Branch:
    protected: bool


class GithubForge:
    """A `Forge` of one GitHub repository.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    token : str
        The token from GITHUB_TOKEN or GH_TOKEN.
    connection : Connection
        Address, retries, timeout and pace.

    Raises
    ------
    ForgeAuthError
        `token` is empty or invalid.
    UsageError
        `repo` or the address is invalid.
    """

    __slots__ = ("_api",)

    def __init__(self, repo: str, *, token: str, connection: Connection | None = None) -> None:
        self._api = _PygithubApi(repo, token, connection or Connection())

    def __repr__(self) -> str:
        return f"GithubForge({self._api.repo!r} at {self._api.host})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._api.close()

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
        for pull in self._pulls(doing, state="all", direction="desc"):
            if since is not None and pull.created_at < since:
                return None
            if pull.has_key(key):
                return pull
        return None

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
        pull = _pull_request(self._api.post("/pulls", fields, doing=doing).decoded(_Pull))
        if not pull.draft:
            raise wrong_answer(doing, f"{pull.url} was opened, but not as a draft: close it")
        return pull

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Change the title and text of a pull request."""
        doing = f"rewrite pull request {number} of {self._api.repo}"
        self._api.patch(f"/pulls/{number}", {"title": title, "body": body}, doing=doing)

    def add_label(self, number: int) -> None:
        """Add the label ``coreloop`` to a pull request.

        No other label can be added: other automation may treat it as permission to merge.
        """
        doing = f"label pull request {number} of {self._api.repo}"
        self._api.post(f"/issues/{number}/labels", {"labels": [LABEL]}, doing=doing)

    def review_rule(self, base: str) -> ReviewRule:
        """Whether a ruleset or classic protection requires a review for changes of `base`."""
        ruleset = self._ruleset_rule(base)
        if isinstance(ruleset, ReviewRequired):
            return ruleset
        classic = self._classic_rule(base)
        if isinstance(classic, ReviewRequired) or not isinstance(ruleset, ReviewUnknown):
            return classic
        return ruleset

    def _ruleset_rule(self, base: str) -> ReviewRule:
        doing = f"read the rules of branch {base} of {self._api.repo}"
        try:
            rules = list(self._api.pages(f"/rules/branches/{_part(base)}", list[_Rule], doing=doing))
        except ForgeNotFoundError:  # a GitHub Enterprise without rulesets; a missing branch fails below
            return ReviewNotRequired("there are no rulesets")
        except ForgeForbiddenError as exc:
            return ReviewUnknown(_unreadable("rulesets", exc))
        counts = [
            rule.parameters.required_approving_review_count for rule in rules if rule.type == "pull_request"
        ]
        if max_count := max(counts, default=0):
            return ReviewRequired(approvals=max_count, source="ruleset")
        return ReviewNotRequired(f"no ruleset of {base} requires a review")

    def _classic_rule(self, base: str) -> ReviewRule:
        doing = f"read the protection of branch {base} of {self._api.repo}"
        try:
            answer = self._api.get(f"/branches/{_part(base)}/protection", doing=doing)
        except (ForgeNotFoundError, ForgeForbiddenError) as exc:
            return self._rule_without_access(base, exc)
        protection = answer.decoded(_Protection)
        if count := protection.required_pull_request_reviews.required_approving_review_count:
            return ReviewRequired(approvals=count, source="branch protection")
        return ReviewNotRequired(f"the protection of {base} does not require a review")

    def _rule_without_access(self, base: str, exc: ForgeNotFoundError | ForgeForbiddenError) -> ReviewRule:
        if "branch not protected" in exc.detail.lower():
            return ReviewNotRequired(f"{base} is not protected")
        # Non-administrators get 404 for a protected branch too; every reader of the branch can see whether it
        # is protected.
        try:
            branch = self._api.get(
                f"/branches/{_part(base)}", doing=f"read branch {base} of {self._api.repo}"
            )
        except ForgeForbiddenError:
            return ReviewUnknown(_unreadable("branch protection", exc))
        if branch.decoded(_Branch).protected:
            return ReviewUnknown(_unreadable("branch protection", exc))
        return ReviewNotRequired(f"{base} is not protected")

    def _pulls(self, doing: str, *, state: str, direction: str) -> Iterator[PullRequest]:
        query = {"state": state, "sort": "created", "direction": direction}
        for pull in self._api.pages("/pulls", list[_Pull], doing=doing, **query):
            # PyGithub follows the redirect of a renamed repository without the query, so without state=all
            if pull.base.repo.full_name.lower() != self._api.repo.lower():
                raise moved(doing, to=pull.base.repo.full_name)
            yield _pull_request(pull)


def _pull_request(pull: _Pull) -> PullRequest:
    return PullRequest(
        number=pull.number,
        url=pull.html_url,
        title=pull.title,
        state=pull.state,
        draft=pull.draft,
        branch=pull.head.ref,
        base=pull.base.ref,
        head_sha=pull.head.sha,
        same_repo=pull.head.repo is not None
        and pull.head.repo.full_name.lower() == pull.base.repo.full_name.lower(),
        merged=pull.merged_at is not None,
        created_at=pull.created_at,
        body=pull.body or "",
    )


def _unreadable(rules: str, exc: ForgeNotFoundError | ForgeForbiddenError) -> str:
    detail = f": {exc.detail}" if exc.detail else ""
    return f"the token may not read the {rules} ({exc.status}{detail}); give it read access to administration"


def _part(name: str) -> str:
    return quote(name, safe="")


def translate(exc: Exception, doing: str, *, timeout_s: int) -> ForgeError:
    """The ForgeError for a foreign exception, without the exception's text."""
    if isinstance(exc, GithubException):
        headers = {name.lower(): str(value) for name, value in (exc.headers or {}).items()}
        tell = rate_limit if isinstance(exc, RateLimitExceededException) else refusal
        return tell(doing, status=exc.status, headers=headers, detail=quoted(exc.data))
    if isinstance(exc, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return no_answer(doing, f"no answer within {timeout_s} s")
    if isinstance(exc, requests.exceptions.SSLError):
        return no_answer(doing, "the server's certificate is not trusted")
    if isinstance(exc, requests.RequestException | urllib3.exceptions.HTTPError | OSError):
        return no_answer(doing, "the connection failed")
    return wrong_answer(doing, type(exc).__name__)
