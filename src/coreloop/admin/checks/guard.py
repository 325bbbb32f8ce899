"""Check that the guard is installed and that GitHub requires it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, listed
from coreloop.admin.init.scaffold import REQUIREMENTS, read_codeowners, unowned, uses_github
from coreloop.base.errors import CoreloopError, ForgeError, ForgeForbiddenError, ForgeNotFoundError, GitError
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.github.connect import open_api, token_of
from coreloop.base.github.github_api import GithubApi
from coreloop.base.project.owners import PLACEHOLDER, PLACES, has_placeholder
from coreloop.base.text import printable

if TYPE_CHECKING:
    from coreloop.guard.protection import RuleDifference

_RUNS_GUARD: Final = re.compile(rb"(?m)^[^#\n]*\bguard[ \t]+check\b")
"""A command, not a comment: dartlab-coreloop guard check."""
_MOST_BYTES: Final = 1_000_000
_ANSWER_S: Final = 5  # chosen: whoever runs doctor waits for it


def check_guard(setup: Setup) -> Iterator[Diagnosis]:
    """Check that a workflow runs the guard and that GitHub requires it, in a project on GitHub."""
    root = setup.workspace.root
    repository: Repository | None = None
    with suppress(CoreloopError):
        repository = Repository(root)
        root = repository.root
        yield from _base(repository, setup.workspace.settings.forge.base)
    if not uses_github(root, repository, setup.workspace.settings.forge):
        yield Diagnosis(
            "guard", "ok", "not needed: no remote is on GitHub; a person merges the pushed branch"
        )
        return
    workflow = _workflow(root)
    yield _installed(root, workflow)
    if workflow is None:
        yield Diagnosis("required", "warning", "not checked: the guard is not installed", "install it first")
        return
    yield check_owners(root)
    if repository is None:
        todo = "check that git is installed and that this folder is a repository of yours, on GitHub"
        yield Diagnosis("required", "warning", "not checked: git finds no repository here", todo)
    else:
        yield from _check_github(setup, repository)


def _base(repository: Repository, base: str) -> Iterator[Diagnosis]:
    """A fault if the repository has commits, but no base branch."""
    try:
        repository.base(base)
    except GitError:
        branches = sorted(repository.heads(None))
        if branches:
            todo = f"set forge: {{base: {branches[0] if len(branches) == 1 else 'BRANCH'}}} in coreloop.yaml"
            message = f"there is no branch {base}, only {listed(branches)}: nothing can be promoted"
            yield Diagnosis("base", "fault", message, todo)


def _workflow(root: Path) -> Path | None:
    """Return the first workflow that runs the guard, or None."""
    folder = root / ".github" / "workflows"
    paths = sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
    return next((path for path in paths if _RUNS_GUARD.search(_head(path))), None)


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _installed(root: Path, workflow: Path | None) -> Diagnosis:
    if workflow is None:
        message = "no workflow runs the guard: nothing automatic stops a bot from merging a promotion"
        init = "run dartlab-coreloop init --confirm (it says if it needs --source), commit"
        todo = f"{init}, then run dartlab-coreloop guard protect --confirm"
        return Diagnosis("guard", "warning", message, todo)
    name = workflow.relative_to(root).as_posix()
    text = _head(workflow)
    if REQUIREMENTS.encode() in text and not (root / REQUIREMENTS).is_file():
        message = f"{name} installs from {REQUIREMENTS}, which does not exist"
        return Diagnosis("guard", "fault", message, "run dartlab-coreloop init --confirm and commit")
    return Diagnosis("guard", "ok", f"{name} runs the guard")


def _check_github(setup: Setup, repository: Repository) -> Iterator[Diagnosis]:
    environ = setup.environ
    repo = setup.workspace.settings.forge.repo or github_repo(repository)
    if repo is None:
        message = "not checked: no remote on GitHub is known"
        yield Diagnosis("required", "warning", message, "set forge: {repo: owner/name} in coreloop.yaml")
        return
    if not token_of(environ):
        message = f"not checked: {repo} was not asked, since there is no token"
        todo = "set GITHUB_TOKEN to a token with administration rights, or run dartlab-coreloop guard protect"
        yield Diagnosis("required", "warning", message, todo)
        return
    try:
        api = open_api(repo, environ, timeout_s=_ANSWER_S, tries=1)
        yield _required(api, repository.root, setup.workspace.settings.forge.base)
        yield from check_owners_on_github(api, setup.workspace.settings.forge.base)
    except CoreloopError as error:
        yield Diagnosis("required", "warning", f"not checked: {error}", "run dartlab-coreloop guard protect")


def _required(api: GithubApi, root: Path, base: str) -> Diagnosis:
    from coreloop.guard.protection import FILE, differences, read_current, read_wanted

    wanted = read_wanted(root / FILE)
    try:
        current = read_current(api, wanted.branch)
    except (ForgeForbiddenError, ForgeNotFoundError) as error:
        todo = "use a token that administers the repository, or ask someone who does"
        return Diagnosis("required", "warning", f"not checked: {error}", todo)
    if wanted.branch != base:
        message = f"{FILE.as_posix()} is about {wanted.branch}, but promotions go to {base} (forge: base)"
        return Diagnosis("required", "fault", message, "name the same branch in both files")
    return _compared(api.repo, base, differences(wanted, current))


def _compared(repo: str, base: str, weaker: Sequence["RuleDifference"]) -> Diagnosis:
    """What is open while rules on GitHub are weaker than wanted."""
    if not weaker:
        return Diagnosis("required", "ok", f"{base} of {repo} has the rules that the guard needs")
    left_open = "; ".join(f"{its.open or 'not as wanted'} ({its.rule})" for its in weaker)
    is_fault = any(its.rule.startswith("required check") for its in weaker)
    todo = "run dartlab-coreloop guard protect, and again with --confirm"
    return Diagnosis("required", "fault" if is_fault else "warning", f"{base} of {repo}: {left_open}", todo)


_INIT = "run dartlab-coreloop init --owner @LOGIN --confirm and commit"


def check_owners(root: Path) -> Diagnosis:
    """Check what can be known without GitHub."""
    found = read_codeowners(root)
    if found is None:
        message = f"there is no CODEOWNERS ({', '.join(PLACES)}): nobody must review the guard's own files"
        return Diagnosis("owners", "warning", message, _INIT)
    path, text = found
    if has_placeholder(text):
        return Diagnosis("owners", "warning", f"{path} names the placeholder {PLACEHOLDER}", _INIT)
    if missing := unowned(path, text):
        lines = ", ".join(f"{pattern} @LOGIN" for pattern in dict.fromkeys(missing.values()))
        message = f"{path} has no owner for {listed(missing)}"
        return Diagnosis("owners", "warning", message, f"add {lines} and commit")
    return Diagnosis("owners", "ok", f"{path} has owners for the guard's own files")


@dataclass(frozen=True, slots=True)
class _OwnersError:
    line: int
    message: str
    path: str


@dataclass(frozen=True, slots=True)
class _OwnersErrors:
    errors: tuple[_OwnersError, ...]


def check_owners_on_github(api: GithubApi, branch: str) -> Iterator[Diagnosis]:
    """What GitHub finds wrong with a branch's CODEOWNERS, such as an owner who cannot review."""
    todo = "give the owner write access, or name another; then push CODEOWNERS"
    try:
        doing = f"read the errors of CODEOWNERS in {api.repo}"
        answer = api.get("/codeowners/errors", doing=doing, query={"ref": branch})
        ignored = [
            f"{its.path}:{its.line}: {its.message.partition(chr(10))[0]}"
            for its in answer.decoded(_OwnersErrors).errors
        ]
    except ForgeNotFoundError:
        ignored = ["there is no CODEOWNERS, so nobody must review the guard's own files"]
    except ForgeError as error:
        ignored = [f"not checked: {error}"]
    for text in ignored:
        yield Diagnosis("owners", "warning", f"GitHub, on {branch}: {printable(text)}", todo)
