"""Connecting to the forge of a repository, if any."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.github.protocol import Forge
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import open_workspace

if TYPE_CHECKING:
    from coreloop.base.github.github_api import GithubApi

Connect = Callable[[Repository, ForgeSettings, Mapping[str, str]], Forge | None]
"""`connect_forge`, or what takes its place."""

# As git decides: a scheme, or a colon before the first slash; a single letter before the colon is a drive.
_HOST = re.compile(r"(?!file:)[\w+.-]+://|(?!file:)[^/:\s]{2,}:(?!//)", re.IGNORECASE)


def connect_forge(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str], *, tries: int = 4
) -> Forge | None:
    """The forge of a repository; None without a token or without a GitHub remote.

    A remote that is a folder (a path, ``file://``) has no forge, regardless of coreloop.yaml: a branch pushed
    there is not on a server. The address is taken as configured, before git's ``insteadOf``.

    Parameters
    ----------
    repository : Repository
        Its remote's address is used if coreloop.yaml does not name the GitHub repository.
    settings : ForgeSettings
        ``repo``, if set.
    environ : mapping
        The token in GITHUB_TOKEN or GH_TOKEN, the address of another server in GITHUB_API_URL.
    tries : int
        Attempts in all, for requests that only read.
    """
    token = token_of(environ)
    repo = pull_request_repo(repository, settings)
    if not token or repo is None:
        return None
    from coreloop.base.github.github_forge import GithubForge

    return GithubForge(repo, token=token, base_url=api_url(environ), tries=tries)


def connect_api(folder: Path, environ: Mapping[str, str]) -> "GithubApi":
    """The API of the repository that a workflow runs in, else of coreloop.yaml, else of git's remote.

    Only the standard library and PyYAML are needed.
    """
    repo = environ.get("GITHUB_REPOSITORY")
    if not repo:
        repo = open_workspace(folder).settings.forge.repo or github_repo(Repository(folder))
    if not repo:
        raise UsageError("no GitHub repository is configured; set forge: repo in coreloop.yaml")
    return open_api(repo, environ)


def open_api(repo: str, environ: Mapping[str, str], *, timeout_s: int = 15, tries: int = 4) -> "GithubApi":
    """The API with the token in GITHUB_TOKEN or GH_TOKEN, at GITHUB_API_URL if that is set."""
    from coreloop.base.github.github_api import GithubApi  # loads ssl and http

    return GithubApi(repo, token_of(environ), base_url=api_url(environ), timeout_s=timeout_s, tries=tries)


def api_url(environ: Mapping[str, str]) -> str:
    """Return the address of GitHub's API."""
    return environ.get("GITHUB_API_URL") or "https://api.github.com"


def token_of(environ: Mapping[str, str]) -> str:
    """Return the token; empty if there is none."""
    return environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""


def pull_request_repo(repository: Repository, settings: ForgeSettings) -> str | None:
    """``owner/name`` of the repository on GitHub that gets the pull requests; None without one."""
    remote = repository.remote()
    has_host = remote is not None and _HOST.match(repository.remote_url(remote))
    return (settings.repo or github_repo(repository)) if has_host else None


def describe_fork(repository: Repository, settings: ForgeSettings) -> str | None:
    """The repository on GitHub that a push reaches if pull requests go to another, and what to do; else None.

    A pull request from a fork is red in the guard, and coreloop would not find it again.
    """
    own, repo = github_repo(repository), settings.repo
    if own is None or repo is None or own.lower() == repo.lower():
        return None
    remote = repository.remote()
    return (
        f"{remote} is {own}, but pull requests go to {repo}, where the guard refuses those from a fork; "
        f"point {remote} at {repo} with git remote set-url, or set forge: repo to {own}"
    )
