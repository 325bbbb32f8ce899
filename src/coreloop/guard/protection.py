"""Branch rules: the wanted state from a file, the state on GitHub, their differences, and the update."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from coreloop.base.errors import ForgeError, ForgeNotFoundError, RefusedError, WorkspaceError
from coreloop.base.git.repository import Repository
from coreloop.base.github.github_api import GithubApi
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.validation import ShapeError, shaped
from coreloop.guard.decision import CONTEXT
from coreloop.guard.github import connected

FILE: Final = Path(".github") / "branch_protection.yml"
_WORKFLOWS: Final = Path(".github") / "workflows"


@dataclass(frozen=True, slots=True)
class Check:
    """A required check, and the app that must report it; None for any app."""

    context: str
    app_id: int | None = None


@dataclass(frozen=True, slots=True)
class WantedReviews:
    """Required reviews."""

    required_approving_review_count: int
    require_code_owner_reviews: bool
    dismiss_stale_reviews: bool
    require_last_push_approval: bool


@dataclass(frozen=True, slots=True)
class WantedProtection:
    """The file, with the API's names. Rules that it does not name are not changed."""

    branch: str
    required_status_checks: tuple[Check, ...]
    required_pull_request_reviews: WantedReviews
    enforce_admins: bool
    allow_force_pushes: bool
    allow_deletions: bool
    allow_auto_merge: bool


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule, with its current and its wanted value."""

    rule: str
    now: object
    wanted: object


@dataclass(frozen=True, slots=True)
class _Switch:
    enabled: bool = False


@dataclass(frozen=True, slots=True)
class _Named:
    login: str = ""
    slug: str = ""


@dataclass(frozen=True, slots=True)
class _People:
    users: tuple[_Named, ...] = ()
    teams: tuple[_Named, ...] = ()
    apps: tuple[_Named, ...] = ()

    def names(self) -> dict[str, list[str]]:
        """In the form that the API accepts."""
        slugs = {"teams": [team.slug for team in self.teams], "apps": [app.slug for app in self.apps]}
        return {"users": [user.login for user in self.users], **slugs}


@dataclass(frozen=True, slots=True)
class _Checks:
    strict: bool = False
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reviews:
    required_approving_review_count: int = 0
    require_code_owner_reviews: bool = False
    dismiss_stale_reviews: bool = False
    require_last_push_approval: bool = False
    dismissal_restrictions: _People | None = None
    bypass_pull_request_allowances: _People | None = None


@dataclass(frozen=True, slots=True)
class _Protection:
    required_status_checks: _Checks = _Checks()
    required_pull_request_reviews: _Reviews = _Reviews()
    restrictions: _People | None = None
    enforce_admins: _Switch = _Switch()
    allow_force_pushes: _Switch = _Switch()
    allow_deletions: _Switch = _Switch()
    required_linear_history: _Switch = _Switch()
    block_creations: _Switch = _Switch()
    required_conversation_resolution: _Switch = _Switch()
    lock_branch: _Switch = _Switch()
    allow_fork_syncing: _Switch = _Switch()


@dataclass(frozen=True, slots=True)
class _Repository:
    allow_auto_merge: bool = False


@dataclass(frozen=True, slots=True)
class Current:
    """The state on GitHub."""

    protection: _Protection | None
    allow_auto_merge: bool


@dataclass(frozen=True, slots=True)
class Protected:
    """A branch's differences from the wanted rules, before and after applying them.

    Attributes
    ----------
    owners_errors : tuple of str
        Lines of CODEOWNERS that GitHub ignores.
    notes : tuple of str
        What else keeps the rules from working.
    """

    branch: str
    before: tuple[RuleDifference, ...]
    after: tuple[RuleDifference, ...]
    confirmed: bool
    owners_errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def protect(folder: Path, environ: Mapping[str, str], *, confirm: bool) -> Protected:
    """Compare a branch's rules on GitHub with the project's file, and apply the file if confirmed.

    Parameters
    ----------
    folder : Path
        A folder of the project.
    environ : mapping
        As for `coreloop.guard.github.connected`.
    confirm : bool
        False for a dry run.

    Raises
    ------
    CoreloopError
        The file cannot be used, or GitHub refuses.
    RefusedError
        The guard's check would be required, but was never green: no pull request could be merged any more.
    """
    project = open_workspace(folder).root
    with Repository(project) as repository:
        root = repository.root
    wanted = read_wanted(root / FILE)
    with connected(project, environ) as api:
        before = after = differences(wanted, current := read_current(api, wanted.branch))
        is_new = any(rule.rule == f"required check {CONTEXT}" for rule in before)
        missing = never_green(api, root) if is_new else None
        if confirm and missing:
            raise RefusedError(f"{CONTEXT} is not required yet: {missing}")
        ignored, notes = _limits(api, wanted)
        if confirm and before:
            apply(api, wanted, current)
            after = differences(wanted, read_current(api, wanted.branch))
    notes = (*notes, *((f"--confirm refuses: {missing}",) if missing else ()))
    return Protected(wanted.branch, tuple(before), tuple(after), confirm, ignored, notes)


def _limits(api: GithubApi, wanted: WantedProtection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines of CODEOWNERS that GitHub ignores, and what the reviews mean for one person."""
    reviews = wanted.required_pull_request_reviews
    ignored = owners_errors(api, wanted.branch) if reviews.require_code_owner_reviews else ()
    asks = reviews.required_approving_review_count > 0 and wanted.enforce_admins
    login = lone_maintainer(api) if asks else None
    return ignored, (advice_for_one(login, api.repo),) if login is not None else ()


