"""The rules of a branch: the wanted ones from a file, those on GitHub, and what a missing one leaves open."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from coreloop.base import errors
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.base.github.branch_rules import COUNT, BranchRules, read_rules
from coreloop.base.github.connect import connect_api
from coreloop.base.github.github_api import GithubApi
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.validation import ShapeError, at, shaped
from coreloop.guard.check import CONTEXT

FILE: Final = Path(".github") / "branch_protection.yml"
_WORKFLOWS: Final = Path(".github") / "workflows"
_OPEN: Final = {
    f"required check {CONTEXT}": "a promotion can be merged while the guard is red",
    COUNT: "who can push can merge without a review",
    "require_code_owner_reviews": "the guard's own files can be changed without a review by their owners",
    "dismiss_stale_reviews": "what is pushed after an approval can be merged with it",
    "require_last_push_approval": "who pushed last can approve it",
    "may merge without a review": "these accounts can merge without a review",
    "enforce_admins": "an administrator's token can merge past all other rules",
    "allow_force_pushes": "the history that says what was promoted can be rewritten",
    "allow_deletions": "the history that says what was promoted can be removed",
    "allow_auto_merge": "GitHub can be told to merge by itself",
}
"""What is open while a rule is not as wanted."""
_REVIEWS: Final = {
    "require_code_owner_reviews": "require_code_owner_review",
    "dismiss_stale_reviews": "dismiss_stale_reviews_on_push",
    "require_last_push_approval": "require_last_push_approval",
}
"""The names that rulesets have for rules of the classic protection."""
_SWITCHES: Final = ("enforce_admins", "allow_force_pushes", "allow_deletions")
_KEPT: Final = ("required_linear_history", "block_creations", "required_conversation_resolution")


@dataclass(frozen=True, slots=True)
class Check:
    """A required check, and the app that must report it; None for any app."""

    context: str
    app_id: int | None = None


@dataclass(frozen=True, slots=True)
class WantedProtection:
    """The file, with the API's names. Rules that it does not name are not changed."""

    branch: str
    required_status_checks: tuple[Check, ...]
    enforce_admins: bool
    allow_force_pushes: bool
    allow_deletions: bool
    allow_auto_merge: bool
    required_approving_review_count: int = at("required_pull_request_reviews.required_approving_review_count")
    require_code_owner_reviews: bool = at("required_pull_request_reviews.require_code_owner_reviews")
    dismiss_stale_reviews: bool = at("required_pull_request_reviews.dismiss_stale_reviews")
    require_last_push_approval: bool = at("required_pull_request_reviews.require_last_push_approval")


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule, with its current and its wanted value, and what is open until it has that."""

    rule: str
    now: object
    wanted: object
    open: str


@dataclass(frozen=True, slots=True)
class Protected:
    """A branch's differences from the wanted rules, before and after, and why they cannot be applied yet."""

    branch: str
    before: tuple[RuleDifference, ...]
    after: tuple[RuleDifference, ...]
    confirmed: bool
    missing: str | None


