"""The forge that a promotion ends at: what is asked of it, and its answers as values.

There is no operation that merges, turns on auto-merge or marks ready for review, and none may be added: a
human does that, on the forge.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from coreloop.history.trailers import BRANCH_PREFIX, TITLE_MARK, promoted_keys


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request, as far as a promotion looks at one.

    Attributes
    ----------
    url : str
        The page that a human opens.
    branch, base : str
        Names of the branch with the change and of the one it is for.
    head_sha : str
        Commit at the head of `branch`.
    same_repo : bool
        Whether `branch` is in the forge's own repository; anybody may open one from a fork.
    merged : bool
        A merged pull request is also ``"closed"``.
    """

    number: int
    url: str
    title: str
    state: Literal["open", "closed"]
    draft: bool
    branch: str
    base: str
    head_sha: str
    same_repo: bool
    merged: bool
    created_at: datetime
    body: str = field(repr=False)

    @property
    def is_coreloop(self) -> bool:
        """Whether coreloop opened it, as branch or title say; never from a fork."""
        return self.same_repo and (self.branch.startswith(BRANCH_PREFIX) or self.title.startswith(TITLE_MARK))

    def has_key(self, key: str) -> bool:
        """Whether it is the promotion of a candidate.

        The body carries the trailer ``Candidate-Key: key``, in any paragraph, and the branch has coreloop's
        prefix: a body is copied easily, and a title edited.
        """
        mine = self.same_repo and self.branch.startswith(BRANCH_PREFIX)
        return mine and key in promoted_keys(self.body)


@dataclass(frozen=True, slots=True)
class ReviewRequired:
    """Nothing reaches the branch without `approvals` (1 or more) approving reviews, because of `source`."""

    approvals: int
    source: Literal["ruleset", "branch protection"]


@dataclass(frozen=True, slots=True)
class ReviewNotRequired:
    """A change can reach the branch without a review; `reason` completes "no review is required: …"."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReviewUnknown:
    """The token may not read the branch's rules; `reason` says which, and what would help."""

    reason: str


ReviewRule = ReviewRequired | ReviewNotRequired | ReviewUnknown


class Forge(Protocol):
    """What a promotion asks of a forge.

    Each method raises a `coreloop.errors.ForgeError` when it cannot answer.
    """

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """All open pull requests of coreloop, oldest first."""

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """The newest pull request in any state that carries the candidate's `key`; none before `since`."""

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a draft. Not idempotent: look for the key first."""

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Give a pull request another title and text. Idempotent."""

    def add_label(self, number: int) -> None:
        """Put coreloop's label on a pull request. Idempotent."""

    def review_rule(self, base: str) -> ReviewRule:
        """Whether a change reaches the branch `base` only after a review."""
