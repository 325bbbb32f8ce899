"""What an event asks to merge: a pull request or a merge group in GitHub's own words, and who approved it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.git.trailers import co_authors, promoted_keys
from coreloop.base.text import printable
from coreloop.base.validation import ShapeError, at, decode

_MARKED: Final = re.compile(r"\s*\[coreloop-[rf]\] docs\(", re.IGNORECASE)
QUEUED: Final = re.compile(r"(?:refs/heads/)?gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40,64}")
_NOREPLY: Final = re.compile(r"(?:0*([1-9][0-9]*\+))?([^@+]+)@users\.noreply\.", re.IGNORECASE)
_DECISIVE: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
# A member whose membership is private is shown as CONTRIBUTOR; who may write is GitHub's to know.
_KNOWN: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"})
_T = TypeVar("_T")


def says_promotion(message: str) -> bool:
    """Whether a message is a promotion's, by its title or its trailers."""
    return _MARKED.match(message) is not None or bool(promoted_keys(message))


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; only the type ``User`` is a human."""

    login: str = ""
    type: str = ""
    id: int = 0

    @property
    def is_human(self) -> bool:
        return self.type == "User" and not self.login.endswith("[bot]")

    @property
    def names(self) -> set[str]:
        """The login in lower case and, as in a noreply address, the number, which outlives a login."""
        return {self.login.casefold(), f"{self.id}+"} - {"", "0+"}


@dataclass(frozen=True, slots=True)
class Push:
    """A movement of a branch: the commits at its ends, all zeros if it began or went, and who moved it."""

    after: str
    actor: Account | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A review of a pull request."""

    state: str
    user: Account | None = None
    commit_id: str | None = None
    pull_request_url: str = ""
    author_association: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A commit of a pull request, whose number `gather` adds, and who is behind it."""

    sha: str
    author: Account | None = None
    committer: Account | None = None
    message: str = at("commit.message", "")
    author_email: str = at("commit.author.email", "")
    committer_email: str = at("commit.committer.email", "")
    is_verified: bool = at("commit.verification.verified", default=False)
    pull: int | None = None

    @property
    def accounts(self) -> dict[str, Account]:
        """Those that GitHub knows, by their addresses; it shows an empty object for some that it does not."""
        pairs = ((self.committer_email, self.committer), (self.author_email, self.author))
        return {email.casefold(): its for email, its in pairs if its is not None and its.login}

    @property
    def co_authors(self) -> set[str]:
        """The addresses of its co-authors."""
        return {word.casefold() for word in co_authors(self.message) if "@" in word}


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request.

    Attributes
    ----------
    head_repo, base_repo : str, optional
        Their names; None for a deleted fork.
    activity : tuple of Push
        The movements of its branch. `gather` adds them.
    notes : tuple of str
        What the rules of its base leave open. `gather` adds them.
    """

    number: int
    head: str = at("head.sha")
    base: str = at("base.sha")
    base_name: str = at("base.ref")
    head_repo: str | None = at("head.repo.full_name", None)
    base_repo: str | None = at("base.repo.full_name", None)
    title: str | None = None
    body: str | None = None
    user: Account | None = None
    labels: tuple[dict[str, Any], ...] = ()
    auto_merge: Any = None
    activity: tuple[Push, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Title and description, as a squash merge lands them."""
        return f"{self.title}\n\n{self.body}"

    @property
    def is_fork(self) -> bool:
        return None in (repos := {self.head_repo, self.base_repo}) or len(repos) > 1

    def approvers(self, reviews: Iterable[Review], made: Sequence[Made]) -> set[str]:
        """Humans without a part in it whose latest review approves exactly its head.

        Who may write, who pushed last, and who must review are left to GitHub's required reviews.
        """
        latest, makers = dict[str, tuple[Account, Review]](), self._makers(made)
        for review in reviews:
            is_own = review.pull_request_url.endswith(f"/pulls/{self.number}")
            if is_own and review.user is not None and review.state.upper() in _DECISIVE:
                latest[review.user.login.casefold()] = review.user, review
        return {
            login
            for login, (account, its) in latest.items()
            if its.state.upper() == "APPROVED"
            and its.commit_id == self.head
            and its.author_association in _KNOWN
            and account.is_human
            and makers.isdisjoint(account.names)
        }

    def _makers(self, made: Iterable[Made]) -> set[str]:
        """All who opened, wrote, co-wrote, committed or pushed any of it, as in `Account.names`."""
        accounts = [self.user, *(push.actor for push in self.activity if push.after.strip("0"))]
        addresses = {*co_authors(self.message)}  # a squash may take the description over
        for commit in made:
            accounts += commit.accounts.values()
            addresses |= commit.co_authors
        matches = filter(None, map(_NOREPLY.match, addresses))
        names = {name.casefold() for match in matches for name in match.groups("")}
        return names.union(*(account.names for account in accounts if account is not None))

    def unknown_maker(self, made: Sequence[Made], pushed: Collection[str]) -> str | None:
        """What is not known of who made it: an approval may then be its maker's own.

        Parameters
        ----------
        made : sequence of Made
            Its commits.
        pushed : collection of str
            Those that known accounts pushed.
        """
        if self.head not in {commit.sha for commit in made}:
            return "GitHub has not shown its commits"
        known = {address for commit in made for address in commit.accounts}
        for address in set[str]().union(*(commit.co_authors for commit in made)) - known:
            if not _NOREPLY.match(address):
                return f"its co-author {printable(address)} has no known account; use their noreply address"
        hidden = [its.sha for its in made if not its.is_verified and its.sha not in pushed]
        return f"GitHub does not show who pushed commit {hidden[0][:12]}; sign it" if hidden else None


@dataclass(frozen=True, slots=True)
class _Payload:
    action: str = ""
    pull_request: Pull | None = None
    label: dict[str, Any] | None = None
    group_head: str | None = at("merge_group.head_sha", None)
    group_ref: str = at("merge_group.head_ref", "")
    group_base: str = at("merge_group.base_sha", "")
    group_base_ref: str = at("merge_group.base_ref", "")
    default_branch: str = at("repository.default_branch", "")

    def other(self, base: str) -> str:
        """The name of a base that is not the default branch, else nothing."""
        return "" if base == (self.default_branch or base) else base


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInputs:
    """The options of ``guard check``: an event, a checkout of the base, and the API's answers as files."""

    event: Path
    event_name: str
    folder: Path
    base: str | None = None
    reviews: Path | None = None
    pulls: Path | None = None
    commits: Path | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What an event asks the guard to let merge: one pull request, or a group of a merge queue.

    Attributes
    ----------
    number : int, optional
        Of the pull request; of a group's last one, if its branch names it.
    other_base : str
        The name of its base, if that is not the default branch.
    """

    base: str
    head: str
    pulls: tuple[Pull, ...]
    number: int | None
    other_base: str
    is_group: bool = False
    reviews: tuple[Review, ...] = ()
    made: tuple[Made, ...] = ()

    def made_for(self, pull: Pull) -> list[Made]:
        """The commits of a pull request."""
        return [its for its in self.made if its.pull in {None, pull.number}]


def read_change(inputs: CheckInputs) -> Change:
    """Read an event, with its pull request as the API shows it now if ``--pulls`` is given.

    Raises
    ------
    UsageError
        The guard does not handle the event, or its pull request now has another base.
    WorkspaceError
        A file is missing, truncated, or not what GitHub sends.
    """
    payload = read_as(inputs.event, _Payload, inputs.event_name)
    pulls = read_as(inputs.pulls, tuple[Pull, ...], "list of pull requests") if inputs.pulls else ()
    reviews = read_as(inputs.reviews, tuple[Review, ...], "list of reviews") if inputs.reviews else ()
    made = read_as(inputs.commits, tuple[Made, ...], "list of commits") if inputs.commits else ()
    pull, head = payload.pull_request, payload.group_head
    if inputs.event_name == "merge_group" and head is not None:
        queued = QUEUED.fullmatch(payload.group_ref)
        number, base = int(queued[1]) if queued else None, inputs.base or payload.group_base
        other = payload.other(payload.group_base_ref.removeprefix("refs/heads/"))
        return Change(base, head, pulls, number, other, is_group=True, reviews=reviews, made=made)
    if inputs.event_name in {"pull_request", "pull_request_review"} and pull is not None:
        pull = _live(pull, pulls) if inputs.pulls else _with_label(pull, payload)
        base, other = inputs.base or pull.base, payload.other(pull.base_name)
        return Change(base, pull.head, (pull,), pull.number, other, reviews=reviews, made=made)
    raise UsageError(f"the guard decides on no {printable(inputs.event_name)} as in {inputs.event}")


def _live(pull: Pull, pulls: Sequence[Pull]) -> Pull:
    """The pull request of an event as it is now: a payload may be from long before a re-run."""
    now = next((its for its in pulls if its.number == pull.number), None)
    if now is None:
        raise UsageError(f"--pulls does not list #{pull.number}")
    if now.base_name != pull.base_name:  # the checkout is that of the event's base
        raise UsageError(f"#{pull.number} has another base since this event; re-run the newest run instead")
    return now


def _with_label(pull: Pull, payload: _Payload) -> Pull:
    """The pull request with what its event reports before GitHub shows it."""
    new = (payload.label,) if payload.label is not None and payload.action == "labeled" else ()
    is_auto = payload.action == "auto_merge_enabled" or None
    return replace(pull, labels=(*pull.labels, *new), auto_merge=pull.auto_merge or is_auto)


def read_as(path: Path, kind: type[_T], name: str) -> _T:
    """A file with JSON of a kind; a `WorkspaceError` that names the field if it has another shape."""
    try:
        return decode(read_file(path), kind)
    except ShapeError as error:
        raise WorkspaceError(f"is not a {name} ({error})", path=path) from error
