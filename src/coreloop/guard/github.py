"""What the guard asks of GitHub: reviews for the merge queue, and taking back what a machine has set going.

There is no operation here that merges, turns on auto-merge or marks ready for review, and none may be added.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from coreloop.errors import ForgeError, ForgeNotFoundError, UsageError
from coreloop.files import write_private
from coreloop.forge.github_api import DEFAULT_URL, GithubApi
from coreloop.guard.facts import Asked, check_event, queued
from coreloop.guard.policy import Action
from coreloop.history.repository import Repository, github_repo
from coreloop.project.settings import ForgeSettings
from coreloop.project.workspace import open_workspace

_MUTATIONS: Final = {
    "disable_auto_merge": "disablePullRequestAutoMerge",
    "convert_to_draft": "convertPullRequestToDraft",
}


@dataclass(frozen=True, slots=True)
class _Pull:
    node_id: str


@dataclass(frozen=True, slots=True)
class _Head:
    sha: str


@dataclass(frozen=True, slots=True)
class _Headed:
    head: _Head


@contextmanager
def connect_api(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str]
) -> Iterator[GithubApi]:
    """The API of the repository that the workflow runs in, or of the one that the project names.

    Parameters
    ----------
    repository : Repository
        Its remote's address tells the GitHub repository where nothing else does.
    settings : ForgeSettings
        ``repo``, when it is set.
    environ : mapping
        ``GITHUB_REPOSITORY``, the token in ``GITHUB_TOKEN`` or ``GH_TOKEN``, ``GITHUB_API_URL``.

    Raises
    ------
    ForgeAuthError
        There is no token.
    UsageError
        Nothing names a repository on GitHub.
    """
    repo = environ.get("GITHUB_REPOSITORY") or settings.repo or github_repo(repository)
    if not repo:
        raise UsageError("no repository on GitHub is known; set forge: repo in coreloop.yaml")
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    from coreloop.forge.urllib_transport import UrllibTransport  # not for who asks nothing

    transport = UrllibTransport(token, base_url=environ.get("GITHUB_API_URL") or DEFAULT_URL)
    with GithubApi(repo, transport) as api:
        yield api


@dataclass(frozen=True, slots=True)
class Gathered:
    """What GitHub was asked about, and the folder with its answers."""

    numbers: tuple[int, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Acted:
    """What was to be done.

    Attributes
    ----------
    confirmed : bool
        Whether it was tried; without, it would be done.
    failed : dict of int to str
        Places of the actions that could not be done, and why.
    """

    actions: tuple[Action, ...]
    confirmed: bool
    failed: Mapping[int, str]


def gather_to(out: Path, asked: Asked, environ: Mapping[str, str]) -> Gathered:
    """Write what `coreloop.guard.facts.check_event` needs of GitHub in the merge queue into a folder.

    For any other event the lists are empty, and nothing is asked.

    Parameters
    ----------
    out : Path
        Gets ``reviews.json``, ``pulls.json`` and ``commits.json``.
    asked : Asked
        The event.
    environ : mapping
        As for `connect_api`.

    Raises
    ------
    CoreloopError
        Something cannot be read, or GitHub does not answer.
    """
    numbers, needed = queued(asked)
    said = {"reviews": b"[]", "pulls": b"[]", "commits": b"[]"}
    if numbers:
        with _connected(asked, environ) as api:
            said = gather(api, numbers, needed=needed)
    for name, content in said.items():
        write_private(out / f"{name}.json", content)
    return Gathered(tuple(sorted(numbers)), out)


def act(asked: Asked, environ: Mapping[str, str], *, confirm: bool) -> Acted:
    """Decide as the check does, and do what would help.

    Raises
    ------
    CoreloopError
        Something cannot be read, or nothing can be asked of GitHub; what it refuses is in the result.
    """
    actions = check_event(asked).actions
    failed: dict[int, str] = {}
    if confirm and actions:
        with _connected(asked, environ) as api:
            for at, action in enumerate(actions):
                try:
                    take_back(api, action)
                except ForgeError as error:  # the others may still be done
                    failed[at] = str(error)
    return Acted(actions, confirm, failed)


@contextmanager
def _connected(asked: Asked, environ: Mapping[str, str]) -> Iterator[GithubApi]:
    settings = open_workspace(asked.folder).settings.forge
    with Repository(asked.folder) as repository, connect_api(repository, settings, environ) as api:
        yield api


def gather(api: GithubApi, numbers: Collection[int], *, needed: int | None) -> dict[str, bytes]:
    """Reviews, pull requests and head commits, each a JSON list of what the API returns.

    Parameters
    ----------
    api : GithubApi
    numbers : collection of int
        Pull requests; one that is not there is left out, since a commit's subject may name an issue.
    needed : int, optional
        The one that must be there.
    """
    said: dict[str, list[Any]] = {"reviews": [], "pulls": [], "commits": []}
    for number in sorted(numbers):
        try:
            pull = api.get(f"/pulls/{number}", doing=f"read #{number}")
        except ForgeNotFoundError:
            if number == needed:
                raise
            continue
        sha = pull.decoded(_Headed).head.sha
        said["pulls"].append(pull.decoded(dict[str, Any]))
        said["commits"].append(api.get(f"/commits/{sha}", doing=f"read {sha[:12]}").decoded(dict[str, Any]))
        reviews = api.pages(f"/pulls/{number}/reviews", list[Any], doing=f"list reviews of #{number}")
        said["reviews"].extend(reviews)
    return {name: json.dumps(items).encode() for name, items in said.items()}


def take_back(api: GithubApi, action: Action) -> None:
    """Take a label off or auto-merge back, or make a pull request a draft again.

    Raises
    ------
    ForgeError
        The token may not, or GitHub does not answer: the check stays red all the same.
    """
    if action.label is not None:
        doing = f"take the label {action.label} off #{action.pull}"
        with suppress(ForgeNotFoundError):  # somebody was faster
            api.delete(f"/issues/{action.pull}/labels/{quote(action.label, safe='')}", doing=doing)
        return
    answer = api.get(f"/pulls/{action.pull}", doing=f"read #{action.pull}")
    api.mutate(_MUTATIONS[action.what], pullRequestId=answer.decoded(_Pull).node_id)