def protect(folder: Path, environ: Mapping[str, str], *, confirm: bool) -> Protected:
    """Compare a branch's rules on GitHub with the project's file, and apply the file if confirmed.

    Parameters
    ----------
    folder : Path
        A folder of the project.
    environ : mapping
        As for `coreloop.base.github.connect.connect_api`.
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
    root = Repository(project).root
    wanted = read_wanted(root / FILE)
    api = connect_api(project, environ)
    before = after = differences(wanted, current := read_current(api, wanted.branch))
    is_new = f"required check {CONTEXT}" in {its.rule for its in before}
    missing = never_green(api, root) if is_new else None
    if confirm and missing:
        raise errors.RefusedError(f"{CONTEXT} is not required yet: {missing}")
    if confirm and before:
        apply(api, wanted, current)
        after = differences(wanted, read_current(api, wanted.branch))
    return Protected(wanted.branch, tuple(before), tuple(after), confirm, missing)


def read_wanted(path: Path) -> WantedProtection:
    """Read the wanted state.

    Raises
    ------
    WorkspaceError
        The file is missing or not YAML, or a key is unknown or missing.
    """
    if not path.exists():
        reason = "is missing: the guard is for GitHub, where init --source writes it"
        raise errors.WorkspaceError(reason, path=path)
    try:
        return shaped(yaml.safe_load(read_file(path)), WantedProtection, exact=True)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ShapeError) as error:
        reason = f"cannot be used: {error}" if isinstance(error, ShapeError) else "is not YAML"
        raise errors.WorkspaceError(reason, path=path) from error


def read_current(api: GithubApi, branch: str, *, partly: bool = False) -> BranchRules:
    """Read the rules of a branch, and whether GitHub may be told to merge; parameters as of `read_rules`."""
    allowed = api.get("", doing=f"read {api.repo}").decoded(_Shown).allow_auto_merge
    return replace(read_rules(api, branch, partly=partly), allow_auto_merge=allowed)


def read_open(api: GithubApi, folder: Path, branch: str) -> list[str]:
    """What the rules of a branch leave open, as far as the token may read them.

    A workflow's may read rulesets, and which statuses the classic protection requires.
    """
    try:
        wanted, current = read_wanted(folder / FILE), read_current(api, branch, partly=True)
    except errors.CoreloopError as error:
        return [printable(f"the rules of {branch} are unknown: {error}")]
    notes = [f"{branch}: {its.open} ({its.rule})" for its in differences(wanted, current) if its.open]
    if any(now is None for _, now, _ in _compared(wanted, current)):
        notes.append(f"{branch}: this token may not read all rules; run dartlab-coreloop guard protect")
    return [*map(printable, notes)]


def differences(wanted: WantedProtection, current: BranchRules) -> list[RuleDifference]:
    """The rules that are known not to be as wanted; more approvals or checks are allowed."""
    compared = [its for its in _compared(wanted, current) if its[1] is not None and its[1] != its[2]]
    return [RuleDifference(*its, _OPEN.get(its[0], "")) for its in compared]


def _compared(wanted: WantedProtection, current: BranchRules) -> Iterator[tuple[str, object, object]]:
    """Each rule with its current value, None if unknown, and its wanted value. Rulesets count, too."""
    is_known, rules = not current.unread, current.parameters("pull_request")
    for check in wanted.required_status_checks:
        yield f"required check {check.context}", _is_required(check, current), True
    least, count = getattr(wanted, COUNT), current.approvals
    yield COUNT, count if is_known or count >= least else None, max(least, count)
    for name, ruled in _REVIEWS.items():
        is_on = bool(current.reviews.get(name)) or any(its.get(ruled) for its in rules)
        yield name, is_on if is_known or is_on else None, getattr(wanted, name)
    yield "may merge without a review", sorted(_bypassing(current)) if is_known else None, []
    for name in _SWITCHES:
        yield name, bool(current.part(name).get("enabled")) if is_known else None, getattr(wanted, name)
    yield "allow_auto_merge", current.allow_auto_merge, wanted.allow_auto_merge


def _is_required(check: Check, current: BranchRules) -> bool:
    """Whether a status is required; only an administrator may read which app must report it."""
    rules = [its.get("required_status_checks") or () for its in current.parameters("required_status_checks")]
    ruled = {(its["context"], its.get("integration_id")) for rule in rules for its in rule}
    shown = current.part("required_status_checks").get("checks") or ()
    classic = {(its["context"], its.get("app_id")) for its in shown}
    app = None if current.unread else check.app_id
    return (check.context, check.app_id) in ruled or (check.context, app) in classic


def apply(api: GithubApi, wanted: WantedProtection, current: BranchRules) -> None:
    """Set the wanted rules on GitHub; rules that the file does not name are not changed."""
    body = protection_body(wanted, current)
    api.send("PUT", _path(wanted.branch), body, doing=f"protect branch {wanted.branch} of {api.repo}")
    if current.allow_auto_merge != wanted.allow_auto_merge:
        body = {"allow_auto_merge": wanted.allow_auto_merge}
        api.send("PATCH", "", body, doing=f"change settings of {api.repo}")


def protection_body(wanted: WantedProtection, current: BranchRules) -> dict[str, Any]:
    """The body of the update: the API takes the complete state, and resets omitted rules."""
    shown = current.part("required_status_checks")
    apps = {its["context"]: its.get("app_id") for its in shown.get("checks") or ()}
    apps |= {its.context: its.app_id for its in wanted.required_status_checks}
    # without app_id GitHub takes the app that reported last; -1 allows any app
    checks = [{"context": name, "app_id": -1 if app is None else app} for name, app in apps.items()]
    restrictions = current.classic.get("restrictions")
    return {
        # contexts are deprecated, but the API description still requires them
        "required_status_checks": {"strict": bool(shown.get("strict")), "contexts": [], "checks": checks},
        "required_pull_request_reviews": _reviews_body(wanted, current),
        "restrictions": None if restrictions is None else _names(restrictions),
        **{name: getattr(wanted, name) for name in _SWITCHES},
        **{name: bool(current.part(name).get("enabled")) for name in _KEPT},
        **{name: bool(current.part(name).get("enabled")) for name in ("lock_branch", "allow_fork_syncing")},
    }


def _reviews_body(wanted: WantedProtection, current: BranchRules) -> dict[str, Any]:
    """The wanted reviews, with more approvals if the branch has them; nobody may merge without one."""
    body: dict[str, Any] = {name: getattr(wanted, name) for name in _REVIEWS}
    body[COUNT] = max(current.reviews.get(COUNT) or 0, getattr(wanted, COUNT))
    if "dismissal_restrictions" in current.reviews:
        body["dismissal_restrictions"] = _names(current.reviews["dismissal_restrictions"])
    return body | ({"bypass_pull_request_allowances": _names({})} if _bypassing(current) else {})


def _bypassing(current: BranchRules) -> list[str]:
    """Accounts that may merge without a review."""
    names = _names(current.reviews.get("bypass_pull_request_allowances") or {})
    return [name for listed in names.values() for name in listed]


def _names(people: Mapping[str, Any]) -> dict[str, list[str]]:
    """Users, teams and apps in the form that the API accepts."""
    keys = {"users": "login", "teams": "slug", "apps": "slug"}
    return {kind: [its[key] for its in people.get(kind, ())] for kind, key in keys.items()}


def _path(branch: str) -> str:
    return f"/branches/{quote(branch, safe='')}/protection"


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is read of GitHub's answers: of a repository, and of a workflow's runs."""

    allow_auto_merge: bool | None = None
    total_count: int = 0


def never_green(api: GithubApi, root: Path) -> str | None:
    """Why the guard's check cannot be required yet, or None if it was green once."""
    files = (path for path in sorted((root / _WORKFLOWS).glob("*.y*ml")) if path.is_file())
    names = [path.name for path in files if CONTEXT.encode() in path.read_bytes()]
    for name in names:
        with suppress(errors.ForgeNotFoundError):  # GitHub does not know the workflow yet
            path, query = f"/actions/workflows/{name}/runs", {"status": "success", "per_page": "1"}
            answer = api.get(path, doing=f"read the runs of {name} in {api.repo}", query=query)
            if answer.decoded(_Shown).total_count > 0:
                return None
    if not names:
        return f"no workflow in {_WORKFLOWS.as_posix()} reports {CONTEXT}; run dartlab-coreloop init"
    return f"{', '.join(names)} was never green in {api.repo}; open a pull request, and wait for the check"
