"""Branch rules: the wanted state from a file, the state on GitHub, what differs, and what would be sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
import yaml

from coreloop.errors import ForgeNotFoundError, WorkspaceError
from coreloop.forge.github_api import GithubApi

FILE: Final = Path(".github") / "branch_protection.yml"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A required check, and the app whose word counts; None is anybody's."""

    context: str
    app_id: int | None = None


class WantedReviews(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a change needs before it merges."""

    required_approving_review_count: int
    require_code_owner_reviews: bool
    dismiss_stale_reviews: bool
    require_last_push_approval: bool


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: names are the API's. What it does not name stays as it is."""

    branch: str
    required_status_checks: tuple[Check, ...]
    required_pull_request_reviews: WantedReviews
    enforce_admins: bool
    allow_force_pushes: bool
    allow_deletions: bool
    allow_auto_merge: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """One rule that is not as wanted."""

    rule: str
    now: object
    wanted: object


class _Switch(msgspec.Struct):
    enabled: bool = False


class _Named(msgspec.Struct):
    login: str = ""
    slug: str = ""


class _People(msgspec.Struct):
    users: list[_Named] = []
    teams: list[_Named] = []
    apps: list[_Named] = []

    def names(self) -> dict[str, list[str]]:
        """As the API wants them back."""
        slugs = {"teams": [one.slug for one in self.teams], "apps": [one.slug for one in self.apps]}
        return {"users": [one.login for one in self.users], **slugs}


class _Checks(msgspec.Struct):
    strict: bool = False
    checks: list[Check] = []


class _Reviews(msgspec.Struct):
    required_approving_review_count: int = 0
    require_code_owner_reviews: bool = False
    dismiss_stale_reviews: bool = False
    require_last_push_approval: bool = False
    dismissal_restrictions: _People | None = None
    bypass_pull_request_allowances: _People | None = None


class _Protection(msgspec.Struct):
    required_status_checks: _Checks | None = None
    required_pull_request_reviews: _Reviews | None = None
    restrictions: _People | None = None
    enforce_admins: _Switch = msgspec.field(default_factory=_Switch)
    allow_force_pushes: _Switch = msgspec.field(default_factory=_Switch)
    allow_deletions: _Switch = msgspec.field(default_factory=_Switch)
    required_linear_history: _Switch = msgspec.field(default_factory=_Switch)
    block_creations: _Switch = msgspec.field(default_factory=_Switch)
    required_conversation_resolution: _Switch = msgspec.field(default_factory=_Switch)
    lock_branch: _Switch = msgspec.field(default_factory=_Switch)
    allow_fork_syncing: _Switch = msgspec.field(default_factory=_Switch)


class _Repository(msgspec.Struct):
    allow_auto_merge: bool = False


@dataclass(frozen=True, slots=True)
class Current:
    """What GitHub has now."""

    protection: _Protection | None
    allow_auto_merge: bool


def read_wanted(path: Path) -> Wanted:
    """Read the wanted state.

    Raises
    ------
    WorkspaceError
        The file is missing, no YAML, or has an unknown or a missing key.
    """
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Wanted)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError("is not YAML", path=path) from error
    except msgspec.ValidationError as error:
        raise WorkspaceError(f"cannot be used: {error}", path=path) from error


def read_current(api: GithubApi, branch: str) -> Current:
    """Ask GitHub; a branch without protection has none of the rules."""
    allowed = api.get("", doing=f"read {api.repo}").decoded(_Repository).allow_auto_merge
    try:
        answer = api.get(_place(branch), doing=f"read the protection of branch {branch} of {api.repo}")
    except ForgeNotFoundError as error:
        if "branch not protected" not in error.said.lower():
            raise
        return Current(None, allowed)
    return Current(answer.decoded(_Protection), allowed)


def differences(wanted: Wanted, current: Current) -> list[Difference]:
    """What is weaker than wanted, or otherwise not as wanted; more approvals or checks are no difference."""
    return [one for one in _compared(wanted, current) if one.now != one.wanted]


