"""Source files for the docstring commands: named by a target, compared with a revision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coreloop.docstrings.edit import Refused
from coreloop.docstrings.shape import OTHER_SECTIONS, Loss, Shape, lost_sections, shapes
from coreloop.errors import GitError, UsageError
from coreloop.files import read_file
from coreloop.history.repository import Repository


@dataclass(frozen=True, slots=True)
class FileReport:
    """The docstrings of one file: their sections, what they lost, or why the file cannot be read."""

    path: Path
    shapes: tuple[Shape, ...] = ()
    lost: tuple[Loss, ...] = ()
    unreadable: str | None = None


def split_target(target: str) -> tuple[Path, str, int | None]:
    """``path.py::qualname`` or ``path.py::qualname:LINE``."""
    file, marker, name = target.rpartition("::")
    qualname, _, line = name.partition(":")
    if not (marker and file and qualname) or (line and not line.isdecimal()):
        raise UsageError(f"{target!r} names no docstring; write path.py::qualname or path.py::qualname:LINE")
    return Path(file), qualname, int(line) if line else None


def check_files(
    paths: Sequence[Path], *, root: Path, base: str | None, sections: Sequence[str]
) -> list[FileReport]:
    """Look at every Python file of some paths.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders that are searched.
    root : Path
        A folder of the repository whose revision is meant.
    base : str, optional
        Revision to compare with.
    sections : sequence of str
        Names asked for.

    Raises
    ------
    GitError
        There is no such revision, or no repository.
    """
    if base is None:
        return [_report(path, None, sections) for path in _python_files(paths)]
    with Repository(root) as repository:
        sha = repository.resolve(base)
        if sha is None:
            raise GitError(f"there is no revision {base}")
        return [_compared(path, repository, sha, sections) for path in _python_files(paths)]


def _compared(path: Path, repository: Repository, sha: str, sections: Sequence[str]) -> FileReport:
    root = repository.root.resolve()
    if not path.resolve().is_relative_to(root):
        return FileReport(
            path, unreadable="it is outside of the repository: there is nothing to compare with"
        )
    return _report(path, repository.read(sha, path.resolve().relative_to(root).as_posix()), sections)


def _report(path: Path, old: bytes | None, sections: Sequence[str]) -> FileReport:
    source = read_file(path)
    found = shapes(source, sections=sections)
    if isinstance(found, Refused):
        return FileReport(path, unreadable=found.reason)
    known = (*sections, *(name for name in OTHER_SECTIONS if name not in sections))
    lost = lost_sections(old, source, sections=known) if old is not None else ()
    if isinstance(lost, Refused):
        return FileReport(path, found, unreadable=f"at the other revision: {lost.reason}")
    return FileReport(path, found, lost)


def _python_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)
