"""What the branch rules rest on: a check that was green, owners who can review, someone who can approve."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coreloop.base.errors import ForgeError, ForgeNotFoundError
from coreloop.base.github.github_api import GithubApi
from coreloop.base.messages import Phrase
from coreloop.base.text import printable
from coreloop.guard.decision import CONTEXT

_WORKFLOWS: Final = Path(".github") / "workflows"


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
    """Why the guard's check cannot be required yet, or None if it was green once.

    Raises
    ------
    ForgeError
        GitHub does not answer, or does not let the token read the runs.
    """
    workflows = [path.name for path in sorted((root / _WORKFLOWS).glob("*.y*ml")) if _reports(path)]
    if not workflows:
        return Phrase(
            "no workflow in {folder} reports {context}; run dartlab-coreloop init",
            folder=_WORKFLOWS.as_posix(),
            context=CONTEXT,
        )
    if any(_was_green(api, name) for name in workflows):
        return None
    return Phrase(
        "{workflows} was never green in {repo}; open a pull request, and wait for the check",
        workflows=", ".join(workflows),
        repo=api.repo,
    )


def owners_errors(api: GithubApi, branch: str) -> tuple[str, ...]:
    """The lines of a branch's CODEOWNERS that GitHub ignores, since nobody there can review."""
    try:
        doing = f"read the errors of CODEOWNERS in {api.repo}"
        answer = api.get("/codeowners/errors", doing=doing, query={"ref": branch})
    except ForgeNotFoundError:
        return (
            Phrase("{branch} has no CODEOWNERS, so nobody must review the guard's own files", branch=branch),
        )
    except ForgeError as error:
        return (Phrase("not checked: {error}", error=error),)
    return tuple(map(_owners_error, answer.decoded(_OwnersErrors).errors))


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
    return Phrase(
        "{login} is the only person who can push to {repo}. An approval must come from someone other than "
        "the author and the last pusher: nobody can approve what {login} pushes. Let a GitHub App open the "
        "promotions, which {login} can approve: its number as the variable CORELOOP_APP_ID, its key as the "
        "secret CORELOOP_APP_KEY. With enforce_admins: false in .github/branch_protection.yml, {login} as an "
        "administrator can also merge their own pull requests, but past a red check too. Or invite a second "
        "reviewer.",
        login=login,
        repo=repo,
    )


def _reports(workflow: Path) -> bool:
    return workflow.is_file() and CONTEXT.encode() in workflow.read_bytes()


def _was_green(api: GithubApi, workflow: str) -> bool:
    doing = f"read the runs of {workflow} in {api.repo}"
    try:
        query = {"status": "success", "per_page": "1"}
        answer = api.get(f"/actions/workflows/{workflow}/runs", doing=doing, query=query)
    except ForgeNotFoundError:  # GitHub does not know the workflow yet
        return False
    return answer.decoded(_Runs).total_count > 0


def _owners_error(error: _OwnersError) -> str:
    return printable(f"{error.path}:{error.line}: {error.message.partition(chr(10))[0]}")
