"""The operations that a promotion needs of a forge, and their results.

No operation merges, turns on auto-merge or marks a pull request ready for review; never add such an
operation: only a human may do that, on the forge.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from coreloop.base.git.trailers import BRANCH_PREFIX, REVERT_PREFIX, TITLE_MARK, promoted_keys
from coreloop.base.validation import at


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The fields of a pull request that a promotion needs, as GitHub shows them.

    Attributes
    ----------
    url : str
        The page in the browser.
    branch, base : str
        Names of the branch with the change and of its target branch.
    head_sha : str
        Commit at the head of `branch`.
    repo, head_repo : str
        ``owner/name`` of the target branch's and of the change's repository; None for a deleted fork.
    """

    number: int
    title: str
    state: Literal["open", "closed"]
    created_at: datetime
    url: str = at("html_url")
    branch: str = at("head.ref")
    head_sha: str = at("head.sha")
    base: str = at("base.ref")
    repo: str = at("base.repo.full_name")
    head_repo: str | None = at("head.repo.full_name", None)
    merged_at: datetime | None = None
    draft: bool = False
    body: str | None = field(default=None, repr=False)

    @property
    def merged(self) -> bool:
        """A merged pull request is also ``"closed"``."""
        return self.merged_at is not None

    @property
    def same_repo(self) -> bool:
        """False for a fork, from which anyone may open a pull request."""
        return self.head_repo is not None and self.head_repo.lower() == self.repo.lower()

    @property
    def message(self) -> str:
        """Title and description, as a squash merge lands them."""
        return f"{self.title}\n\n{self.body or ''}"

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

    def unreviewed(self, base: str) -> str:
        """Why changes of the branch `base` may need no review; empty if they need one."""
