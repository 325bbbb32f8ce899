"""Reading the rules of a promotion's base branch from GitHub."""

from dataclasses import dataclass
from urllib.parse import quote

from coreloop.base.errors import ForgeError, ForgeForbiddenError, ForgeNotFoundError
from coreloop.base.github.github_api import GithubApi
from coreloop.base.messages import Phrase
from coreloop.base.text import printable
from coreloop.guard.decision import CONTEXT, BaseRules


@dataclass(frozen=True, slots=True)
class _Check:
    context: str


@dataclass(frozen=True, slots=True)
class _Parameters:
    required_status_checks: tuple[_Check, ...] = ()
    require_last_push_approval: bool = False


@dataclass(frozen=True, slots=True)
class _Rule:
    type: str
    parameters: _Parameters = _Parameters()


@dataclass(frozen=True, slots=True)
class _Contexts:
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Summary:
    enabled: bool = True
    required_status_checks: _Contexts | None = None


@dataclass(frozen=True, slots=True)
class _Branch:
    protected: bool
    protection: _Summary = _Summary()


@dataclass(frozen=True, slots=True)
class _Reviews:
    require_last_push_approval: bool = False


@dataclass(frozen=True, slots=True)
class _Protection:
    required_status_checks: _Contexts = _Contexts()
    required_pull_request_reviews: _Reviews = _Reviews()


def read_base_rules(api: GithubApi, branch: str) -> BaseRules:
    """Read the rulesets of a branch and, where these leave something open, its classic protection.

    A workflow's token may read rulesets, and which statuses the classic protection requires; the rest of the
    classic protection needs an administrator's. Failed reads are told in the result.
    """
    try:
        rules = _of_rulesets(api, branch)
        has_both = rules.requires_status and rules.require_last_push_approval
        return rules if has_both else _joined(rules, _of_protection(api, branch))
    except ForgeError as error:
        return BaseRules(unread=str(error))


def _joined(first: BaseRules, other: BaseRules) -> BaseRules:
    """The rules of both: a rule holds if either has it."""
    return BaseRules(
        _either(first.requires_status, other.requires_status),
        _either(first.require_last_push_approval, other.require_last_push_approval),
        unread="; ".join(filter(None, (first.unread, other.unread))),
    )


def _either(first: bool | None, other: bool | None) -> bool | None:
    if first or other:
        return True
    return None if first is None or other is None else False


def _of_rulesets(api: GithubApi, branch: str) -> BaseRules:
    doing = f"read the rules of branch {branch} of {api.repo}"
    try:
        rules = list(api.pages(f"/rules/branches/{quote(branch, safe='')}", list[_Rule], doing=doing))
    except ForgeNotFoundError:  # older servers do not have rulesets
        return BaseRules(False, False)
    except ForgeForbiddenError:
        return BaseRules(
            unread=Phrase("the rulesets of {branch}, which this token may not read", branch=printable(branch))
        )
    checks = (check for rule in rules for check in rule.parameters.required_status_checks)
    return BaseRules(
        requires_status=any(check.context == CONTEXT for check in checks),
        require_last_push_approval=any(rule.parameters.require_last_push_approval for rule in rules),
    )


def _of_protection(api: GithubApi, branch: str) -> BaseRules:
    """The classic protection, as far as the token may read it."""
    path, where = f"/branches/{quote(branch, safe='')}", f"branch {branch} of {api.repo}"
    unread = Phrase(
        "the classic protection of {branch}, which this token may not read", branch=printable(branch)
    )
    try:
        found = api.get(path, doing=f"read {where}").decoded(_Branch)
    except (ForgeNotFoundError, ForgeForbiddenError):
        return BaseRules(unread=unread)
    if not (found.protected and found.protection.enabled):
        return BaseRules(False, False)
    try:
        answer = api.get(f"{path}/protection", doing=f"read the protection of {where}")
    except (ForgeNotFoundError, ForgeForbiddenError) as error:
        if "branch not protected" in error.detail.lower():
            return BaseRules(False, False)
        checks = found.protection.required_status_checks
        return BaseRules(CONTEXT in checks.contexts if checks is not None else None, unread=unread)
    protection = answer.decoded(_Protection)
    return BaseRules(
        CONTEXT in protection.required_status_checks.contexts,
        protection.required_pull_request_reviews.require_last_push_approval,
    )
