"""What a decision rests on, gathered for an event: git, coreloop.yaml and files of what the API said."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coreloop.docstrings.ownership import promoted_lines
from coreloop.errors import GitError, UsageError
from coreloop.guard.change import Change, FileChange, read_change, read_files
from coreloop.guard.claims import is_promotion, merged_pulls
from coreloop.guard.event import (
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    read_authorships,
    read_event,
    read_pulls,
    read_reviews,
)
from coreloop.guard.policy import Decision, Facts, claims, decide
from coreloop.guard.promotion import shrunk_target
from coreloop.history.repository import Commit, Repository
from coreloop.project.settings import Settings
from coreloop.project.workspace import open_workspace
from coreloop.proposals.lines import is_form


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Where everything is: the options of ``guard check``.

    Attributes
    ----------
    folder : Path
        A checkout of the base: its coreloop.yaml counts, and nothing of the pull request is run.
    base, head : str, optional
        Commits; what the payload says, where they are not given.
    """

    event: Path
    event_name: str
    folder: Path
    base: str | None = None
    head: str | None = None
    reviews: Path | None = None
    pulls: Path | None = None
    commits: Path | None = None


def check_event(asked: Asked) -> Decision:
    """Read everything and decide.

    Raises
    ------
    CoreloopError
        Something cannot be read or is not known: then nothing may go on.
    """
    event = read_event(asked.event, asked.event_name)
    return decide(event, _read_facts(event, asked))


def queued(asked: Asked) -> tuple[set[int], int | None]:
    """Numbers of the pull requests that an event puts into the merge queue, and the one that must be there.

    Raises
    ------
    CoreloopError
        Something cannot be read.
    """
    event = read_event(asked.event, asked.event_name)
    if isinstance(event, MergeGroupEvent):
        base, head = read_range(event, asked)
        with Repository(asked.folder) as repository:
            numbers = merged_pulls(read_change(repository, base=base, head=head).commits)
        return numbers | ({event.number} if event.number is not None else set()), event.number
    if isinstance(event, PullRequestEvent) and event.action == "enqueued":
        return {event.pull.number}, event.pull.number
    return set(), None


def read_range(event: PullRequestEvent | MergeGroupEvent, asked: Asked) -> tuple[str, str]:
    """Base and head.

    Raises
    ------
    UsageError
        The head is not that of the event.
    """
    ends = event.pull if isinstance(event, PullRequestEvent) else event
    base, head = ends.base_sha, ends.head_sha
    if asked.head not in {None, head}:
        raise UsageError(f"--head {asked.head} is not the head of the event, {head}; leave it out")
    return asked.base or base, head


def _read_facts(event: Event, asked: Asked) -> Facts:
    if isinstance(event, PushEvent):
        return Facts(files={}, settings=Settings())
    reviews = read_reviews(asked.reviews) if asked.reviews is not None else ()
    pulls = read_pulls(asked.pulls) if asked.pulls is not None else ()
    authorships = read_authorships(asked.commits) if asked.commits is not None else ()
    base, head = read_range(event, asked)
    with Repository(asked.folder) as repository:
        change = read_change(repository, base=base, head=head)
        if not claims(event, change.commits, pulls):
            return Facts(commits=change.commits, files={}, settings=Settings(), pulls=pulls)
        workspace = open_workspace(asked.folder)
        if isinstance(event, PullRequestEvent):
            files = {head: read_files(repository, change.merge_base, head)}
        else:
            files = _files_of_promotions(repository, change.commits)
        project = _below(repository.root, workspace.root)
        return Facts(
            commits=change.commits,
            files=files,
            settings=workspace.settings,
            project=project,
            ours=_ours(repository, change, files, project),
            reviews=reviews,
            pulls=pulls,
            authorships=authorships,
        )


def _ours(
    repository: Repository, change: Change, files: Mapping[str, tuple[FileChange, ...]], project: str
) -> dict[str, frozenset[str]]:
    """Lines of promotions that were merged, read only where a promotion takes lines out."""
    found = {}
    for sha, changed in files.items():
        commit = next((one for one in change.commits if one.sha == sha), None)
        target = shrunk_target(changed, commit) if commit is not None else None
        if commit is None or target is None:
            continue
        path = project + target.partition("::")[0]
        base = commit.parents[0]
        found[sha] = promoted_lines(repository, base, path=path, target=target, is_form=is_form)
    return found


def _files_of_promotions(
    repository: Repository, commits: Iterable[Commit]
) -> dict[str, tuple[FileChange, ...]]:
    """What each promotion of a group changes, against the commit before it."""
    alone = (commit for commit in commits if is_promotion(commit) and len(commit.parents) == 1)
    return {commit.sha: read_files(repository, commit.parents[0], commit.sha) for commit in alone}


def _below(root: Path, project: Path) -> str:
    try:
        below = project.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as error:
        raise GitError(f"{project} is not in the repository {root}; run the guard in the project") from error
    return "" if below == "." else f"{below}/"
