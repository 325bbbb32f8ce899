"""Whose a gained line is: of the commit that first brings its words, not of one that moves or merges it."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from coreloop.base.git.repository import Commit, Repository
from coreloop.guard.added_lines import read_added_lines, written_lines
from coreloop.guard.change import EMPTY, AddedLine, read_texts


def machine_made(
    repository: Repository, commits: Sequence[Commit], machines: Set[str], added: Sequence[AddedLine]
) -> Iterator[tuple[AddedLine, str]]:
    """The lines that one of the machines' commits brings, and that commit; `commits` are newest first."""
    oldest_first = [_Placed(repository, its.sha, its.parents or (EMPTY,)) for its in reversed(commits)]
    for line in () if machines.isdisjoint(its.sha for its in commits) else added:
        sha = _maker(oldest_first, line.line, machines)
        if sha is not None:
            yield line, sha


@dataclass(frozen=True)
class _Placed:
    """The lines that a commit places."""

    repository: Repository
    sha: str
    parents: tuple[str, ...]

    @cached_property
    def brought(self) -> set[str]:
        """Those that docstrings gain, and do not only move; of a merge those that no parent has there."""
        return {line.line for line in set.intersection(*self._gained)}

    @cached_property
    def kept(self) -> set[str]:
        """Those that docstrings gain compared with any parent, and those that they move."""
        texts = (read_texts(self.repository, parent, self.sha) for parent in self.parents)
        return {line.line for files in texts for line in read_added_lines(files, lambda _: None)}

    @cached_property
    def written(self) -> set[str]:
        """Those that any text gains."""
        patches = (self.repository.patch(parent, self.sha) for parent in self.parents)
        return set.intersection(*(set(written_lines(patch)) for patch in patches))

    @cached_property
    def _gained(self) -> list[set[AddedLine]]:
        return [set(read_added_lines(read_texts(self.repository, old, self.sha))) for old in self.parents]


def _maker(oldest_first: Sequence[_Placed], line: str, machines: Set[str]) -> str | None:
    """The machine's commit that brings a line; if nobody's does, the machine's that merges or moves it.

    As long as no docstring has its words, who writes them elsewhere brings it.
    """
    is_there = False
    for its in oldest_first:
        if its.sha in machines and (line in its.brought or (not is_there and line in its.written)):
            return its.sha
        is_there = is_there or line in its.brought
    keeping = (its.sha for its in oldest_first if its.sha in machines and line in its.kept)
    return None if is_there else next(keeping, None)
