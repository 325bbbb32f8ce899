"""What was promoted, reverted or is under way, read from git: the commits' trailers are the only record."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from coreloop.errors import NoRepositoryError
from coreloop.history.repository import Commit, Repository
from coreloop.history.trailers import BRANCH_PREFIX, promoted_keys, read_promoted

_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Promotion:
    """A commit that carries a candidate's key.

    Attributes
    ----------
    phase : str
        ``R`` or ``F``.
    merged_at : datetime
        When it came to the branch, UTC: the time of the merge, not of the commit that the merge brought.
    reverted : bool
        Whether a later commit took it back, and no still later one brought it again.
    """

    key: str
    candidate_id: str
    phase: str
    target: str
    sha: str
    merged_at: datetime
    reverted: bool


@dataclass(frozen=True, slots=True)
class Merge:
    """One time that a promotion came to the branch.

    Attributes
    ----------
    landing, below : str
        The commit that brought it there, a merge or the promotion's own, and the one that this stands on;
        ``below`` is empty where there is none.
    place : int
        Place of ``landing`` in `History.times_s`.
    """

    promotion: Promotion
    landing: str
    below: str
    place: int


@dataclass(frozen=True, slots=True)
class History:
    """What a line of history says of promotions.

    Attributes
    ----------
    merges : tuple of Merge
        In the order in which they came; what was reverted and promoted again is in it twice.
    revert_places : tuple of int
        Where a promotion was taken back, whether or not it came again.
    times_s : tuple of int
        Committer's times along the first parents, the oldest commit first, in seconds since 1970.
    """

    merges: tuple[Merge, ...]
    revert_places: tuple[int, ...]
    times_s: tuple[int, ...]

    def promotions(self) -> list[Promotion]:
        """One for each key, in the order of their merges: the oldest, or one that followed on its revert."""
        found: dict[str, Promotion] = {}
        for one in (merge.promotion for merge in self.merges):
            standing = found.get(one.key)
            if standing is None or (standing.reverted and not one.reverted):
                found.pop(one.key, None)  # its place is that of the newer merge
                found[one.key] = one
        return list(found.values())

    def moment(self, place: int, *, now: datetime) -> datetime:
        """When something came to the branch, as far as clocks can be trusted.

        A machine whose clock was behind cannot make a commit older than those that it stands on, and none
        is of the future.
        """
        now_s = int(now.timestamp())
        if self.times_s[place] > now_s:
            return now
        return datetime.fromtimestamp(max(at for at in self.times_s[: place + 1] if at <= now_s), UTC)


def promotions(commits: Iterable[Commit]) -> list[Promotion]:
    """The promotions in a line of history.

    Parameters
    ----------
    commits : iterable of Commit
        Newest first, as `Repository.log` gives them; squash and merge commits alike, since a squash keeps
        the trailers.

    Returns
    -------
    list of Promotion
        In the order in which they came to the branch. Of several commits with one key (a merge commit that
        repeats the trailers) the oldest stands for all.
    """
    return read_history(commits).promotions()


def read_history(commits: Iterable[Commit]) -> History:
    """Every merge and every revert of a promotion; ``commits`` as in `promotions`."""
    ordered = list(commits)[::-1]
    alive = _alive(ordered)
    line = _first_parents(ordered)
    landings = _landings(ordered, line)
    merges: dict[tuple[str, int], Merge] = {}
    for commit in ordered:
        if _REVERTS.search(commit.message):
            continue
        for trailers in read_promoted(commit.message):
            key = trailers.get("Candidate-Key")
            if key and trailers.get("Phase") in {"R", "F"}:
                landing = landings[commit.sha]
                promotion = _promotion(commit, trailers, landing.commit, reverted=not alive[commit.sha])
                below = landing.commit.parents[0] if landing.commit.parents else ""
                merge = Merge(promotion, landing.commit.sha, below, landing.place)
                merges.setdefault((key, landing.place), merge)  # a merge commit may repeat the trailers
    promoted = {merge.promotion.sha for merge in merges.values()}
    reverts = {landings[sha].place for sha in _taking_back(ordered, promoted)}
    return History(
        merges=tuple(sorted(merges.values(), key=lambda one: one.place)),
        revert_places=tuple(sorted(reverts)),
        times_s=tuple(commit.committed_s for commit in line),
    )


def project_keys(folder: Path, *, base: str) -> frozenset[str]:
    """`known_keys` of the repository that a folder belongs to; none when it belongs to none."""
    try:
        repository = Repository(folder)
    except NoRepositoryError:
        return frozenset()
    with repository:
        repository.require_history()
        return known_keys(repository, base=base)


def known_keys(repository: Repository, *, base: str) -> frozenset[str]:
    """Keys that are not proposed again: on the base branch, reverted there, or on an open branch.

    Parameters
    ----------
    repository : Repository
        Only what this clone knows is read: nothing is fetched.
    base : str
        Name of the base branch; its remote-tracking branches count too, of whatever remote.
    """
    remotes = repository.remotes()
    names = [base, *(f"{remote}/{base}" for remote in remotes)]
    bases = [sha for name in names if (sha := repository.resolve(name)) is not None]
    merged = {one.key for sha in bases for one in promotions(repository.log(sha))}
    here = (None, *remotes)
    return frozenset(merged.union(*(open_keys(repository, remote=remote) for remote in here)))


def open_keys(repository: Repository, *, remote: str | None) -> dict[str, str]:
    """Candidate keys at the heads of promotion branches that this clone knows, with the branches' names."""
    heads = repository.promotion_heads(remote, BRANCH_PREFIX)
    return {key: branch for branch, commit in heads.items() for key in promoted_keys(commit.message)}


