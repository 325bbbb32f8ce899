"""What GitHub requires of a change of a branch: its rulesets, and its classic protection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from coreloop.base.errors import ForgeForbiddenError, ForgeNotFoundError
from coreloop.base.github.github_api import GithubApi
from coreloop.base.validation import at

COUNT: Final = "required_approving_review_count"


@dataclass(frozen=True, slots=True)
class BranchRules:
    """The rules on GitHub, as far as the token may read them.

    Attributes
    ----------
    classic : mapping
        The classic protection as its API shows it; empty for an unprotected branch. If it is not readable,
        it has only the required statuses' names.
    rulesets : sequence of mapping
        The active rules of rulesets.
    unread : str
        What the token may not read, and GitHub's answer; else empty.
    allow_auto_merge : bool or None
        A setting of the repository; None if it is not shown.
    """

    classic: Mapping[str, Any]
    rulesets: Sequence[Mapping[str, Any]] = ()
    unread: str = ""
    allow_auto_merge: bool | None = None

    def part(self, name: str) -> Mapping[str, Any]:
        """An object of the classic protection; empty if absent."""
        found = self.classic.get(name)
        return found if isinstance(found, Mapping) else {}

    @property
    def reviews(self) -> Mapping[str, Any]:
        return self.part("required_pull_request_reviews")

    @property
    def approvals(self) -> int:
        """The approving reviews that a change needs."""
        return max(its.get(COUNT) or 0 for its in (self.reviews, *self.parameters("pull_request")))

    def parameters(self, kind: str) -> list[Mapping[str, Any]]:
        """The parameters of the rulesets' rules of a type."""
        return [its.get("parameters") or {} for its in self.rulesets if its.get("type") == kind]


@dataclass(frozen=True, slots=True)
class _Branch:
    is_protected: bool = at("protection.enabled", default=False)
    contexts: tuple[str, ...] = at("protection.required_status_checks.contexts", ())


def read_rules(api: GithubApi, branch: str, *, partly: bool = True) -> BranchRules:
    """Read a branch's rules.

    Parameters
    ----------
    api : GithubApi
    branch : str
    partly : bool
        Whether the classic protection may be unreadable, as it is for whoever does not administer.

    Raises
    ------
    ForgeError
        The branch is absent, or GitHub does not answer.
    """
    path, where = f"/branches/{quote(branch, safe='')}", f"branch {branch} of {api.repo}"
    rulesets, unread = list[dict[str, Any]](), ""
    try:
        rulesets += api.pages(f"/rules{path}", list[dict[str, Any]], doing=f"read the rules of {where}")
    except ForgeNotFoundError:  # a server without rulesets; a missing branch fails below
        pass
    except ForgeForbiddenError as error:
        unread = _unread("rulesets", error)
    try:
        answer = api.get(f"{path}/protection", doing=f"read the protection of {where}")
        return BranchRules(answer.decoded(dict[str, Any]), rulesets, unread)
    except (ForgeNotFoundError, ForgeForbiddenError) as error:
        if "branch not protected" in error.detail.lower():
            return BranchRules({}, rulesets, unread)
        if not partly:
            raise
        # Non-administrators get 404 for a protected branch too; its readers can see whether it is.
        shown = _shown(api, path, where)
        classic = {"required_status_checks": {"checks": [{"context": its} for its in shown.contexts]}}
        if shown.is_protected:
            return BranchRules(classic, rulesets, _unread("branch protection", error))
    return BranchRules({}, rulesets, unread)


def _shown(api: GithubApi, path: str, where: str) -> _Branch:
    try:
        return api.get(path, doing=f"read {where}").decoded(_Branch)
    except ForgeForbiddenError:
        return _Branch(is_protected=True)


def _unread(rules: str, error: ForgeNotFoundError | ForgeForbiddenError) -> str:
    return f"{rules} ({error.status}{': ' if error.detail else ''}{error.detail})"
