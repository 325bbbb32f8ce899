"""The guard's requests to GitHub: reads, commit statuses, and undoing what would merge without a human.

No operation here merges, turns on auto-merge or marks a pull request ready for review; never add such an
operation.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from coreloop.base.errors import ForgeError, ForgeForbiddenError, ForgeNotFoundError, UsageError
from coreloop.base.files import write_private
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.github.github_api import DEFAULT_URL, GithubApi
from coreloop.base.github.github_errors import wrong_answer
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.validation import ShapeError, shaped
from coreloop.guard.check import check_event, needs_details
from coreloop.guard.decision import CONTEXT, Action, BaseRules
from coreloop.guard.event import shaped_reviews
from coreloop.guard.inputs import CheckInputs, concerned

_ANSWERS: Final = ("reviews", "pulls", "commits")


@dataclass(frozen=True, slots=True)
class _Pull:
    node_id: str


@dataclass(frozen=True, slots=True)
class _Head:
    ref: str
    sha: str


@dataclass(frozen=True, slots=True)
class _Headed:
    number: int
    head: _Head
    base: _Head


@dataclass(frozen=True, slots=True)
class _Permission:
    permission: str


@contextmanager
def connected(folder: Path, environ: Mapping[str, str]) -> Iterator[GithubApi]:
    """The API of the repository that the workflow runs in, else of coreloop.yaml, else of git's remote.

    Parameters
    ----------
    folder : Path
        Of the project; read only where the environment names no repository.
    environ : mapping
        ``GITHUB_REPOSITORY``, the token in ``GITHUB_TOKEN`` or ``GH_TOKEN``, ``GITHUB_API_URL``.

    Raises
    ------
    ForgeAuthError
        There is no token.
    UsageError
        No GitHub repository is configured.
    """
    repo = environ.get("GITHUB_REPOSITORY")
    if not repo:
        with Repository(folder) as repository:
            repo = open_workspace(folder).settings.forge.repo or github_repo(repository)
    if not repo:
        raise UsageError("no GitHub repository is configured; set forge: repo in coreloop.yaml")
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    from coreloop.base.github.urllib_transport import UrllibTransport  # loads ssl and http only when required

    transport = UrllibTransport(token, base_url=environ.get("GITHUB_API_URL") or DEFAULT_URL)
    with GithubApi(repo, transport) as api:
        yield api


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pull requests that were read, and the folder with the answers."""

    numbers: tuple[int, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Acted:
    """The actions and their results.

    Attributes
    ----------
    confirmed : bool
        False for a dry run.
    failed : dict of int to str
        Indices of the failed actions, with the reason.
    """

    actions: tuple[Action, ...]
    confirmed: bool
    failed: Mapping[int, str]


def gather_to(out: Path, inputs: CheckInputs, environ: Mapping[str, str]) -> Gathered:
    """Write the answers of GitHub that `coreloop.guard.check.check_event` needs.

    The pull requests are always read; reviews, commits, activity and the base's rules only where something
    may be a promotion.

    Parameters
    ----------
    out : Path
        Gets ``reviews.json``, ``pulls.json`` and ``commits.json``.
    inputs : CheckInputs
        The event.
    environ : mapping
        As for `connected`.
    """
    numbers, required = concerned(inputs)
    answers = {"reviews": b"[]", "pulls": b"[]", "commits": b"[]"}
    if numbers:
        with connected(inputs.folder, environ) as api:
            pulls = read_pulls(api, numbers, required=required)
            answers["pulls"] = json.dumps(pulls).encode()
            write_private(out / "pulls.json", answers["pulls"])
            live = replace(inputs, pulls=out / "pulls.json")
            if needs_details(live):
                answers = gather(api, pulls)
    for name, content in answers.items():
        write_private(out / f"{name}.json", content)
    return Gathered(tuple(sorted(numbers)), out)


def act(inputs: CheckInputs, environ: Mapping[str, str], *, confirm: bool) -> Acted:
    """Decide as the check does, and carry out the decision's actions.

    Without answers, because `gather_to` failed, it decides from the event alone. The result has what GitHub
    refused.
    """
    answers = {name: path for name in _ANSWERS if (path := getattr(inputs, name)) is None or path.is_file()}
    actions = check_event(replace(inputs, **{**dict.fromkeys(_ANSWERS), **answers})).actions
    failed: dict[int, str] = {}
    if confirm and actions:
        with connected(inputs.folder, environ) as api:
            for index, action in enumerate(actions):
                try:
                    take_back(api, action)
                except ForgeError as error:  # the other actions may succeed
                    failed[index] = str(error)
    return Acted(actions, confirm, failed)


def gather(api: GithubApi, pulls: Sequence[dict[str, Any]]) -> dict[str, bytes]:
    """Pull requests, their reviews and their commits, each a JSON list of what the API returns.

    A pull request also has the ``activity`` of its branch and its ``base_rules``, an approval the reviewer's
    ``permission``, and a commit its ``pull``.
    """
    rules: dict[str, BaseRules] = {}
    answers: dict[str, list[dict[str, Any]]] = {"pulls": [], "reviews": [], "commits": []}
    permissions: dict[str, str] = {}
    for pull, headed in ((pull, shaped(pull, _Headed)) for pull in pulls):
        base, activity = headed.base.ref, _activity(api, headed.head.ref)
        rules[base] = rules.get(base) or read_base_rules(api, base)
        answers["pulls"].append({**pull, "base_rules": asdict(rules[base]), "activity": activity})
        path, doing = f"/pulls/{headed.number}/commits", f"list commits of #{headed.number}"
        for commit in api.pages(path, list[dict[str, Any]], doing=doing):
            answers["commits"].append({**commit, "pull": headed.number})
        path, doing = f"/pulls/{headed.number}/reviews", f"list reviews of #{headed.number}"
        for review in api.pages(path, list[dict[str, Any]], doing=doing):
            login = _approver(review)
            if login and login not in permissions:
                permissions[login] = _permission(api, login)
            answers["reviews"].append({**review, "permission": permissions[login] if login else ""})
    return {name: json.dumps(content).encode() for name, content in answers.items()}


def read_pulls(api: GithubApi, numbers: Collection[int], *, required: int | None) -> list[dict[str, Any]]:
    """Read pull requests.

    Parameters
    ----------
    api : GithubApi
    numbers : collection of int
        Absent numbers are skipped, since a commit's subject may name an issue.
    required : int, optional
        The number that must exist.
    """
    pulls = []
    for number in sorted(numbers):
        try:
            pull = api.get(f"/pulls/{number}", doing=f"read #{number}")
        except ForgeNotFoundError:
            if number == required:
                raise
            continue
        pull.decoded(_Headed)
        pulls.append(pull.decoded(dict[str, Any]))
    return pulls


def _approver(review: dict[str, Any]) -> str:
    try:
        (shown,) = shaped_reviews([review])
    except ShapeError as error:
        raise wrong_answer("list reviews", str(error)) from error
    return shown.reviewer.login if shown.state == "APPROVED" else ""


def _permission(api: GithubApi, login: str) -> str:
    doing = f"read the permission of {login}"
    try:
        answer = api.get(f"/collaborators/{quote(login, safe='')}/permission", doing=doing)
    except ForgeNotFoundError:  # a bot, or a deleted account
        return "none"
    return answer.decoded(_Permission).permission


def _activity(api: GithubApi, branch: str) -> list[dict[str, Any]]:
    """Who moved a branch to which commit; empty if the server does not tell."""
    doing, ref = f"read the activity of {branch}", f"refs/heads/{branch}"
    try:
        return list(api.pages("/activity", list[dict[str, Any]], doing=doing, ref=ref))
    except (ForgeNotFoundError, ForgeForbiddenError):  # older servers do not have it
        return []


def take_back(api: GithubApi, action: Action) -> None:
    """Remove a label, or turn auto-merge off; where GitHub refuses, the check stays red."""
    if action.label is not None:
        doing = f"remove the label {action.label} from #{action.pull}"
        with suppress(ForgeNotFoundError):  # already removed
            api.delete(f"/issues/{action.pull}/labels/{quote(action.label, safe='')}", doing=doing)
        return
    answer = api.get(f"/pulls/{action.pull}", doing=f"read #{action.pull}")
    api.mutate("disablePullRequestAutoMerge", pullRequestId=answer.decoded(_Pull).node_id)


# --- the rules of a base branch --------------------------------------------------------------------


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
        return BaseRules(unread=f"the rulesets of {printable(branch)}, which this token may not read")
    checks = (check for rule in rules for check in rule.parameters.required_status_checks)
    return BaseRules(
        requires_status=any(check.context == CONTEXT for check in checks),
        require_last_push_approval=any(rule.parameters.require_last_push_approval for rule in rules),
    )


def _of_protection(api: GithubApi, branch: str) -> BaseRules:
    """The classic protection, as far as the token may read it."""
    path, where = f"/branches/{quote(branch, safe='')}", f"branch {branch} of {api.repo}"
    unread = f"the classic protection of {printable(branch)}, which this token may not read"
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
