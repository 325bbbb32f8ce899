"""What a pull request changes, read from git: its commits, and the changed file's bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from coreloop.base.errors import GitError
from coreloop.base.git.repository import Commit, Repository

_REGULAR: Final = frozenset({"100644", "100755"})
_LINK: Final = "120000"
EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git's name of a tree without files, which a commit without parents is compared with."""


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path that differs.

    Attributes
    ----------
    modes : tuple of (str, str)
        Before and after; ``000000`` where the file does not exist. A renamed file is two paths.
    old, new : bytes
        Read only if this is the only changed path and regular on both sides; else empty.
    """

    path: str
    modes: tuple[str, str]
    old: bytes = b""
    new: bytes = b""

    @property
    def is_regular(self) -> bool:
        """Whether it is a regular file on both sides, not a link or a submodule."""
        return set(self.modes) <= _REGULAR


@dataclass(frozen=True, slots=True)
class Texts:
    """A changed Python file before and after; empty where it does not exist."""

    path: str
    old: bytes
    new: bytes

    def may_gain(self) -> bool:
        """Whether a new docstring may have a bullet: it has a dash, or what may be one.

        That is an escape, another letter that is shown as a dash, or the name of another encoding.
        """
        signs = any(sign in self.new for sign in (b"-", b"\\", b"coding"))
        return self.new != self.old and (signs or not self.new.isascii())


@dataclass(frozen=True, slots=True)
class AddedLine:
    """A line of coreloop's that a docstring gains; `qualname` is "" for a module, and if unknown."""

    path: str
    qualname: str
    line: str


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits between a base and a head.

    Attributes
    ----------
    commits : tuple of Commit
        Commits of the head that are not in the base, newest first.
    merge_base : str
        The commit that the change started from.
    """

    base: str
    head: str
    commits: tuple[Commit, ...]
    merge_base: str


def read_change(repository: Repository, *, base: str, head: str) -> CommitRange:
    """Read the commits that a head adds to a base.

    Parameters
    ----------
    repository : Repository
        A full clone.
    base, head : str
        Commits.

    Raises
    ------
    GitError
        The clone is shallow or lacks one of the commits, or the commits have no common history.
    """
    if repository.is_shallow():
        raise GitError("this clone is shallow, so the commits of the change are unknown; fetch with depth 0")
    merge_base = repository.merge_base(base, head)
    if merge_base is None:
        raise GitError(_no_merge_base(repository, base, head))
    return CommitRange(base, head, tuple(repository.log(head, exclude=base)), merge_base)


def _no_merge_base(repository: Repository, base: str, head: str) -> str:
    for name, sha in (("base", base), ("head", head)):
        if repository.resolve(sha) is None:
            return f"this clone does not have the {name} commit {sha}; fetch it first"
    return f"{base[:12]} and {head[:12]} have no common history"


def read_files(repository: Repository, old: str, new: str) -> tuple[PathChange, ...]:
    """The files that differ between two commits; a single regular file comes with its bytes."""
    differences = repository.differences(old, new)
    files = tuple(PathChange(its.path, its.modes) for its in differences)
    if len(files) != 1 or not files[0].is_regular:
        return files
    return (PathChange(files[0].path, files[0].modes, *map(repository.blob, differences[0].blobs)),)


def read_texts(repository: Repository, old: str, new: str) -> Iterator[Texts]:
    """The Python files that differ between two commits, before and after; a link is what it leads to."""
    differences = {difference.path: difference for difference in repository.differences(old, new)}
    plain = {path for path, its in differences.items() if path.endswith(".py") and _LINK not in its.modes}
    for path in sorted(plain):
        sides = zip(differences[path].modes, differences[path].blobs, strict=True)
        yield Texts(path, *(repository.blob(blob) if mode in _REGULAR else b"" for mode, blob in sides))
    linked = differences.keys() - plain and {*differences, *repository.links(new)} - plain
    for path in sorted(path for path in linked if path.endswith(".py")):
        yield Texts(path, *(repository.followed(commit, path) or b"" for commit in (old, new)))