@dataclass(frozen=True, slots=True)
class OpenBranch:
    """A branch with a promotion that is not on the base branch, and the time of its commit, UTC."""

    name: str
    key: str
    committed_at: datetime


def open_branches(repository: Repository, merged: Collection[str]) -> list[OpenBranch]:
    """Promotion branches that this clone knows, here or of a remote, but for those of ``merged`` keys."""
    found = {}
    for remote in (None, *repository.remotes()):
        for name, commit in repository.promotion_heads(remote, BRANCH_PREFIX).items():
            for key in promoted_keys(commit.message):
                if key not in merged:
                    found[name] = OpenBranch(name, key, datetime.fromtimestamp(commit.committed_s, UTC))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Landing:
    """A commit of the line of first parents, and its place there from the oldest on."""

    place: int
    commit: Commit


def _promotion(commit: Commit, trailers: Mapping[str, str], landing: Commit, *, reverted: bool) -> Promotion:
    return Promotion(
        key=trailers["Candidate-Key"],
        candidate_id=trailers.get("Candidate-Id", ""),
        phase=trailers["Phase"],
        target=trailers.get("Target", ""),
        sha=commit.sha,
        merged_at=datetime.fromtimestamp(landing.committed_s, UTC),
        reverted=reverted,
    )


def _first_parents(ordered: list[Commit]) -> list[Commit]:
    """The line of first parents of the newest commit, the oldest first."""
    commits = {commit.sha: commit for commit in ordered}
    line: list[Commit] = []
    step = ordered[-1] if ordered else None
    while step is not None:
        line.append(step)
        step = commits.get(step.parents[0]) if step.parents else None
    return line[::-1]


def _landings(ordered: list[Commit], line: list[Commit]) -> dict[str, _Landing]:
    """What brought each commit to the branch: itself, or a merge.

    A commit's own time says when it was proposed; a draft may wait for weeks.
    """
    commits = {commit.sha: commit for commit in ordered}
    landings: dict[str, _Landing] = {}
    for place, commit in enumerate(line):
        left = [commit.sha]
        while left:
            sha = left.pop()
            if sha in commits and sha not in landings:
                landings[sha] = _Landing(place, commit)
                left.extend(commits[sha].parents)
    return landings


def _taking_back(ordered: list[Commit], promoted: set[str]) -> list[str]:
    """Commits that take a promotion back: its reverts, but not the reverts of these."""
    parents = {commit.sha: commit.parents for commit in ordered}
    undoes: dict[str, bool] = {}
    for commit in ordered:
        named = tuple(_REVERTS.findall(commit.message))
        for sha in [sha for sha in parents if sha.startswith(named)] if named else ():
            touched = {sha, *_brought(sha, parents)}
            reverts = touched & undoes.keys()
            if touched & promoted or reverts:
                undoes[commit.sha] = bool(touched & promoted) or not any(undoes[one] for one in reverts)
    return [sha for sha, back in undoes.items() if back]


def _alive(ordered: list[Commit]) -> dict[str, bool]:
    """Whether each commit is in effect: what is reverted is not, unless the revert is reverted.

    Decided from the newest on, since a revert can itself be taken back only by a later commit. Who reverts a
    merge takes back what it brought, although only the merge is named.
    """
    parents = {commit.sha: commit.parents for commit in ordered}
    alive = {commit.sha: True for commit in ordered}
    for commit in reversed(ordered):
        named = tuple(_REVERTS.findall(commit.message)) if alive[commit.sha] else ()
        reverted = [sha for sha in alive if sha.startswith(named)] if named else []
        alive |= {gone: False for sha in reverted for gone in (sha, *_brought(sha, parents))}
    return alive


def _brought(sha: str, parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Commits that a merge brought to the line of its first parent."""
    first, others = parents[sha][:1], parents[sha][1:]
    return _ancestors(others, parents) - _ancestors(first, parents) if others else set()


def _ancestors(shas: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    left, found = list(shas), set[str]()
    while left:
        sha = left.pop()
        if sha not in found:
            found.add(sha)
            left.extend(parents.get(sha, ()))
    return found
