"""GitHub as the forge: each operation, and the shapes of the answers it reads.

What writes here opens a draft pull request, gives it another text, or puts coreloop's one label on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self
from urllib.parse import quote

from coreloop.errors import ForgeForbiddenError, ForgeNotFoundError
from coreloop.forge.github_api import GithubApi
from coreloop.forge.github_errors import moved, wrong_answer
from coreloop.forge.protocol import (
    PullRequest,
    ReviewNotRequired,
    ReviewRequired,
    ReviewRule,
    ReviewUnknown,
)
from coreloop.forge.pygithub_transport import Connection, PygithubTransport
from coreloop.history.trailers import LABEL


@dataclass(frozen=True, slots=True)
class _Repo:
    full_name: str


@dataclass(frozen=True, slots=True)
class _Head:
    ref: str
    sha: str
    repo: _Repo | None  # a fork that was deleted


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
        The caller takes it from GITHUB_TOKEN or GH_TOKEN.
    connection : Connection
        Address, retries, time limit and pace.

    Raises
    ------
    ForgeAuthError
        `token` is empty, or cannot be one.
    UsageError
        `repo` or the address cannot be meant.
    """

    __slots__ = ("_api",)

    def __init__(self, repo: str, *, token: str, connection: Connection | None = None) -> None:
        self._api = GithubApi(repo, PygithubTransport(token, connection or Connection()))

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
        found = self._pulls(f"list the open pull requests of {self._api.repo}", state="open", direction="asc")
        # by number: a page may repeat what moved there while the one before was read
        return tuple({pull.number: pull for pull in found if pull.is_coreloop}.values())

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """The newest pull request, in any state, that has the candidate's `key`; see `PullRequest.has_key`.

        Reads the list, since GitHub's search knows a new pull request only after a while; newest first, so
        that what is opened meanwhile makes pages overlap and never leaves one out.

        Parameters
        ----------
        key : str
            Value of the trailer ``Candidate-Key``.
        since : datetime | None
            Time zone aware; pull requests opened before are not looked at. None reads the whole history.
        """
        doing = f"look for the pull request of {key} in {self._api.repo}"
        for pull in self._pulls(doing, state="all", direction="desc"):
            if since is not None and pull.created_at < since:
                return None
            if pull.has_key(key):
                return pull
        return None

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a draft pull request of `branch`, which must have been pushed, for `base`.

        Raises
        ------
        PullRequestExistsError
            The branch has one already.
        ForgeUnavailableError
            No answer came. The pull request may be there all the same: look for its key before a second try.
        """
        doing = f"open the pull request of {branch} in {self._api.repo}"
        wanted = {"title": title, "head": branch, "base": base, "body": body, "draft": True}
        pull = _pull_request(self._api.post("/pulls", wanted, doing=doing).decoded(_Pull))
        if not pull.draft:
            raise wrong_answer(doing, f"{pull.url} was opened, but not as a draft: close it")
        return pull

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Give a pull request another title and text; nothing else of it can be changed here."""
        doing = f"rewrite pull request {number} of {self._api.repo}"
        self._api.patch(f"/pulls/{number}", {"title": title, "body": body}, doing=doing)

    def add_label(self, number: int) -> None:
        """Put the label ``coreloop`` on a pull request.

        Only this one can be given: other automation may take another label for leave to merge.
        """
        doing = f"label pull request {number} of {self._api.repo}"
        self._api.post(f"/issues/{number}/labels", {"labels": [LABEL]}, doing=doing)

    def review_rule(self, base: str) -> ReviewRule:
        """Whether a ruleset or classic protection lets a change into `base` only after a review."""
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
        except ForgeNotFoundError:  # a GitHub Enterprise from before rulesets; a missing branch shows next
            return ReviewNotRequired("there are no rulesets")
        except ForgeForbiddenError as exc:
            return ReviewUnknown(_unreadable("rulesets", exc))
        counts = [
            rule.parameters.required_approving_review_count for rule in rules if rule.type == "pull_request"
        ]
        if most := max(counts, default=0):
            return ReviewRequired(approvals=most, source="ruleset")
        return ReviewNotRequired(f"no ruleset of {base} asks for one")

    def _classic_rule(self, base: str) -> ReviewRule:
        doing = f"read the protection of branch {base} of {self._api.repo}"
        try:
            answer = self._api.get(f"/branches/{_part(base)}/protection", doing=doing)
        except (ForgeNotFoundError, ForgeForbiddenError) as exc:
            return self._rule_unseen(base, exc)
        protection = answer.decoded(_Protection)
        if count := protection.required_pull_request_reviews.required_approving_review_count:
            return ReviewRequired(approvals=count, source="branch protection")
        return ReviewNotRequired(f"the protection of {base} does not ask for one")

    def _rule_unseen(self, base: str, exc: ForgeNotFoundError | ForgeForbiddenError) -> ReviewRule:
        if "branch not protected" in exc.detail.lower():
            return ReviewNotRequired(f"{base} is not protected")
        # Who is no administrator gets 404 for a protected branch too; whether there is a protection at all is
        # told to everybody who can read the branch.
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
            # PyGithub follows a renamed repository without the query, so without state=all
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


def _unreadable(what: str, exc: ForgeNotFoundError | ForgeForbiddenError) -> str:
    said = f": {exc.detail}" if exc.detail else ""
    return (
        f"the token may not read the {what} ({exc.status}{said}); one with read access to administration may"
    )


def _part(name: str) -> str:
    return quote(name, safe="")
