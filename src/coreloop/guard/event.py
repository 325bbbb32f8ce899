"""GitHub's webhook payloads and API answers, validated and read into dataclasses."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.git.trailers import co_authors
from coreloop.base.text import printable
from coreloop.base.validation import ShapeError, decode, shaped
from coreloop.guard.decision import BaseRules

_QUEUE: Final = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40,64}")
_NEW: Final = "0" * 40
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; only the type ``User`` counts as human. `number`, 0 if unknown, outlives a login."""

    login: str
    human: bool
    number: int = 0

    @property
    def names(self) -> set[str]:
        """The login in lower case and the number with a ``+``, as in a noreply address."""
        return {self.login.casefold(), *([f"{self.number}+"] if self.number else ())}


@dataclass(frozen=True, slots=True)
class Push:
    """A movement of a branch: the commit at its end, who moved it, and the commit where it was before.

    `before` is all zeros for a new branch, and "" if unknown: then only `after` is known to be the actor's.
    """

    after: str
    actor: Account
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedPull:
    """A pull request as a payload or the API shows it.

    Attributes
    ----------
    branch, base : str
        Names of the branch with the change and of its target branch.
    same_repo : bool
        Whether the branch is in the repository itself.
    auto_merge : bool
        Whether GitHub's own auto-merge is on.
    base_rules : BaseRules, optional
        The rules of the target branch, if `gather` read them.
    activity : tuple of Push
        The movements of `branch` that `gather` read; the event's own, if they do not have the head.
    """

    number: int
    title: str
    body: str
    draft: bool
    author: Account
    branch: str
    head_sha: str
    base: str
    base_sha: str
    same_repo: bool
    labels: tuple[str, ...]
    auto_merge: bool
    is_open: bool = True
    base_rules: BaseRules | None = None
    activity: tuple[Push, ...] = ()

    @property
    def message(self) -> str:
        """Title and description, as a squash merge lands them."""
        return f"{self.title}\n\n{self.body}"

    @property
    def shows_pusher(self) -> bool:
        """Whether the activity tells who moved the branch to its head; a fork's is not there."""
        return any(push.after == self.head_sha for push in self.activity)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestEvent:
    """An event of a pull request.

    Attributes
    ----------
    label : str, optional
        The label that was added or removed.
    default_branch : str
        The repository's; "" if the payload does not name it.
    live : bool
        Whether `pull` is the API's answer. A payload shows the pull request when the event happened, which
        may have been long before a re-run.
    """

    action: str
    pull: ReportedPull
    sender: Account
    label: str | None = None
    default_branch: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeGroupEvent:
    """A merge queue's request to check a group; `number` is the group's last pull request."""

    action: str
    head_sha: str
    base_sha: str
    number: int | None
    default_branch: str = ""


@dataclass(frozen=True, slots=True)
class PushEvent:
    """A push, which concerns no pull request."""


Event = PullRequestEvent | MergeGroupEvent | PushEvent


@dataclass(frozen=True, slots=True)
class Review:
    """A review, as the API lists it.

    Attributes
    ----------
    pull : int, optional
        The pull request's number, if known.
    association : str
        The reviewer's relation to the repository, such as ``MEMBER`` or ``NONE``.
    permission : str
        The reviewer's access to the repository: ``admin``, ``write``, ``read``, ``none``, or "" if unknown.
    """

    reviewer: Account
    state: str
    commit: str
    pull: int | None
    association: str = ""
    permission: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorship:
    """What GitHub says of a commit of a pull request.

    Attributes
    ----------
    pull : int, optional
        The pull request's number, if known.
    accounts : tuple of Account
        Of the author and the committer, where GitHub knows them.
    people : tuple of str
        Names and addresses of author, committer and co-authors, as git has them.
    known : tuple of str
        Addresses of the author and the committer, where GitHub knows whose they are.
    verified : bool
        Whether GitHub has verified the commit's signature, so that its committer is no claim.
    """

    sha: str
    pull: int | None = None
    accounts: tuple[Account, ...] = ()
    people: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    verified: bool = False


