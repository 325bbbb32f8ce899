"""Connecting to the forge of a repository, if any."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.github.protocol import Forge
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import open_workspace

if TYPE_CHECKING:
    from coreloop.base.github.github_api import GithubApi

Connect = Callable[[Repository, ForgeSettings, Mapping[str, str]], AbstractContextManager[Forge | None]]
"""`connect_forge`, or what takes its place."""

# As git decides: a scheme, or a colon before the first slash; a single letter before the colon is a drive.
_HOST = re.compile(r"(?!file:)[\w+.-]+://|(?!file:)[^/:\s]{2,}:(?!//)", re.IGNORECASE)


@contextmanager
def connect_forge(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str], *, patiently: bool = True
) -> Iterator[Forge | None]:
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
    patiently : bool
        Whether failed requests are retried.
    """
    token = token_of(environ)
    repo = pull_request_repo(repository, settings)
    if not token or repo is None:
        yield None
        return
    from coreloop.base.github.github_api import DEFAULT_URL
    from coreloop.base.github.github_forge import Connection, GithubForge

    url = environ.get("GITHUB_API_URL") or DEFAULT_URL
    connection = Connection(base_url=url, tries=4 if patiently else 1)
    with GithubForge(repo, token=token, connection=connection) as forge:
        yield forge


@contextmanager
def connect_api(folder: Path, environ: Mapping[str, str]) -> Iterator["GithubApi"]:
    """The API of the repository that a workflow runs in, else of coreloop.yaml, else of git's remote.

    Only the standard library and PyYAML are needed.
    """
    repo = environ.get("GITHUB_REPOSITORY")
    if not repo:
        with Repository(folder) as repository:
            repo = open_workspace(folder).settings.forge.repo or github_repo(repository)
    if not repo:
        raise UsageError("no GitHub repository is configured; set forge: repo in coreloop.yaml")
    with open_api(repo, environ) as api:
        yield api


def open_api(repo: str, environ: Mapping[str, str], *, timeout_s: int = 15, tries: int = 4) -> "GithubApi":
    """Open the API with the token in GITHUB_TOKEN or GH_TOKEN, at GITHUB_API_URL if that is set."""
    from coreloop.base.github.github_api import DEFAULT_URL, GithubApi  # loads ssl and http

    url = environ.get("GITHUB_API_URL") or DEFAULT_URL
    return GithubApi(repo, token_of(environ), base_url=url, timeout_s=timeout_s, tries=tries)


def token_of(environ: Mapping[str, str]) -> str:
    """Return the token; empty if there is none."""
    return environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""


def pull_request_repo(repository: Repository, settings: ForgeSettings) -> str | None:
    """``owner/name`` of the repository on GitHub that gets the pull requests; None without one."""
    return (settings.repo or github_repo(repository)) if _has_host(repository) else None


def describe_fork(repository: Repository, settings: ForgeSettings) -> str | None:
    """The repository that a push reaches if pull requests go to another, and what to do; else None.

    A pull request from a fork is red in the guard, and coreloop would not find it again.
    """
    remote = repository.remote()
    repo = pull_request_repo(repository, settings)
    if remote is None or repo is None:
        return None
    read, *pushed = map(_named, (repository.remote_url(remote), *repository.push_urls(remote)))
    other = next((name for name in (read, *pushed) if name and name.lower() != repo.lower()), None)
    if other is None:
        return None
    return (
        f"{remote} is {other}, but pull requests go to {repo}, where the guard refuses those from a fork; "
        f"point {remote} at {repo} with git remote set-url, or set forge: repo to {other}"
    )


def _named(address: str) -> str | None:
    """``owner/name``: the last two parts of an address's path."""
    path = re.sub(r"^[\w+.-]+://[^/]*|^[^/:]+:", "", address).rstrip("/").removesuffix(".git")
    parts = [part for part in path.split("/") if part]
    return "/".join(parts[-2:]) if _HOST.match(address) and len(parts) >= 2 else None


def _has_host(repository: Repository) -> bool:
    remote = repository.remote()
    return remote is not None and _HOST.match(repository.remote_url(remote)) is not None
