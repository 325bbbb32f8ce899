"""What became of the promotions: merged, reverted, or waiting for a human; from git and the forge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from coreloop.forge.protocol import PullRequest
from coreloop.history.promotions import OpenBranch, open_branches, read_history
from coreloop.history.repository import Repository
from coreloop.status.stability import Stability, read_stability


@dataclass(frozen=True, slots=True)
class OpenPromotion:
    """A promotion that waits for a human; without ``url`` no pull request of it is known."""

    branch: str
    since: datetime
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotions:
    """What the base branch, the promotion branches and the forge say.

    Attributes
    ----------
    merged : int
        In effect.
    by_phase : mapping of str to int
        The same by phase, R and F.
    reverted : int
        Not in effect any more.
    newest : datetime or None
        When the newest of those in effect was merged.
    open : tuple of OpenPromotion
        The oldest first.
    """

    base: str
    merged: int
    by_phase: Mapping[str, int]
    reverted: int
    newest: datetime | None
    open: tuple[OpenPromotion, ...]
    stability: Stability


def read_promotions(
    repository: Repository,
    base: str,
    pulls: Iterable[PullRequest],
    *,
    project: Path,
    now: datetime,
) -> Promotions:
    """Read the promotions of a base branch, and those that wait; fetches nothing.

    Parameters
    ----------
    repository : Repository
        The project's.
    base : str
        Name of the base branch.
    pulls : iterable of PullRequest
        The open ones of coreloop, where there is a forge that was asked.
    project : Path
        The project's folder.
    now : datetime
        Aware.

    Raises
    ------
    GitError
        There is no such branch.
    """
    history = read_history(repository.log(repository.base(base)))
    found = history.promotions()
    standing = {one.sha: one for one in found if not one.reverted}
    places = [merge.place for merge in history.merges if merge.promotion.sha in standing]
    phases = [one.phase for one in standing.values()]
    folder = PurePosixPath(project.resolve().relative_to(repository.root.resolve()).as_posix())
    return Promotions(
        base=base,
        merged=len(standing),
        by_phase={phase: phases.count(phase) for phase in ("R", "F")},
        reverted=len(found) - len(standing),
        newest=history.moment(max(places), now=now) if places else None,
        open=join_open(open_branches(repository, {one.key for one in found}), pulls),
        stability=read_stability(repository, history, folder=folder, now=now),
    )


def join_open(branches: Iterable[OpenBranch], pulls: Iterable[PullRequest]) -> tuple[OpenPromotion, ...]:
    """Branches that this clone knows and pull requests that the forge knows, the oldest first."""
    found = {one.name: OpenPromotion(one.name, one.committed_at) for one in branches}
    for pull in pulls:
        found[pull.branch] = OpenPromotion(pull.branch, pull.created_at, pull.url)
    return tuple(sorted(found.values(), key=lambda one: (one.since, one.branch)))