def _compared(wanted: Wanted, current: Current) -> Iterator[Difference]:
    protection = current.protection or _Protection()
    for check in wanted.required_status_checks:
        yield Difference(f"required check {check.context}", _has(protection, check), True)
    reviews, asked = _reviews(protection), wanted.required_pull_request_reviews
    most = max(reviews.required_approving_review_count, asked.required_approving_review_count)
    yield Difference("required_approving_review_count", reviews.required_approving_review_count, most)
    for name in ("require_code_owner_reviews", "dismiss_stale_reviews", "require_last_push_approval"):
        yield Difference(name, getattr(reviews, name), getattr(asked, name))
    yield Difference("may merge without a review", _bypassing(reviews), [])
    for name in ("enforce_admins", "allow_force_pushes", "allow_deletions"):
        yield Difference(name, getattr(protection, name).enabled, getattr(wanted, name))
    yield Difference("allow_auto_merge", current.allow_auto_merge, wanted.allow_auto_merge)


def _has(protection: _Protection, check: Check) -> bool:
    there = protection.required_status_checks
    return there is not None and check in there.checks


def _reviews(protection: _Protection) -> _Reviews:
    return protection.required_pull_request_reviews or _Reviews()


def _bypassing(reviews: _Reviews) -> list[str]:
    allowed = reviews.bypass_pull_request_allowances or _People()
    return sorted(name for names in allowed.names().values() for name in names)


def apply(api: GithubApi, wanted: Wanted, current: Current) -> None:
    """Make GitHub's state the wanted one; rules that the file does not name stay.

    Raises
    ------
    ForgeError
        The token may not administer the repository, or GitHub refuses.
    """
    doing = f"protect branch {wanted.branch} of {api.repo}"
    api.put(_place(wanted.branch), protection_body(wanted, current), doing=doing)
    if current.allow_auto_merge != wanted.allow_auto_merge:
        api.patch("", {"allow_auto_merge": wanted.allow_auto_merge}, doing=f"change settings of {api.repo}")


def protection_body(wanted: Wanted, current: Current) -> dict[str, Any]:
    """What is sent: the API takes the whole state, and drops what is left out."""
    protection = current.protection or _Protection()
    checks = protection.required_status_checks or _Checks()
    names = {check.context for check in wanted.required_status_checks}
    kept = [check for check in checks.checks if check.context not in names]
    switches = ("required_linear_history", "block_creations", "required_conversation_resolution")
    more = ("lock_branch", "allow_fork_syncing")
    return {
        "required_status_checks": {
            "strict": checks.strict,
            "contexts": [],  # the older form, which the API description still demands
            "checks": [_check_body(one) for one in (*kept, *wanted.required_status_checks)],
        },
        "enforce_admins": wanted.enforce_admins,
        "required_pull_request_reviews": _reviews_body(wanted, _reviews(protection)),
        "restrictions": protection.restrictions.names() if protection.restrictions is not None else None,
        "allow_force_pushes": wanted.allow_force_pushes,
        "allow_deletions": wanted.allow_deletions,
        **{name: getattr(protection, name).enabled for name in (*switches, *more)},
    }


def _check_body(check: Check) -> dict[str, Any]:
    # no app_id would mean "whoever reported it last": -1 is anybody
    return {"context": check.context, "app_id": -1 if check.app_id is None else check.app_id}


def _reviews_body(wanted: Wanted, now: _Reviews) -> dict[str, Any]:
    asked = wanted.required_pull_request_reviews
    most = max(asked.required_approving_review_count, now.required_approving_review_count)
    body: dict[str, Any] = {**msgspec.to_builtins(asked), "required_approving_review_count": most}
    if now.dismissal_restrictions is not None:
        body["dismissal_restrictions"] = now.dismissal_restrictions.names()
    if _bypassing(now):
        body["bypass_pull_request_allowances"] = _People().names()
    return body


def _place(branch: str) -> str:
    return f"/branches/{quote(branch, safe='')}/protection"
