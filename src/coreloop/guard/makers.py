"""Whose a gained line is: of the commit that first brings its words, not of one that moves or merges it."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from coreloop.base.git.repository import Commit, Repository
from coreloop.guard.added_lines import read_added_lines, written_lines
from coreloop.guard.change import AddedLine, read_texts

_EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git's name of a tree without files, which a commit without parents is compared with."""


def machine_made(
    repository: Repository, commits: Sequence[Commit], machines: Set[str], added: Sequence[AddedLine]
) -> Iterator[tuple[AddedLine, str]]:
    """The lines that a machine's commit brings, and that commit.

    Who moves a line does not bring it. As long as no docstring has its words, who writes them elsewhere does.

    Parameters
    ----------
    commits : sequence of Commit
        Newest first.
    machines : set of str
        Those that are no person's.
    """
    if machines.isdisjoint(commit.sha for commit in commits):
        return
    oldest_first = [_Placed(repository, commit) for commit in reversed(commits)]
    for line in added:
        sha = _maker(oldest_first, line.line, machines)
        if sha is not None:
            yield line, sha


@dataclass(frozen=True)
class _Placed:
    """The lines that a commit places."""

    repository: Repository
    commit: Commit

    @cached_property
    def brought(self) -> set[str]:
        """Those that docstrings gain, and of a merge none of its parents has there."""
        return {line.line for line in set.intersection(*self._gained)}

    @cached_property
    def kept(self) -> set[str]:
        """Those that a merge keeps of a parent, too."""
        return {line.line for line in set.union(*self._gained)}

    @cached_property
    def written(self) -> set[str]:
        """Those that any text gains."""
        sha = self.commit.sha
        patches = (self.repository.patch(parent, sha) for parent in self._parents)
        return set.intersection(*(set(written_lines(patch)) for patch in patches))

    @cached_property
    def _gained(self) -> list[set[AddedLine]]:
        sha = self.commit.sha
        return [set(read_added_lines(read_texts(self.repository, old, sha))) for old in self._parents]

    @property
    def _parents(self) -> tuple[str, ...]:
        return self.commit.parents or (_EMPTY,)


def _maker(oldest_first: Sequence[_Placed], line: str, machines: Set[str]) -> str | None:
    """The machine's commit that brings a line; if no commit does, the machine's merge that keeps it."""
    is_there = False
    for placed in oldest_first:
        is_machine = placed.commit.sha in machines
        if is_there and not is_machine:
            continue
        brings = line in placed.brought
        if is_machine and (brings or (not is_there and line in placed.written)):
            return placed.commit.sha
        is_there = is_there or brings
    keeps = (its.commit.sha for its in oldest_first if its.commit.sha in machines and line in its.kept)
    return None if is_there else next(keeps, None)
