"""What was promoted, reverted or is under way, read from git: the commits' trailers are the only record."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from coreloop.errors import NoRepositoryError
from coreloop.repository import Commit, Repository
from coreloop.trailers import BRANCH_PREFIX, read_trailers

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
    ordered = list(commits)[::-1]
    alive = _alive(ordered)
    landings = _landings(ordered)
    found: dict[str, Promotion] = {}
    for commit in ordered:
        trailers = read_trailers(commit.message)
        key = trailers.get("Candidate-Key")
        if key and trailers.get("Phase") in {"R", "F"} and not _REVERTS.search(commit.message):
            standing = found.get(key)
            if standing is None or (standing.reverted and alive[commit.sha]):
                found[key] = _promotion(
                    commit, trailers, landings[commit.sha], reverted=not alive[commit.sha]
                )
    return sorted(found.values(), key=lambda one: landings[one.sha].place)


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
    return {
        key: branch
        for branch, message in heads.items()
        if (key := read_trailers(message).get("Candidate-Key"))
    }


@dataclass(frozen=True, slots=True)
class _Landing:
    """Place in the line of first parents, from the oldest on, and the time there."""

    place: int
    at_s: int


def _promotion(
    commit: Commit, trailers: Mapping[str, str], landing: _Landing, *, reverted: bool
) -> Promotion:
    return Promotion(
        key=trailers["Candidate-Key"],
        candidate_id=trailers.get("Candidate-Id", ""),
        phase=trailers["Phase"],
        target=trailers.get("Target", ""),
        sha=commit.sha,
        merged_at=datetime.fromtimestamp(landing.at_s, UTC),
        reverted=reverted,
    )


def _landings(ordered: list[Commit]) -> dict[str, _Landing]:
    """What brought each commit to the branch: itself, or a merge.

    A commit's own time says when it was proposed; a draft may wait for weeks.
    """
    commits = {commit.sha: commit for commit in ordered}
    line: list[Commit] = []
    step = ordered[-1] if ordered else None
    while step is not None:
        line.append(step)
        step = commits.get(step.parents[0]) if step.parents else None
    landings: dict[str, _Landing] = {}
    for place, commit in enumerate(reversed(line)):
        left = [commit.sha]
        while left:
            sha = left.pop()
            if sha in commits and sha not in landings:
                landings[sha] = _Landing(place, commit.committed_s)
                left.extend(commits[sha].parents)
    alone = {commit.sha: _Landing(0, commit.committed_s) for commit in ordered}
    return alone | landings


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
