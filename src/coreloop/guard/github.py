"""The guard's requests to GitHub: reads for the merge queue, and undoing what would merge without a human.

No operation here merges, turns on auto-merge or marks a pull request ready for review; never add such an
operation.
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
from coreloop.guard.facts import CheckInputs, check_event, queued
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
    """The API of the repository that the workflow runs in, else of the project's.

    Parameters
    ----------
    repository : Repository
        Its remote's address is used if neither the environment nor the settings name a repository.
    settings : ForgeSettings
        ``repo``, if set.
    environ : mapping
        ``GITHUB_REPOSITORY``, the token in ``GITHUB_TOKEN`` or ``GH_TOKEN``, ``GITHUB_API_URL``.

    Raises
    ------
    ForgeAuthError
        There is no token.
    UsageError
        No GitHub repository is configured.
    """
    repo = environ.get("GITHUB_REPOSITORY") or settings.repo or github_repo(repository)
    if not repo:
        raise UsageError("no GitHub repository is configured; set forge: repo in coreloop.yaml")
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    from coreloop.forge.urllib_transport import UrllibTransport  # loads ssl and http only when required

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
    """Write the answers of GitHub that `coreloop.guard.facts.check_event` needs in the merge queue.

    For any other event the lists are empty, and no request is sent.

    Parameters
    ----------
    out : Path
        Gets ``reviews.json``, ``pulls.json`` and ``commits.json``.
    inputs : CheckInputs
        The event.
    environ : mapping
        As for `connect_api`.

    Raises
    ------
    CoreloopError
        An input cannot be read, or GitHub does not answer.
    """
    numbers, required = queued(inputs)
    answers = {"reviews": b"[]", "pulls": b"[]", "commits": b"[]"}
    if numbers:
        with _connected(inputs, environ) as api:
            answers = gather(api, numbers, required=required)
    for name, content in answers.items():
        write_private(out / f"{name}.json", content)
    return Gathered(tuple(sorted(numbers)), out)


def act(inputs: CheckInputs, environ: Mapping[str, str], *, confirm: bool) -> Acted:
    """Decide as the check does, and carry out the decision's actions.

    Raises
    ------
    CoreloopError
        An input cannot be read, or GitHub cannot be asked. Refused actions are in the result.
    """
    actions = check_event(inputs).actions
    failed: dict[int, str] = {}
    if confirm and actions:
        with _connected(inputs, environ) as api:
            for index, action in enumerate(actions):
                try:
                    take_back(api, action)
                except ForgeError as error:  # the other actions may succeed
                    failed[index] = str(error)
    return Acted(actions, confirm, failed)


@contextmanager
def _connected(inputs: CheckInputs, environ: Mapping[str, str]) -> Iterator[GithubApi]:
    settings = open_workspace(inputs.folder).settings.forge
    with Repository(inputs.folder) as repository, connect_api(repository, settings, environ) as api:
        yield api


def gather(api: GithubApi, numbers: Collection[int], *, required: int | None) -> dict[str, bytes]:
    """Reviews, pull requests and head commits, each a JSON list of what the API returns.

    Parameters
    ----------
    api : GithubApi
    numbers : collection of int
        Pull requests; absent numbers are skipped, since a commit's subject may name an issue.
    required : int, optional
        The number that must exist.
    """
    answers: dict[str, list[Any]] = {"reviews": [], "pulls": [], "commits": []}
    for number in sorted(numbers):
        try:
            pull = api.get(f"/pulls/{number}", doing=f"read #{number}")
        except ForgeNotFoundError:
            if number == required:
                raise
            continue
        sha = pull.decoded(_Headed).head.sha
        commit = api.get(f"/commits/{sha}", doing=f"read {sha[:12]}")
        answers["pulls"].append(pull.decoded(dict[str, Any]))
        answers["commits"].append(commit.decoded(dict[str, Any]))
        reviews = api.pages(f"/pulls/{number}/reviews", list[Any], doing=f"list reviews of #{number}")
        answers["reviews"].extend(reviews)
    return {name: json.dumps(items).encode() for name, items in answers.items()}


def take_back(api: GithubApi, action: Action) -> None:
    """Remove a label, turn auto-merge off, or make a pull request a draft again.

    Raises
    ------
    ForgeError
        The token lacks the permission, or GitHub does not answer. The check stays red.
    """
    if action.label is not None:
        doing = f"remove the label {action.label} from #{action.pull}"
        with suppress(ForgeNotFoundError):  # already removed
            api.delete(f"/issues/{action.pull}/labels/{quote(action.label, safe='')}", doing=doing)
        return
    answer = api.get(f"/pulls/{action.pull}", doing=f"read #{action.pull}")
    api.mutate(_MUTATIONS[action.what], pullRequestId=answer.decoded(_Pull).node_id)
