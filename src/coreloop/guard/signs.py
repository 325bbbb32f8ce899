"""What git says about the signs of a change: landed promotions, and coreloop's lines that docstrings gain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from coreloop.guard.change import Change, Gained, read_texts
from coreloop.guard.claims import claims_of_commits, is_promotion
from coreloop.guard.gained import Lines, gained_lines, is_worded, own_lines, undone_lines
from coreloop.history.promotions import Promotion, promotions
from coreloop.history.repository import Repository
from coreloop.history.trailers import promoted_keys
from coreloop.project.workspace import open_workspace
from coreloop.proposals.words import BaseNames


@dataclass(frozen=True, slots=True)
class Signs:
    """Commits that count as landed, and the gained lines."""

    landed: frozenset[str] = frozenset()
    gained: tuple[Gained, ...] = ()


def read_signs(
    repository: Repository, change: Change, names: BaseNames, *, folder: Path, default_branch: str
) -> Signs:
    """Which commits' signs do not count, and which lines are signs.

    Parameters
    ----------
    folder : Path
        A checkout of the base; its coreloop.yaml is only read if a message or a line may be a sign.
    default_branch : str
        The repository's; it and ``forge: base`` are the protected branches, as fetched from the remote.
    """
    gained = gained_lines(read_texts(repository, change.merge_base, change.head))
    if not gained and not any(claims_of_commits(change.commits)):
        return Signs()
    settings = open_workspace(folder).settings
    landing = _Landing(repository, change, _tips(repository, default_branch, settings.forge.base))
    gained = tuple(line for line in gained if not landing.has(line))
    known = names.among((line.line, landing.source(line.path)) for line in gained)
    return Signs(
        landed=frozenset(landing.commits()),
        gained=tuple(
            line
            for line in gained
            if is_worded(line, landing.source(line.path), settings=settings, names=known)
        ),
    )


def _tips(repository: Repository, *branches: str) -> set[str]:
    """Commits of the remote's branches in this clone."""
    remote = repository.remote()
    refs = (f"refs/remotes/{remote}/{branch}" for branch in set(branches))
    return {sha for ref in refs if (sha := repository.resolve(ref)) is not None}


@dataclass(frozen=True)
class _Landing:
    """What a change brings that is on the base or a protected branch already."""

    repository: Repository
    change: Change
    tips: set[str]

    def commits(self) -> Iterator[str]:
        """Commits that a protected branch has, and copies of its promotions, as in a backport."""
        new = {commit.sha for commit in self.change.commits}
        for tip in self.tips - {self.change.base}:
            new &= {commit.sha for commit in self.repository.log(self.change.head, exclude=tip)}
        for commit in self.change.commits:
            keys = set(promoted_keys(commit.message)) if is_promotion(commit) else set()
            if commit.sha not in new or (keys and keys <= self._keys):
                yield commit.sha

    def has(self, line: Gained) -> bool:
        """Whether a protected branch has a line there, or undoing a promotion restores it."""
        return (line.qualname, line.line) in self._known(line.path)

    def source(self, path: str) -> bytes:
        """The file at the base, or at the head if the base does not have it."""
        return self._read(self.change.merge_base, path) or self._read(self.change.head, path)

    @cached_property
    def _histories(self) -> dict[str, list[Promotion]]:
        """The promotions of the base and of each protected branch."""
        return {tip: promotions(self.repository.log(tip)) for tip in {self.change.base, *self.tips}}

    @cached_property
    def _keys(self) -> set[str]:
        """Keys of the promotions in effect."""
        histories = self._histories.values()
        return {promotion.key for history in histories for promotion in history if not promotion.reverted}

    @cached_property
    def _revisions(self) -> set[str | None]:
        """The base, the protected branches, and where the change left these."""
        tips = self.tips - {self.change.base}
        left = (self.repository.merge_base(tip, self.change.head) for tip in tips)
        return {self.change.base, *tips, *left}

    @cached_property
    def _known(self) -> Callable[[str], frozenset[tuple[str, str]]]:
        """A file's lines that are on a protected branch or restored."""
        return cache(lambda path: frozenset().union(*self._landed(path), *self._undone(path)))

    def _landed(self, path: str) -> Iterator[Lines]:
        return (self._lines(revision, path) for revision in self._revisions)

    def _undone(self, path: str) -> Iterator[Lines]:
        for promotion in self._histories[self.change.base]:
            if f"/{path}".endswith(f"/{promotion.target.partition('::')[0]}"):
                yield undone_lines(
                    self._lines(self.change.merge_base, path),
                    self._lines(self.change.head, path),
                    before=self._lines(self.repository.resolve(f"{promotion.sha}^"), path),
                    after=self._lines(promotion.sha, path),
                )

    @cached_property
    def _read(self) -> Callable[[str | None, str], bytes]:
        """A file at a commit, empty if absent; each is read once."""

        def read(revision: str | None, path: str) -> bytes:
            return (self.repository.read(revision, path) if revision else None) or b""

        return cache(read)

    def _lines(self, revision: str | None, path: str) -> Lines:
        return own_lines(self._read(revision, path))