def read_wanted(path: Path) -> WantedProtection:
    """Read the wanted state.

    Raises
    ------
    WorkspaceError
        The file is missing or not YAML, or a key is unknown or missing.
    """
    try:
        return shaped(yaml.safe_load(path.read_text(encoding="utf-8")), WantedProtection, exact=True)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError("is not YAML", path=path) from error
    except ShapeError as error:
        raise WorkspaceError(f"cannot be used: {error}", path=path) from error


def read_current(api: GithubApi, branch: str) -> Current:
    """Read the state on GitHub; an unprotected branch has no rules."""
    allowed = api.get("", doing=f"read {api.repo}").decoded(_Repository).allow_auto_merge
    try:
        answer = api.get(_path(branch), doing=f"read the protection of branch {branch} of {api.repo}")
    except ForgeNotFoundError as error:
        if "branch not protected" not in error.detail.lower():
            raise
        return Current(None, allowed)
    return Current(answer.decoded(_Protection), allowed)


def differences(wanted: WantedProtection, current: Current) -> list[RuleDifference]:
    """The rules that are not as wanted; additional approvals or checks are allowed."""
    return [rule for rule in _compared(wanted, current) if rule.now != rule.wanted]


def _compared(wanted: WantedProtection, current: Current) -> Iterator[RuleDifference]:
    protection = current.protection or _Protection()
    for check in wanted.required_status_checks:
        is_required = check in protection.required_status_checks.checks
        yield RuleDifference(f"required check {check.context}", is_required, True)
    reviews, wanted_reviews = protection.required_pull_request_reviews, wanted.required_pull_request_reviews
    count = reviews.required_approving_review_count
    max_count = max(count, wanted_reviews.required_approving_review_count)
    yield RuleDifference("required_approving_review_count", count, max_count)
    for name in ("require_code_owner_reviews", "dismiss_stale_reviews", "require_last_push_approval"):
        yield RuleDifference(name, getattr(reviews, name), getattr(wanted_reviews, name))
    yield RuleDifference("may merge without a review", _bypassing(reviews), [])
    for name in ("enforce_admins", "allow_force_pushes", "allow_deletions"):
        yield RuleDifference(name, getattr(protection, name).enabled, getattr(wanted, name))
    yield RuleDifference("allow_auto_merge", current.allow_auto_merge, wanted.allow_auto_merge)


def _bypassing(reviews: _Reviews) -> list[str]:
    allowed = reviews.bypass_pull_request_allowances or _People()
    return sorted(name for names in allowed.names().values() for name in names)


def apply(api: GithubApi, wanted: WantedProtection, current: Current) -> None:
    """Set the wanted rules on GitHub; rules that the file does not name are not changed."""
    doing = f"protect branch {wanted.branch} of {api.repo}"
    api.put(_path(wanted.branch), protection_body(wanted, current), doing=doing)
    if current.allow_auto_merge != wanted.allow_auto_merge:
        api.patch("", {"allow_auto_merge": wanted.allow_auto_merge}, doing=f"change settings of {api.repo}")


def protection_body(wanted: WantedProtection, current: Current) -> dict[str, Any]:
    """The body of the update: the API takes the complete state, and resets omitted rules."""
    protection = current.protection or _Protection()
    checks = protection.required_status_checks
    names = {check.context for check in wanted.required_status_checks}
    other_checks = [check for check in checks.checks if check.context not in names]
    switches = (
        *("required_linear_history", "block_creations", "required_conversation_resolution"),
        *("lock_branch", "allow_fork_syncing"),
    )
    return {
        "required_status_checks": {
            "strict": checks.strict,
            "contexts": [],  # deprecated, but still required by the API description
            # without app_id GitHub takes the app that reported last; -1 allows any app
            "checks": [
                {"context": check.context, "app_id": -1 if check.app_id is None else check.app_id}
                for check in (*other_checks, *wanted.required_status_checks)
            ],
        },
        "enforce_admins": wanted.enforce_admins,
        "required_pull_request_reviews": _reviews_body(wanted, protection.required_pull_request_reviews),
        "restrictions": protection.restrictions.names() if protection.restrictions is not None else None,
        "allow_force_pushes": wanted.allow_force_pushes,
        "allow_deletions": wanted.allow_deletions,
        **{name: getattr(protection, name).enabled for name in switches},
    }


