"""The facts that a decision is based on: git, coreloop.yaml and files with the API's answers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coreloop.docstrings.ownership import promoted_lines
from coreloop.errors import GitError, UsageError
from coreloop.guard.change import FileChange, read_change, read_files
from coreloop.guard.claims import is_promotion, merged_pulls
from coreloop.guard.event import (
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ReportedPull,
    queue_number,
    read_authorships,
    read_event,
    read_pulls,
    read_reviews,
)
from coreloop.guard.gained import own_lines
from coreloop.guard.policy import Decision, Facts, claims, decide, needs_approval, promotion_of
from coreloop.guard.promotion import shrunk_target
from coreloop.guard.signs import names_at, read_signs
from coreloop.history.repository import Commit, Repository
from coreloop.project.settings import Settings
from coreloop.project.workspace import open_workspace
from coreloop.proposals.lines import is_form


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInputs:
    """The options of ``guard check``.

    Attributes
    ----------
    folder : Path
        A checkout of the base: its coreloop.yaml counts, and no code of the pull request runs.
    base, head : str, optional
        Commits; by default those of the payload.
    """

    event: Path
    event_name: str
    folder: Path
    base: str | None = None
    head: str | None = None
    reviews: Path | None = None
    pulls: Path | None = None
    commits: Path | None = None


def check_event(inputs: CheckInputs) -> Decision:
    """Read the facts of an event and decide.

    Raises
    ------
    CoreloopError
        An input cannot be read or is unknown; the check must fail.
    """
    event, pulls = read_live(inputs)
    return decide(event, _read_facts(event, pulls, inputs))


def read_live(inputs: CheckInputs) -> tuple[Event, tuple[ReportedPull, ...]]:
    """The event, with its pull request as the API shows it if ``--pulls`` is given, and the pull requests.

    Raises
    ------
    UsageError
        ``--pulls`` lacks the event's pull request, or shows it with another base than the event.
    CoreloopError
        An input cannot be read.
    """
    event = read_event(inputs.event, inputs.event_name)
    if inputs.pulls is None:
        return event, ()
    pulls = read_pulls(inputs.pulls)
    if not isinstance(event, PullRequestEvent):
        return event, pulls
    live = next((pull for pull in pulls if pull.number == event.pull.number), None)
    if live is None:
        raise UsageError(f"--pulls does not list #{event.pull.number}")
    if live.base != event.pull.base:  # the checkout is that of the event's base
        raise UsageError(f"#{live.number} has another base since this event; re-run the newest run instead")
    return replace(event, pull=live, live=True), pulls


def needs_reviews(inputs: CheckInputs) -> bool:
    """Whether the decision depends on reviews: a merge group, or a promotion that is not a draft.

    Raises
    ------
    CoreloopError
        An input cannot be read.
    """
    event, pulls = read_live(inputs)
    if not isinstance(event, PullRequestEvent) or not needs_approval(event):
        return isinstance(event, MergeGroupEvent)
    if claims(event, Facts(files={}, settings=Settings(), pulls=pulls)):
        return True
    return bool(claims(event, _read_facts(event, pulls, inputs)))


def concerned(inputs: CheckInputs) -> tuple[set[int], int | None]:
    """Numbers of the pull requests that an event is about, and the number that must exist on GitHub.

    Raises
    ------
    CoreloopError
        An input cannot be read.
    """
    event = read_event(inputs.event, inputs.event_name)
    if isinstance(event, MergeGroupEvent):
        base, head = read_range(event, inputs)
        with Repository(inputs.folder) as repository:
            commits = read_change(repository, base=base, head=head).commits
            numbers = merged_pulls(commits) | _entries(repository, commits)
        return numbers | ({event.number} if event.number is not None else set()), event.number
    if isinstance(event, PullRequestEvent):
        return {event.pull.number}, event.pull.number
    return set(), None


def _entries(repository: Repository, commits: Iterable[Commit]) -> set[int]:
    """Numbers of the queue's earlier entries, which a rebase does not name in its commits."""
    shas = {commit.sha for commit in commits}
    heads = repository.promotion_heads(repository.remote(), "gh-readonly-queue/")
    names = (f"refs/heads/{name}" for name, commit in heads.items() if commit.sha in shas)
    return {number for name in names if (number := queue_number(name)) is not None}


