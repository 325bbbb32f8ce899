"""The files below a path that can be indexed, and the reasons why others are not."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coreloop.search.extract.kinds import extractor_of

MAX_FILE_BYTES: Final = 20_000_000
IGNORED_FOLDERS: Final = frozenset(
    {
        "node_modules",
        "__pycache__",
        "venv",
        "env",
        "site-packages",
        "dist",
        "build",
        "target",
        "site",
        "vendor",
    }
)
"""Besides these, folders and files whose names begin with a dot, and the project's data folder."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a kind that is read."""

    path: Path
    location: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not read, and why."""

    location: str
    reason: str


def location_of(path: Path, root: Path) -> str:
    """Return a path relative to the project, with ``/``; absolute if it is outside of it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def find_files(start: Path, root: Path, *, data_dir: Path) -> Iterator[FoundFile | SkippedFile]:
    """Yield the files at or below a path, in the order of their names; links are not followed.

    Parameters
    ----------
    start : Path
        Absolute and resolved; an absent path yields nothing. Read even if a walk from above would ignore it.
    root : Path
        The project, absolute and resolved.
    data_dir : Path
        The project's data folder, which is ignored unless ``start`` is in it.
    """
    if start.is_file():
        yield _file(start, start.stat(), root)
        return
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield SkippedFile(location_of(folder, root), f"folder cannot be read ({error.strerror})")
            continue
        for entry in found:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                path = folder / entry.name
                if entry.name not in IGNORED_FOLDERS and path != data_dir:
                    waiting.append(path)
                continue
            yield from _entry(entry, root)


def _entry(entry: os.DirEntry[str], root: Path) -> Iterator[FoundFile | SkippedFile]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # removed in between
        return
    yield _file(Path(entry.path), status, root)


def _file(path: Path, status: os.stat_result, root: Path) -> FoundFile | SkippedFile:
    location = location_of(path, root)
    reason = _reason(path, status)
    if reason:
        return SkippedFile(location, reason)
    return FoundFile(path, location, status.st_size, status.st_mtime_ns)


def _reason(path: Path, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if extractor_of(path) is None:
        return "other kind of file"
    if status.st_size > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES // 1_000_000} MB"
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return "name is not UTF-8"
    return ""