def _reviews_body(wanted: WantedProtection, now: _Reviews) -> dict[str, Any]:
    reviews = wanted.required_pull_request_reviews
    max_count = max(reviews.required_approving_review_count, now.required_approving_review_count)
    body: dict[str, Any] = {**asdict(reviews), "required_approving_review_count": max_count}
    if now.dismissal_restrictions is not None:
        body["dismissal_restrictions"] = now.dismissal_restrictions.names()
    if _bypassing(now):
        body["bypass_pull_request_allowances"] = _People().names()
    return body


def _path(branch: str) -> str:
    return f"/branches/{quote(branch, safe='')}/protection"


# --- what the rules rest on: a check that was green, owners who can review, someone who can approve --


@dataclass(frozen=True, slots=True)
class _Runs:
    total_count: int


@dataclass(frozen=True, slots=True)
class _OwnersError:
    line: int
    message: str
    path: str


@dataclass(frozen=True, slots=True)
class _OwnersErrors:
    errors: tuple[_OwnersError, ...]


@dataclass(frozen=True, slots=True)
class _Rights:
    push: bool = False


@dataclass(frozen=True, slots=True)
class _Collaborator:
    login: str
    type: str
    permissions: _Rights = _Rights()


def never_green(api: GithubApi, root: Path) -> str | None:
    """Why the guard's check cannot be required yet, or None if it was green once."""
    files = (path for path in sorted((root / _WORKFLOWS).glob("*.y*ml")) if path.is_file())
    workflows = [path.name for path in files if CONTEXT.encode() in path.read_bytes()]
    if not workflows:
        return f"no workflow in {_WORKFLOWS.as_posix()} reports {CONTEXT}; run dartlab-coreloop init"
    if any(_was_green(api, name) for name in workflows):
        return None
    return (
        f"{', '.join(workflows)} was never green in {api.repo}; open a pull request, and wait for the check"
    )


def owners_errors(api: GithubApi, branch: str) -> tuple[str, ...]:
    """The lines of a branch's CODEOWNERS that GitHub ignores, since nobody there can review."""
    try:
        doing = f"read the errors of CODEOWNERS in {api.repo}"
        answer = api.get("/codeowners/errors", doing=doing, query={"ref": branch})
    except ForgeNotFoundError:
        return (f"{branch} has no CODEOWNERS, so nobody must review the guard's own files",)
    except ForgeError as error:
        return (f"not checked: {error}",)
    return tuple(
        printable(f"{error.path}:{error.line}: {error.message.partition(chr(10))[0]}")
        for error in answer.decoded(_OwnersErrors).errors
    )


def lone_maintainer(api: GithubApi) -> str | None:
    """The only person who can push to the repository; None if there are more, or GitHub does not tell."""
    try:
        doing = f"list the collaborators of {api.repo}"
        listed = tuple(api.pages("/collaborators", list[_Collaborator], doing=doing))
    except ForgeError:
        return None
    people = [account.login for account in listed if account.type == "User" and account.permissions.push]
    return people[0] if len(people) == 1 else None


def advice_for_one(login: str, repo: str) -> str:
    """What an approval by someone else means for a lone maintainer, and what works."""
    return (
        f"{login} is the only person who can push to {repo}. An approval must come from "
        f"someone other than the author and the last pusher: nobody can approve what {login} "
        f"pushes. Let a GitHub App open the promotions, which {login} can approve: its number "
        "as the variable CORELOOP_APP_ID, its key as the secret CORELOOP_APP_KEY. With "
        f"enforce_admins: false in .github/branch_protection.yml, {login} as an administrator "
        "can also merge their own pull requests, but past a red check too. Or invite a "
        "second reviewer."
    )


def _was_green(api: GithubApi, workflow: str) -> bool:
    doing = f"read the runs of {workflow} in {api.repo}"
    try:
        query = {"status": "success", "per_page": "1"}
        answer = api.get(f"/actions/workflows/{workflow}/runs", doing=doing, query=query)
    except ForgeNotFoundError:  # GitHub does not know the workflow yet
        return False
    return answer.decoded(_Runs).total_count > 0
