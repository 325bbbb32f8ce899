"""The files below a path that can be indexed, and the reasons why others are not."""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coreloop.answer.search.extract.kinds import MAX_FILE_BYTES, extractor_of
from coreloop.base.project.workspace import Workspace

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
_MADE_BY_PROGRAMS: Final = frozenset({".coreloop-report", "CACHEDIR.TAG"})
"""Files that mark a folder below the start as a report of coreloop or as a cache (bford.info/cachedir)."""
_OWN_FOLDERS: Final = ("ai", "audit", "index", "runs")
"""Of the data folder: records, runs and the index itself are never read, even if they are named."""
_RECORDS: Final = os.path.join("audit", "ai-ask")  # noqa: PTH118 - strings: see _walk


@dataclass(frozen=True, slots=True)
class File:
    """A file, or a folder that cannot be read.

    Attributes
    ----------
    location : str
        Its path relative to the project, with ``/``; absolute if it is outside of it.
    reason : str
        Why it has no text to index; "" if it has.
    """

    location: str
    size_bytes: int = 0
    changed_ns: int = 0
    reason: str = ""

    @property
    def version(self) -> str:
        """Of its content, as far as size and times tell."""
        return f"{self.size_bytes}-{self.changed_ns}"


def file_at(path: Path, location: str) -> File:
    """Return a file as it is now; an absent one is empty."""
    try:
        return _file(location, path.stat())
    except OSError:
        return File(location)


def location_of(path: Path, root: Path) -> str:
    """Return a path relative to the project, with ``/``; absolute if it is outside of it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def find_files(start: Path, workspace: Workspace) -> Iterator[File]:
    """Yield the files at or below a path; links are not followed.

    Parameters
    ----------
    start : Path
        Absolute and resolved; an absent path yields nothing. Read even if a walk from above would ignore it,
        but for what coreloop keeps in the project's data folder.
    workspace : Workspace
        The project.
    """
    root = workspace.root.resolve()
    data_dir = (root / workspace.settings.data_dir).resolve()
    own = {data_dir / name for name in _OWN_FOLDERS}
    if not own.isdisjoint((start, *start.parents)):
        yield File(location_of(start, root), reason="coreloop's own data")
    elif start.is_dir():
        yield from _walk(start, root, {*map(str, (data_dir, *own))}, workspace.schemas)
    elif start.exists():
        yield _file(location_of(start, root), start.stat(), workspace.schemas)


def _walk(start: Path, root: Path, ignored: Collection[str], schemas: Collection[str]) -> Iterator[File]:
    waiting = [(str(start), "" if start == root else f"{location_of(start, root)}/")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield File(prefix, reason=f"folder cannot be read ({error.strerror})")
            continue
        if folder != str(start) and _is_made(folder, entries):
            continue
        for entry in entries:
            location = f"{prefix}{entry.name}"  # strings: a Path costs 30 µs a file
            if entry.name[0] == ".":
                continue
            if not entry.is_dir(follow_symlinks=False):
                with suppress(FileNotFoundError):  # removed in between
                    yield _file(location, entry.stat(follow_symlinks=False), schemas)
            elif entry.name not in IGNORED_FOLDERS and entry.path not in ignored:
                waiting.append((entry.path, f"{location}/"))


def _is_made(folder: str, entries: list[os.DirEntry[str]]) -> bool:
    """Whether a folder is a report, a cache, or the data folder of another project of coreloop."""
    names = {entry.name for entry in entries}
    if not _MADE_BY_PROGRAMS.isdisjoint(names):
        return True
    return "audit" in names and os.path.isdir(os.path.join(folder, _RECORDS))  # noqa: PTH112, PTH118


def _file(location: str, status: os.stat_result, schemas: Collection[str] | None = None) -> File:
    shown = location if location.isascii() else location.encode("utf-8", "replace").decode()
    reason = "" if schemas is None else _reason(location, shown, status, schemas)
    return File(shown, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns), reason)


def _reason(location: str, shown: str, status: os.stat_result, schemas: Collection[str]) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if extractor_of(location, schemas) is None:
        return "other kind of file"
    if status.st_size > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES // 1_000_000} MB"
    return "" if location == shown else "name is not UTF-8"
