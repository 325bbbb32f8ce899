"""The operations that a promotion needs of a forge, and their results.

No operation merges, turns on auto-merge or marks a pull request ready for review; never add such an
operation: only a human may do that, on the forge.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from coreloop.base.git.trailers import BRANCH_PREFIX, REVERT_PREFIX, TITLE_MARK, promoted_keys


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The fields of a pull request that a promotion needs.

    Attributes
    ----------
    url : str
        The page in the browser.
    branch, base : str
        Names of the branch with the change and of its target branch.
    head_sha : str
        Commit at the head of `branch`.
    same_repo : bool
        False for a fork, from which anyone may open a pull request.
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
    def message(self) -> str:
        """Title and description, as a squash merge lands them."""
        return f"{self.title}\n\n{self.body}"

    @property
    def is_coreloop(self) -> bool:
        """Whether coreloop opened it, by its branch or title; never from a fork."""
        prefixes = (BRANCH_PREFIX, REVERT_PREFIX)
        return self.same_repo and (self.branch.startswith(prefixes) or self.title.startswith(TITLE_MARK))

    def has_key(self, key: str) -> bool:
        """Whether it is the promotion of a candidate.

        The body has the candidate's trailers in any paragraph, and the branch coreloop's prefix; a body alone
        is easily copied, and a title edited.
        """
        is_ours = self.same_repo and self.branch.startswith(BRANCH_PREFIX)
        return is_ours and key in promoted_keys(self.message)


@dataclass(frozen=True, slots=True)
class ReviewRequired:
    """Changes of the branch need `approvals` (1 or more) approving reviews, because of `source`."""

    approvals: int
    source: Literal["ruleset", "branch protection"]


@dataclass(frozen=True, slots=True)
class ReviewNotRequired:
    """A change can reach the branch without a review; `reason` completes "no review is required: …"."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReviewUnknown:
    """The token may not read the branch's rules; `reason` says which rules, and what to do."""

    reason: str


ReviewRule = ReviewRequired | ReviewNotRequired | ReviewUnknown


class Forge(Protocol):
    """A forge; each method may raise a `coreloop.base.errors.ForgeError`."""

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """All open pull requests of coreloop, oldest first."""

    def closed_pull_requests(self, *, since: datetime) -> tuple[PullRequest, ...]:
        """Pull requests of coreloop opened after `since` and closed without a merge, newest first."""

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """The newest pull request in any state that carries the candidate's `key`; none before `since`."""

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a draft. Not idempotent: call `find_pull_request` first."""

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Change the title and text of a pull request. Idempotent."""

    def add_label(self, number: int) -> None:
        """Add coreloop's label to a pull request. Idempotent."""

    def review_rule(self, base: str) -> ReviewRule:
        """Whether changes of the branch `base` need a review."""
