"""The state of the promotions (merged, reverted or open), read from git and the forge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from coreloop.admin.status.stability import Stability, read_stability
from coreloop.base.git.promotions import OpenBranch, open_branches, read_history
from coreloop.base.git.repository import Repository
from coreloop.base.github.protocol import PullRequest


@dataclass(frozen=True, slots=True)
class OpenPromotion:
    """A promotion that is not merged yet; ``url`` is None if no pull request is known."""

    branch: str
    since: datetime
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotions:
    """Promotions of the base branch, of the promotion branches and of the forge.

    Attributes
    ----------
    merged : int
        Commits, with one or several lines each, that are merged and still in effect.
    by_phase : mapping of str to int
        Lines of these commits by phase, R and F.
    reverted : int
        Commits that are merged, but no longer in effect.
    newest : datetime or None
        When the newest promotion in effect was merged.
    open : tuple of OpenPromotion
        Oldest first.
    """

    base: str
    merged: int
    by_phase: Mapping[str, int]
    reverted: int
    newest: datetime | None
    open: tuple[OpenPromotion, ...]
    stability: Stability


def read_promotions(
    repository: Repository, base: str, pulls: Iterable[PullRequest], *, project: Path, now: datetime
) -> Promotions:
    """Read the merged and the open promotions of a base branch, without fetching.

    Parameters
    ----------
    repository : Repository
        The project's.
    base : str
        Name of the base branch.
    pulls : iterable of PullRequest
        Open pull requests of coreloop, as far as the forge is known.
    project : Path
        The project's folder.
    now : datetime
        Timezone-aware.

    Raises
    ------
    GitError
        The branch does not exist.
    """
    history = read_history(repository, repository.base(base))
    promotions = history.promotions()
    in_effect = {promotion.sha: promotion for promotion in promotions if not promotion.reverted}
    places = [merge.place for merge in history.merges if merge.promotion.sha in in_effect]
    phases = [promotion.phase for promotion in promotions if not promotion.reverted]
    folder = PurePosixPath(project.resolve().relative_to(repository.root.resolve()).as_posix())
    return Promotions(
        base=base,
        merged=len(in_effect),
        by_phase={phase: phases.count(phase) for phase in ("R", "F")},
        reverted=len({promotion.sha for promotion in promotions if promotion.reverted}),
        newest=history.timestamp(max(places), now=now) if places else None,
        open=join_open(open_branches(repository, history.merged_at()), pulls),
        stability=read_stability(repository, history, folder=folder, now=now),
    )


def join_open(branches: Iterable[OpenBranch], pulls: Iterable[PullRequest]) -> tuple[OpenPromotion, ...]:
    """Merge the branches of this clone with the pull requests of the forge, oldest first."""
    by_branch = {branch.name: OpenPromotion(branch.name, branch.committed_at) for branch in branches}
    for pull in pulls:
        by_branch[pull.branch] = OpenPromotion(pull.branch, pull.created_at, pull.url)
    return tuple(sorted(by_branch.values(), key=lambda promotion: (promotion.since, promotion.branch)))
