"""Source files of the docstring commands: parse targets, and compare files with a revision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coreloop.base.errors import GitError, UsageError
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.descriptions.edit import Refused
from coreloop.descriptions.lost_sections import OTHER_SECTIONS, Loss, Shape, lost_sections, shapes


@dataclass(frozen=True, slots=True)
class FileReport:
    """The docstrings of one file: their sections, lost sections, or why the file is unreadable."""

    path: Path
    shapes: tuple[Shape, ...] = ()
    lost: tuple[Loss, ...] = ()
    unreadable: str | None = None


def split_target(target: str) -> tuple[Path, str, int | None]:
    """Parse ``path.py::qualname`` or ``path.py::qualname:LINE``."""
    file, marker, name = target.rpartition("::")
    qualname, _, line = name.partition(":")
    if not (marker and file and qualname) or (line and not line.isdecimal()):
        raise UsageError(
            f"{target!r} is not a docstring target; write path.py::qualname or path.py::qualname:LINE"
        )
    return Path(file), qualname, int(line) if line else None


def check_files(
    paths: Sequence[Path], *, root: Path, base: str | None, sections: Sequence[str]
) -> list[FileReport]:
    """Report on every Python file of some paths.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders to search.
    root : Path
        A folder of the repository that has the revision.
    base : str, optional
        Revision to compare with.
    sections : sequence of str
        Sections to report on.

    Raises
    ------
    GitError
        The revision or the repository does not exist.
    """
    if base is None:
        return [_report(path, None, sections) for path in _python_files(paths)]
    with Repository(root) as repository:
        sha = repository.resolve(base)
        if sha is None:
            raise GitError(f"revision {base} does not exist; fetch it, or name another")
        return [_compared(path, repository, sha, sections) for path in _python_files(paths)]


def _compared(path: Path, repository: Repository, sha: str, sections: Sequence[str]) -> FileReport:
    root = repository.root.resolve()
    if not path.resolve().is_relative_to(root):
        return FileReport(
            path, unreadable="it is outside the repository, so it cannot be compared with a revision"
        )
    return _report(path, repository.read(sha, path.resolve().relative_to(root).as_posix()), sections)


def _report(path: Path, old: bytes | None, sections: Sequence[str]) -> FileReport:
    source = read_file(path)
    present = shapes(source, sections=sections)
    if isinstance(present, Refused):
        return FileReport(path, unreadable=present.reason)
    known = (*sections, *(name for name in OTHER_SECTIONS if name not in sections))
    lost = lost_sections(old, source, sections=known) if old is not None else ()
    if isinstance(lost, Refused):
        return FileReport(path, present, unreadable=f"at the other revision: {lost.reason}")
    return FileReport(path, present, lost)


def _python_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)
