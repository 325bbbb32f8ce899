"""The facts that a decision on a possible promotion is based on: git, coreloop.yaml and the API's answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from coreloop.docstrings.ownership import promoted_lines
from coreloop.errors import GitError
from coreloop.guard.change import Change, FileChange, read_files
from coreloop.guard.claims import is_promotion
from coreloop.guard.event import MergeGroupEvent, PullRequestEvent
from coreloop.guard.gained import own_lines
from coreloop.guard.inputs import Answers
from coreloop.guard.policy import Facts, claims, promotion_of
from coreloop.guard.promotion import shrunk_target
from coreloop.guard.signs import read_signs
from coreloop.history.repository import Commit, Repository
from coreloop.project.settings import Settings
from coreloop.project.workspace import open_workspace
from coreloop.proposals.lines import is_form
from coreloop.proposals.words import BaseNames

_Versions: TypeAlias = tuple[tuple[FileChange, ...], ...]
"""The files that a promotion changes: alone, then with later commits."""


def read_facts(
    repository: Repository,
    event: PullRequestEvent | MergeGroupEvent,
    change: Change,
    *,
    folder: Path,
    answers: Answers,
) -> Facts:
    """The facts about a change; its files and the settings only if something is a sign of a promotion.

    Parameters
    ----------
    folder : Path
        A checkout of the base: its coreloop.yaml counts, and no code of the pull request runs.
    """
    names = BaseNames(repository, change.base)
    signs = read_signs(repository, change, names, folder=folder, default_branch=event.default_branch)
    facts = Facts(
        commits=change.commits,
        files={},
        settings=Settings(),
        landed=signs.landed,
        gained=signs.gained,
        reviews=answers.reviews,
        pulls=answers.pulls,
        authorships=answers.authorships,
    )
    if not claims(event, facts):
        return facts
    if isinstance(event, PullRequestEvent):
        promotions, versions = _of_pull(repository, change, facts)
    else:
        promotions, versions = _of_group(repository, facts)
    workspace = open_workspace(folder)
    project = _below(repository.root, workspace.root)
    return replace(
        facts,
        files={sha: files[0] for sha, files in versions.items()},
        repairs={sha: files[1:] for sha, files in versions.items()},
        settings=workspace.settings,
        project=project,
        ours=_ours(repository, promotions, versions, project),
        names=names.among(_added(chain.from_iterable(versions.values()))),
    )


def _of_pull(
    repository: Repository, change: Change, facts: Facts
) -> tuple[dict[str, Commit], dict[str, _Versions]]:
    """The promotion of a pull request and what the whole pull request changes, both by the head's hash."""
    promotion = [replace(commit, parents=(change.merge_base,)) for commit in promotion_of(facts)]
    files = read_files(repository, change.merge_base, change.head)
    return dict(zip([change.head], promotion, strict=False)), {change.head: (files,)}


def _of_group(repository: Repository, facts: Facts) -> tuple[dict[str, Commit], dict[str, _Versions]]:
    """The promotions of a group and what each changes, with later commits as well, by hash."""
    own = [commit for commit in facts.commits if commit.sha not in facts.landed]
    promotions = {commit.sha: commit for commit in own if is_promotion(commit) and len(commit.parents) == 1}
    children: dict[str, list[str]] = {}
    for commit in own:
        for parent in commit.parents:
            children.setdefault(parent, []).append(commit.sha)
    versions = {sha: tuple(_versions(repository, commit, children)) for sha, commit in promotions.items()}
    return promotions, versions


def _versions(
    repository: Repository, promotion: Commit, children: Mapping[str, Sequence[str]]
) -> Iterator[tuple[FileChange, ...]]:
    """The files that a promotion changes, alone and with each later commit while it is a single file."""
    following: Sequence[str] = (promotion.sha,)
    while len(following) == 1:
        files = read_files(repository, promotion.parents[0], following[0])
        if len(files) != 1 and following[0] != promotion.sha:
            return
        yield files
        following = children.get(following[0], ())


def _added(files: Iterable[tuple[FileChange, ...]]) -> Iterator[tuple[str, bytes]]:
    """The lines that docstrings of the files gain, each with its file before the change."""
    for file in (file for changed in files for file in changed if file.path.endswith(".py")):
        yield from ((line, file.old) for _, line in own_lines(file.new) - own_lines(file.old))


def _ours(
    repository: Repository,
    promotions: Mapping[str, Commit],
    versions: Mapping[str, _Versions],
    project: str,
) -> dict[str, frozenset[str]]:
    """Lines of merged promotions by commit, read only for promotions that remove lines."""
    lines = {}
    for sha, commit in promotions.items():
        targets = (shrunk_target(files, commit) for files in versions[sha])
        target = next(filter(None, targets), None)
        if target is not None:
            path, base = project + target.partition("::")[0], commit.parents[0]
            lines[sha] = promoted_lines(repository, base, path=path, target=target, is_form=is_form)
    return lines


def _below(root: Path, project: Path) -> str:
    try:
        below = project.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as error:
        raise GitError(f"{project} is not in the repository {root}; run the guard in the project") from error
    return "" if below == "." else f"{below}/"
