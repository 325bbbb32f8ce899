"""Merged, reverted and open promotions, read from git.

The commits' trailers say which line was promoted. A message may say anything: that a line was taken back, or
brought again, is believed only where the texts show it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from coreloop.base.git.repository import Commit, Repository
from coreloop.base.git.trailers import BRANCH_PREFIX, promoted_keys, read_promoted

REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Promotion:
    """A commit with the key of a candidate.

    Attributes
    ----------
    phase : str
        ``R`` or ``F``.
    merged_at : datetime
        When it was merged, UTC: the time of the merge commit, not of the commit that it merged.
    reverted : bool
        Whether a later commit reverted it, so that its line is gone, and that revert was not reverted.
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
    """A merge of a promotion; a promotion may be merged several times.

    Attributes
    ----------
    landing, parent : str
        The commit on the branch, a merge commit or the promotion's own, and its first parent; ``parent`` is
        empty for a root commit.
    place : int
        Index of ``landing`` in `History.line`.
    """

    promotion: Promotion
    landing: str
    parent: str
    place: int


@dataclass(frozen=True, slots=True)
class History:
    """The promotions in a line of history.

    Attributes
    ----------
    merges : tuple of Merge
        In order; a promotion that was reverted and promoted again is listed twice.
    revert_places : tuple of int
        Indexes of the commits that reverted a promotion, also of promotions that were merged again.
    line, commits : tuple of Commit
        The first parents, and all of them with their ancestors, oldest first.
    keys : frozenset of str
        Keys that any of them names.
    """

    merges: tuple[Merge, ...]
    revert_places: tuple[int, ...]
    line: tuple[Commit, ...]
    commits: tuple[Commit, ...]
    keys: frozenset[str]

    def promotions(self) -> list[Promotion]:
        """One promotion per key, in the order of merges: the first, or the one in effect after its revert.

        Squash commits count like merges, since they keep the trailers. Of several commits with one key (a
        merge commit may repeat the trailers) only the oldest is listed.
        """
        by_key: dict[str, Promotion] = {}
        for promotion in (merge.promotion for merge in self.merges):
            earlier = by_key.get(promotion.key)
            if earlier is None or (earlier.reverted and not promotion.reverted):
                by_key.pop(promotion.key, None)  # its place is that of the newer merge
                by_key[promotion.key] = promotion
        return list(by_key.values())

    def merged_at(self) -> dict[str, datetime]:
        """The time of each key's newest merge."""
        return {merge.promotion.key: merge.promotion.merged_at for merge in self.merges}

    def timestamp(self, place: int, *, now: datetime) -> datetime:
        """When a commit came to the branch, corrected for wrong clocks.

        A commit is not older than its ancestors, and not newer than ``now``.
        """
        now_s, times_s = int(now.timestamp()), [commit.committed_s for commit in self.line[: place + 1]]
        if times_s[-1] > now_s:
            return now
        return datetime.fromtimestamp(max(at for at in times_s if at <= now_s), UTC)


@lru_cache(maxsize=2)
def read_history(repository: Repository, sha: str) -> History:
    """Every merge and every revert of a promotion.

    Parameters
    ----------
    repository : Repository
        Has the texts of the commits that say that they revert or repeat a promotion.
    sha : str
        The newest commit.
    """
    ordered = list(repository.log(sha))[::-1]
    groups = {commit.sha: read_promoted(commit.message) for commit in ordered}
    promoted = {sha for sha, its in groups.items() if its}
    texts = _Texts(repository)
    undone = _undone(ordered, promoted, texts)
    reverted = _reverted(undone)
    line = _first_parents(ordered)
    places = _places(ordered, line)
    merges: dict[tuple[str, int], Merge] = {}
    first: dict[str, str] = {}
    for commit in ordered:
        for trailers in groups[commit.sha]:
            landing = line[places[commit.sha]]
            origin = first.setdefault(trailers["Candidate-Key"], commit.sha)
            if origin != commit.sha and not texts.brings_again(landing.sha, origin):
                continue
            promotion = _promotion(commit, trailers, landing, reverted=commit.sha in reverted)
            merge = Merge(promotion, landing.sha, "".join(landing.parents[:1]), places[commit.sha])
            merges.setdefault((promotion.key, merge.place), merge)  # a merge commit may repeat the trailers
    takes_back: dict[str, bool] = {}  # else it only brings back what another commit took
    for taker, its in undone.items():
        takes_back[taker] = not promoted.isdisjoint(its) or not all(takes_back[other] for other in its)
    reverts = {places[taker] for taker in undone if takes_back[taker]}
    return History(
        merges=tuple(sorted(merges.values(), key=lambda merge: merge.place)),
        revert_places=tuple(sorted(reverts)),
        line=tuple(line),
        commits=tuple(ordered),
        keys=frozenset(trailers["Candidate-Key"] for its in groups.values() for trailers in its),
    )


@dataclass(frozen=True, slots=True)
class OpenBranch:
    """A branch whose head is a promotion, and the time of its commit, UTC."""

    name: str
    key: str
    committed_at: datetime


