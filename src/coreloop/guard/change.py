"""What a pull request changes, read from git: the commits that it brings, and files byte for byte."""

from dataclasses import dataclass
from typing import Final

from coreloop.errors import GitError
from coreloop.history.repository import Commit, FileDifference, Repository

_REGULAR: Final = frozenset({"100644", "100755"})


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs.

    Attributes
    ----------
    modes : tuple of (str, str)
        Before and after; ``000000`` where the file is not there: a renamed one is two paths.
    old, new : bytes
        Empty where there is no regular file, and where more than this path differs: then nobody reads them.
    """

    path: str
    modes: tuple[str, str]
    old: bytes = b""
    new: bytes = b""

    @property
    def is_regular(self) -> bool:
        """Whether it is a regular file on both sides: no link, no submodule."""
        return set(self.modes) <= _REGULAR


@dataclass(frozen=True, slots=True)
class Change:
    """What lies between a base and a head.

    Attributes
    ----------
    commits : tuple of Commit
        Those that the head has and the base has not, newest first.
    merge_base : str
        The commit that the change started from.
    """

    commits: tuple[Commit, ...]
    merge_base: str


def read_change(repository: Repository, *, base: str, head: str) -> Change:
    """Read what a head brings to a base.

    Parameters
    ----------
    repository : Repository
        A whole clone.
    base, head : str
        Commits.

    Raises
    ------
    GitError
        The clone is shallow, lacks one of them, or they have no common history.
    """
    if repository.is_shallow():
        raise GitError("this clone is shallow, so what the change brings cannot be known; fetch with depth 0")
    merge_base = repository.merge_base(base, head)
    if merge_base is None:
        raise GitError(_why_apart(repository, base, head))
    return Change(tuple(repository.log(head, exclude=base)), merge_base)


def _why_apart(repository: Repository, base: str, head: str) -> str:
    for what, sha in (("base", base), ("head", head)):
        if repository.resolve(sha) is None:
            return f"this clone has no commit {sha}, the {what}; fetch it first"
    return f"{base[:12]} and {head[:12]} have no history in common"


def read_files(repository: Repository, old: str, new: str) -> tuple[FileChange, ...]:
    """The files that differ between two commits, with their bytes where it is one regular file."""
    found = repository.differences(old, new)
    return tuple(_file(repository, one, alone=len(found) == 1) for one in found)


def _file(repository: Repository, one: FileDifference, *, alone: bool) -> FileChange:
    change = FileChange(one.path, one.modes)
    if not (alone and change.is_regular):
        return change
    old, new = (repository.blob(sha) for sha in one.blobs)
    return FileChange(one.path, one.modes, old, new)
