"""What the guard's commands are called with: an event, a checkout, and files with the API's answers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Commit, Repository
from coreloop.guard.change import read_change
from coreloop.guard.claims import merged_pulls
from coreloop.guard.event import (
    Authorship,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    ReportedPull,
    Review,
    queue_number,
    read_authorships,
    read_event,
    read_pulls,
    read_reviews,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInputs:
    """The options of ``guard check``.

    Attributes
    ----------
    folder : Path
        A checkout of the base: its coreloop.yaml counts, and no code of the pull request runs.
    base : str, optional
        A commit; by default the payload's.
    """

    event: Path
    event_name: str
    folder: Path
    base: str | None = None
    reviews: Path | None = None
    pulls: Path | None = None
    commits: Path | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The API's answers; empty if absent."""

    pulls: tuple[ReportedPull, ...] = ()
    reviews: tuple[Review, ...] = ()
    authorships: tuple[Authorship, ...] = ()


def read_answers(inputs: CheckInputs) -> tuple[Event, Answers]:
    """`read_live` with the other answers."""
    event, pulls = read_live(inputs)
    reviews = read_reviews(inputs.reviews) if inputs.reviews is not None else ()
    return event, Answers(pulls, reviews, read_authorships(inputs.commits) if inputs.commits else ())


def read_live(inputs: CheckInputs) -> tuple[Event, tuple[ReportedPull, ...]]:
    """The event, with its pull request as the API shows it if ``--pulls`` is given, and the pull requests.

    Raises
    ------
    UsageError
        ``--pulls`` lacks the event's pull request, or shows it with another base than the event.
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
    if not live.shows_pusher:  # then the event's sender is known alone
        live = replace(live, activity=(*live.activity, *event.pull.activity))
    return replace(event, pull=live, live=True), pulls


def concerned(inputs: CheckInputs) -> tuple[set[int], int | None]:
    """Numbers of the pull requests that an event is about, and the number that must exist on GitHub."""
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
    """Base and head commit."""
    source = event.pull if isinstance(event, PullRequestEvent) else event
    return inputs.base or source.base_sha, source.head_sha
