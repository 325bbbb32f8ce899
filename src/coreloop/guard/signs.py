"""What git says about the signs of a change: landed promotions, and coreloop's lines that docstrings gain."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from coreloop.guard.change import Change, read_texts
from coreloop.guard.claims import claims_of_commits, is_promotion
from coreloop.guard.gained import Gained, Lines, gained_lines, is_worded, own_lines, undone_lines
from coreloop.guard.words import names_in
from coreloop.history.promotions import promotions
from coreloop.history.repository import Repository
from coreloop.history.trailers import promoted_keys
from coreloop.project.workspace import open_workspace

_SOURCES: Final = ("*.py", "*.json", "*.toml", "*.yaml", "*.yml")
"""Files that may declare a tool or an argument."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Commits that count as landed, and the gained lines."""

    landed: frozenset[str] = frozenset()
    gained: tuple[Gained, ...] = ()


def read_signs(
    repository: Repository, change: Change, *, base: str, head: str, folder: Path, default_branch: str
) -> Signs:
    """Which commits' signs do not count, and which lines are signs.

    Parameters
    ----------
    repository : Repository
    change : Change
        From base to head.
    folder : Path
        A checkout of the base; its coreloop.yaml is only read if a message or a line may be a sign.
    default_branch : str
        The repository's; it and ``forge: base`` are the protected branches, as fetched from the remote.
    """
    gained = gained_lines(read_texts(repository, change.merge_base, head))
    if not gained and not any(claims_of_commits(change.commits)):
        return Signs()
    settings = open_workspace(folder).settings
    landing = _Landing(repository, change, base, head, _tips(repository, default_branch, settings.forge.base))
    gained = tuple(line for line in gained if not landing.has(line))
    names = names_at(repository, base, (line.line for line in gained))
    return Signs(
        landed=frozenset(landing.commits()),
        gained=tuple(
            line
            for line in gained
            if is_worded(line, landing.source(line.path), settings=settings, names=names)
        ),
    )


def names_at(repository: Repository, base: str, lines: Iterable[str]) -> frozenset[str]:
    """The names in lines that the base's files have."""
    names = {name for line in lines for name in names_in(line)}
    return frozenset(name for name in names if repository.has_word(base, name, _SOURCES))


def _tips(repository: Repository, *branches: str) -> set[str]:
    """Commits of the remote's branches in this clone."""
    remote = repository.remote()
    refs = (f"refs/remotes/{remote}/{branch}" for branch in set(branches) if remote and branch)
    return {sha for ref in refs if (sha := repository.resolve(ref)) is not None}


@dataclass(frozen=True)
class _Landing:
    """What a change brings that is on the base or a protected branch already."""

    repository: Repository
    change: Change
    base: str
    head: str
    tips: set[str]

    def commits(self) -> Iterator[str]:
        """Commits that a protected branch has, and copies of its promotions, as in a backport."""
        new = {commit.sha for commit in self.change.commits}
        for tip in self.tips:
            new &= {commit.sha for commit in self.repository.log(self.head, exclude=tip)}
        for commit in self.change.commits:
            keys = set(promoted_keys(commit.message)) if is_promotion(commit) else set()
            if commit.sha not in new or (keys and keys <= self._keys):
                yield commit.sha

    def has(self, line: Gained) -> bool:
        """Whether a protected branch has a line there, or undoing a promotion restores it."""
        key = (line.qualname, line.line)
        return any(key in lines for lines in (*self._landed(line.path), *self._undone(line.path)))

    def source(self, path: str) -> bytes:
        """The file at the base, or at the head if the base does not have it."""
        read = self.repository.read
        return read(self.change.merge_base, path) or read(self.head, path) or b""

    @cached_property
    def _keys(self) -> set[str]:
        """Keys of the promotions in effect."""
        histories = (promotions(self.repository.log(tip)) for tip in {self.base, *self.tips})
        return {promotion.key for history in histories for promotion in history if not promotion.reverted}

    def _landed(self, path: str) -> Iterator[Lines]:
        for tip in {self.base, *self.tips}:
            for revision in {tip, self.repository.merge_base(tip, self.head)}:
                yield self._lines(revision, path)

    def _undone(self, path: str) -> Iterator[Lines]:
        base, head = self._lines(self.change.merge_base, path), self._lines(self.head, path)
        for promotion in promotions(self.repository.log(self.base)):
            if f"/{path}".endswith(f"/{promotion.target.partition('::')[0]}"):
                before = self._lines(self.repository.resolve(f"{promotion.sha}^"), path)
                after = self._lines(promotion.sha, path)
                yield undone_lines(base, head, before=before, after=after)

    def _lines(self, revision: str | None, path: str) -> Lines:
        return own_lines((self.repository.read(revision, path) if revision else None) or b"")