def read_range(event: PullRequestEvent | MergeGroupEvent, inputs: CheckInputs) -> tuple[str, str]:
    """Base and head commit.

    Raises
    ------
    UsageError
        ``--head`` is not the head of the event.
    """
    source = event.pull if isinstance(event, PullRequestEvent) else event
    base, head = source.base_sha, source.head_sha
    if inputs.head not in {None, head}:
        raise UsageError(f"--head {inputs.head} is not the head of the event, {head}; omit --head")
    return inputs.base or base, head


def _read_facts(event: Event, pulls: tuple[ReportedPull, ...], inputs: CheckInputs) -> Facts:
    if isinstance(event, PushEvent):
        return Facts(files={}, settings=Settings())
    reviews = read_reviews(inputs.reviews) if inputs.reviews is not None else ()
    authorships = read_authorships(inputs.commits) if inputs.commits is not None else ()
    base, head = read_range(event, inputs)
    with Repository(inputs.folder) as repository:
        change = read_change(repository, base=base, head=head)
        signs = read_signs(
            repository,
            change,
            base=base,
            head=head,
            folder=inputs.folder,
            default_branch=event.default_branch,
        )
        facts = Facts(
            commits=change.commits,
            files={},
            settings=Settings(),
            landed=signs.landed,
            gained=signs.gained,
            reviews=reviews,
            pulls=pulls,
            authorships=authorships,
        )
        if not claims(event, facts):
            return facts
        workspace = open_workspace(inputs.folder)
        if isinstance(event, PullRequestEvent):
            files = {head: read_files(repository, change.merge_base, head)}
            promotion = [replace(commit, parents=(change.merge_base,)) for commit in promotion_of(facts)]
            commits = dict(zip([head], promotion, strict=False))
        else:
            own = (commit for commit in change.commits if commit.sha not in signs.landed)
            files = _files_of_promotions(repository, own)
            commits = {commit.sha: commit for commit in change.commits if commit.sha in files}
        project = _below(repository.root, workspace.root)
        return replace(
            facts,
            files=files,
            settings=workspace.settings,
            project=project,
            ours=_ours(repository, commits, files, project),
            names=names_at(repository, base, _added(files)),
        )


def _added(files: Mapping[str, tuple[FileChange, ...]]) -> Iterator[str]:
    """The lines that docstrings of the files gain."""
    for file in (file for changed in files.values() for file in changed if file.path.endswith(".py")):
        yield from (line for _, line in own_lines(file.new) - own_lines(file.old))


def _ours(
    repository: Repository,
    commits: Mapping[str, Commit],
    files: Mapping[str, tuple[FileChange, ...]],
    project: str,
) -> dict[str, frozenset[str]]:
    """Lines of merged promotions by commit, read only for promotions that remove lines."""
    lines = {}
    for sha, commit in commits.items():
        target = shrunk_target(files[sha], commit)
        if target is not None:
            path, base = project + target.partition("::")[0], commit.parents[0]
            lines[sha] = promoted_lines(repository, base, path=path, target=target, is_form=is_form)
    return lines


def _files_of_promotions(
    repository: Repository, commits: Iterable[Commit]
) -> dict[str, tuple[FileChange, ...]]:
    """The files that each promotion of a group changes, compared with its parent."""
    promotions = (commit for commit in commits if is_promotion(commit) and len(commit.parents) == 1)
    return {commit.sha: read_files(repository, commit.parents[0], commit.sha) for commit in promotions}


def _below(root: Path, project: Path) -> str:
    try:
        below = project.resolve().relative_to(root.resolve()).as_posix()
    except ValueError as error:
        raise GitError(f"{project} is not in the repository {root}; run the guard in the project") from error
    return "" if below == "." else f"{below}/"