def open_branches(repository: Repository, merged: Collection[str] = ()) -> list[OpenBranch]:
    """Promotion branches in this clone, local and remote-tracking, with each key that is not merged."""
    heads = (repository.promotion_heads(its, BRANCH_PREFIX).items() for its in (None, *repository.remotes()))
    return [
        OpenBranch(name, key, datetime.fromtimestamp(commit.committed_s, UTC))
        for branches in heads
        for name, commit in branches
        for key in promoted_keys(commit.message)
        if key not in merged
    ]


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
    """The line of first parents of the newest commit, oldest first."""
    commits = {commit.sha: commit for commit in ordered}
    line: list[Commit] = []
    step = ordered[-1] if ordered else None
    while step is not None:
        line.append(step)
        step = commits.get(step.parents[0]) if step.parents else None
    return line[::-1]


def _places(ordered: list[Commit], line: list[Commit]) -> dict[str, int]:
    """Where each commit came to the branch: its own place in the line, or that of the merge that brought it.

    A commit's own time is that of the proposal; a draft may wait for weeks.
    """
    commits = {commit.sha: commit for commit in ordered}
    places: dict[str, int] = {}
    for place, commit in enumerate(line):
        pending = [commit.sha]
        while pending:
            sha = pending.pop()
            if sha in commits and sha not in places:
                places[sha] = place
                pending.extend(commits[sha].parents)
    return places


class _Texts:
    """What commits did to the bullets of the texts, each against its first parent."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._changes: dict[str, Counter[str]] = {}

    def undoes(self, sha: str, other: str) -> bool:
        """Whether a commit takes back what another did, or nothing of what that added still stands."""
        own = self._change(sha)
        return all(
            own[bullet] * n < 0 or (n > 0 and not self._stands(sha, other, bullet))
            for bullet, n in self._change(other).items()
        )

    def brings_again(self, sha: str, other: str) -> bool:
        """Whether a commit adds the bullets of another again, or other bullets where none of those stands."""
        own = self._change(sha)
        adds = any(n > 0 for n in own.values())
        return all(
            own[bullet] > 0 or (adds and not self._stands(sha, other, bullet))
            for bullet, n in self._change(other).items()
            if n > 0
        )

    def _change(self, sha: str) -> Counter[str]:
        """How often each bullet is added, less how often it is removed; without zeros."""
        if sha not in self._changes:
            parent = self._repository.resolve(f"{sha}^1")
            lines = self._repository.patch(parent, sha).split("\n") if parent else []
            added, removed = (
                Counter(_bullets(line[1:] for line in lines if line[:1] == sign)) for sign in "+-"
            )
            self._changes[sha] = (added - removed) + Counter()
            self._changes[sha].subtract(removed - added)
        return self._changes[sha]

    def _stands(self, sha: str, other: str, bullet: str) -> bool:
        """Whether a bullet may stand in the files of another commit: in a file that moved, it may."""
        paths = self._repository.changed_files(f"{other}^1", other)
        texts = (self._repository.read(sha, path) for path in paths)
        return any(
            text is None or bullet in " ".join(text.decode("utf-8", "replace").split()) for text in texts
        )


def _bullets(lines: Iterable[str]) -> Iterator[str]:
    """The bullets of a text, each on one line: a deeper line goes on with the bullet above it."""
    bullet, depth = "", 0
    for line in (*lines, ""):
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if bullet and text and indent > depth and not text.startswith("- "):
            bullet += f" {text}"
            continue
        if bullet:
            yield bullet
        bullet, depth = (text, indent) if text.startswith("- ") else ("", 0)


def _undone(ordered: list[Commit], promoted: set[str], texts: _Texts) -> dict[str, set[str]]:
    """The commits that revert promotions, or such commits, and which; only ancestors count.

    The revert of a merge names only the merge, but also reverts the commits that it brought.
    """
    parents = {commit.sha: commit.parents for commit in ordered}
    undone: dict[str, set[str]] = {}
    for commit in ordered:
        named = tuple(REVERTS.findall(commit.message))
        shas = [sha for sha in parents if sha.startswith(named)] if named else []
        touched = {its for sha in shas for its in (sha, *_brought(sha, parents))}
        touched &= promoted | undone.keys()
        touched = touched and touched & _ancestors(commit.parents, parents)
        if touched := {sha for sha in touched if texts.undoes(commit.sha, sha)}:
            undone[commit.sha] = touched
    return undone


def _reverted(undone: dict[str, set[str]]) -> set[str]:
    """The commits that are not in effect, read from the newest on: only a later commit reverts a revert."""
    reverted = set[str]()
    for sha in reversed(undone):
        if sha not in reverted:
            reverted |= undone[sha]
    return reverted


def _brought(sha: str, parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Commits that a merge brought to the line of its first parent."""
    first, others = parents[sha][:1], parents[sha][1:]
    return _ancestors(others, parents) - _ancestors(first, parents) if others else set()


def _ancestors(shas: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    pending, ancestors = list(shas), set[str]()
    while pending:
        sha = pending.pop()
        if sha not in ancestors:
            ancestors.add(sha)
            pending.extend(parents.get(sha, ()))
    return ancestors