# Shapes of GitHub's JSON. Not frozen: that takes 0.5 ms more for each, in every check (benchmarks/guard.py).
@dataclass(slots=True, eq=False, repr=False)
class _Account:
    login: str = ""
    type: str = ""
    id: int = 0


@dataclass(slots=True, eq=False, repr=False)
class _Repo:
    full_name: str


@dataclass(slots=True, eq=False, repr=False)
class _Head:
    ref: str
    sha: str
    repo: _Repo | None = None  # None for a deleted fork


@dataclass(slots=True, eq=False, repr=False)
class _Label:
    name: str


@dataclass(slots=True, eq=False, repr=False)
class _Pull:
    number: int
    head: _Head
    base: _Head
    title: str | None = None
    body: str | None = None
    draft: bool | None = False
    user: _Account | None = None
    labels: tuple[_Label, ...] = ()
    auto_merge: Any = None
    state: str = "open"
    base_rules: BaseRules | None = None  # added by `gather`
    activity: "tuple[_Push, ...] | None" = None  # added by `gather`


@dataclass(slots=True, eq=False, repr=False)
class _Push:
    after: str
    actor: _Account | None = None
    before: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class _Home:
    default_branch: str = ""


@dataclass(slots=True, eq=False, repr=False)
class _PullPayload:
    action: str
    pull_request: _Pull
    repository: _Home | None = None
    sender: _Account | None = None
    label: _Label | None = None
    before: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class _Group:
    head_sha: str
    head_ref: str
    base_sha: str


@dataclass(slots=True, eq=False, repr=False)
class _GroupPayload:
    action: str
    merge_group: _Group
    repository: _Home | None = None


@dataclass(slots=True, eq=False, repr=False)
class _PushPayload:
    ref: str


@dataclass(slots=True, eq=False, repr=False)
class _Review:
    state: str
    user: _Account | None = None
    commit_id: str | None = None
    pull_request_url: str = ""
    author_association: str = ""
    permission: str = ""  # added by `gather`


@dataclass(slots=True, eq=False, repr=False)
class _Person:
    name: str | None = None
    email: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class _Verification:
    verified: bool = False


@dataclass(slots=True, eq=False, repr=False)
class _GitCommit:
    author: _Person | None = None
    committer: _Person | None = None
    message: str = ""
    verification: _Verification | None = None


@dataclass(slots=True, eq=False, repr=False)
class _Commit:
    sha: str
    author: _Account | None = None
    committer: _Account | None = None
    commit: _GitCommit | None = None
    pull: int | None = None  # added by `gather`


def read_event(path: Path, name: str) -> Event:
    """Read the payload of a webhook event.

    Parameters
    ----------
    path : Path
        ``$GITHUB_EVENT_PATH``.
    name : str
        ``$GITHUB_EVENT_NAME``: ``pull_request``, ``pull_request_review``, ``merge_group`` or ``push``.

    Raises
    ------
    UsageError
        The guard does not handle this event.
    WorkspaceError
        The file is missing, truncated, or not a payload of that event.
    """
    if name in {"pull_request", "pull_request_review"}:
        return _pull_event(_decoded(path, _PullPayload, name))
    if name == "merge_group":
        return _group_event(_decoded(path, _GroupPayload, name))
    if name == "push":
        _decoded(path, _PushPayload, name)
        return PushEvent()
    raise UsageError(
        f"the guard does not handle the event {printable(name)}; run it on pull_request, "
        "pull_request_review, merge_group or push"
    )


def read_reviews(path: Path) -> tuple[Review, ...]:
    """Read the reviews of one or more pull requests, a list as the API returns it, oldest first."""
    return tuple(map(_review, _decoded(path, list[_Review], "list of reviews")))


def read_pulls(path: Path) -> tuple[ReportedPull, ...]:
    """Read a list of pull requests, as the API returns them."""
    return tuple(map(_pull_request, _decoded(path, list[_Pull], "list of pull requests")))


