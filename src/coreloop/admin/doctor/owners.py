"""Check that CODEOWNERS requires a review of the guard's own files."""

from collections.abc import Iterator
from pathlib import Path

from coreloop.admin.doctor.diagnosis import Diagnosis, listed
from coreloop.admin.init.scaffold import read_codeowners, unowned
from coreloop.base.github.github_api import GithubApi
from coreloop.base.project.owners import PLACEHOLDER, PLACES, has_placeholder, ignored_lines

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
    if ignored := list(ignored_lines(text)):
        message = f"GitHub ignores lines of {path}: {listed(ignored)}"
        return Diagnosis("owners", "warning", message, "correct them and commit")
    if missing := unowned(path, text):
        lines = ", ".join(f"{pattern} @LOGIN" for pattern in dict.fromkeys(missing.values()))
        message = f"{path} has no owner for {listed(missing)}"
        return Diagnosis("owners", "warning", message, f"add {lines} and commit")
    return Diagnosis("owners", "ok", f"{path} has owners for the guard's own files")


def check_owners_on_github(api: GithubApi, branch: str) -> Iterator[Diagnosis]:
    """What GitHub finds wrong with a branch's CODEOWNERS, such as an owner who cannot review."""
    from coreloop.guard.readiness import owners_errors  # only needed with a token

    for error in owners_errors(api, branch):
        todo = "give the owner write access, or name another; then push CODEOWNERS"
        yield Diagnosis("owners", "warning", f"GitHub, on {branch}: {error}", todo)