def shaped_reviews(answers: list[Any]) -> tuple[Review, ...]:
    """Reviews from decoded JSON; raises a `ShapeError` that names the field."""
    return tuple(map(_review, shaped(answers, list[_Review])))


def shaped_pulls(answers: list[Any]) -> tuple[ReportedPull, ...]:
    """Pull requests from decoded JSON; raises a `ShapeError` that names the field."""
    return tuple(map(_pull_request, shaped(answers, list[_Pull])))


def read_authorships(path: Path) -> tuple[Authorship, ...]:
    """Read the authors of a list of commits, as the API returns them."""
    return tuple(map(_authorship, _decoded(path, list[_Commit], "list of commits")))


def _decoded(path: Path, kind: type[_T], name: str) -> _T:
    try:
        return decode(read_file(path), kind)
    except ShapeError as error:
        raise WorkspaceError(f"is not a {name} as GitHub sends it ({error})", path=path) from error


def _pull_event(payload: _PullPayload) -> PullRequestEvent:
    pull, sender = _pull_request(payload.pull_request), _account(payload.sender)
    before = {"opened": _NEW, "synchronize": payload.before or ""}.get(payload.action)
    pushes = () if before is None else (Push(pull.head_sha, sender, before),)
    return PullRequestEvent(
        action=payload.action,
        pull=replace(pull, activity=pushes),
        sender=sender,
        label=payload.label.name if payload.label is not None else None,
        default_branch=(payload.repository or _Home()).default_branch,
    )


def _group_event(payload: _GroupPayload) -> MergeGroupEvent:
    group = payload.merge_group
    return MergeGroupEvent(
        action=payload.action,
        head_sha=group.head_sha,
        base_sha=group.base_sha,
        number=queue_number(group.head_ref),
        default_branch=(payload.repository or _Home()).default_branch,
    )


def queue_number(ref: str) -> int | None:
    """Number of the pull request that a branch of the merge queue names, or None."""
    match = _QUEUE.fullmatch(ref)
    return int(match[1]) if match else None


def _pull_request(pull: _Pull) -> ReportedPull:
    repos = {side.repo.full_name.lower() if side.repo else None for side in (pull.head, pull.base)}
    return ReportedPull(
        number=pull.number,
        title=pull.title or "",
        body=pull.body or "",
        draft=bool(pull.draft),
        author=_account(pull.user),
        branch=pull.head.ref,
        head_sha=pull.head.sha,
        base=pull.base.ref,
        base_sha=pull.base.sha,
        same_repo=None not in repos and len(repos) == 1,
        labels=tuple(label.name for label in pull.labels),
        auto_merge=pull.auto_merge is not None,
        is_open=pull.state == "open",
        base_rules=pull.base_rules,
        activity=tuple(
            Push(push.after, _account(push.actor), push.before or "") for push in pull.activity or ()
        ),
    )


def _account(user: _Account | None) -> Account:
    if user is None:  # a deleted account
        return Account("", human=False)
    human = user.type == "User" and not user.login.endswith("[bot]")
    return Account(user.login, human, user.id)


def _review(review: _Review) -> Review:
    match = re.search(r"/pulls/([0-9]{1,9})$", review.pull_request_url)
    number = int(match[1]) if match else None
    return Review(
        _account(review.user),
        review.state.upper(),
        review.commit_id or "",
        number,
        association=review.author_association,
        permission=review.permission,
    )


def _authorship(commit: _Commit) -> Authorship:
    inner = commit.commit or _GitCommit()
    people = [person for person in (inner.author, inner.committer) if person is not None]
    names = (name for person in people for name in (person.name, person.email) if name)
    pairs = ((commit.author, inner.author), (commit.committer, inner.committer))
    return Authorship(
        sha=commit.sha,
        pull=commit.pull,
        accounts=tuple(_account(user) for user in (commit.author, commit.committer) if user and user.login),
        people=(*names, *co_authors(inner.message)),
        known=tuple(
            actor.email.casefold() for user, actor in pairs if user and user.login and actor and actor.email
        ),
        verified=inner.verification is not None and inner.verification.verified,
    )
