"""Which files of a folder a command changed: from git's view of it, or else from the files' times."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

MOST_FILES: Final = 20_000
"""Files that are looked at; changes in the others are not seen."""
_GIT_S: Final = 20
_SKIPPED: Final = frozenset({".git", ".research", ".venv", "venv", "node_modules", "__pycache__", ".tox"})
Snapshot = Mapping[str, object]
"""A file, and what tells its versions apart. ``HEAD`` of git is in it under the empty name."""


def take_snapshot(folder: Path, *, without: Sequence[Path] = ()) -> Snapshot:
    """Look at the files of a folder.

    Parameters
    ----------
    folder : Path
        Absolute.
    without : sequence of Path
        Absolute folders that do not count. ``.research`` and folders of packages never do.

    Returns
    -------
    mapping
        In a git repository, the files that differ from the commit and that git does not ignore, and the
        commit. Elsewhere all files, at most `MOST_FILES`.
    """
    git = _git(folder)
    if git is None:
        return {str(path): _version(path) for path in _files(folder, set(without))}
    head, paths = git
    seen = (folder / path for path in paths[:MOST_FILES])
    counted = {str(path): _version(path) for path in seen if not _is_within(path, folder, without)}
    return {"": head, **counted}


def changed_files(before: Snapshot, after: Snapshot) -> int:
    """Count the files that differ; a new commit of git counts as one."""
    return sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())


def _version(path: Path) -> object:
    with suppress(OSError):
        status = path.lstat()
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
    return None


def _files(folder: Path, without: set[Path]) -> Iterator[Path]:
    left = MOST_FILES
    for above, folders, names in os.walk(folder):
        here = Path(above)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and here / name not in without)
        for name in sorted(names)[:left]:
            yield here / name
        left -= len(names)
        if left <= 0:
            return


def _is_within(path: Path, folder: Path, without: Sequence[Path]) -> bool:
    parts = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
    return not _SKIPPED.isdisjoint(parts) or any(path.is_relative_to(other) for other in without)


def _git(folder: Path) -> tuple[bytes, list[str]] | None:
    """Return the commit and the changed paths below a folder; None if git does not track the folder."""
    head = _git_output(folder, "rev-parse", "--verify", "-q", "HEAD")
    prefix = _git_output(folder, "rev-parse", "--show-prefix")
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", ".")
    status = _git_output(folder, *words)
    if prefix is None or status is None or _git_output(folder, "check-ignore", "-q", ".") is not None:
        return None
    inside = os.fsdecode(prefix.rstrip(b"\n"))
    entries = [os.fsdecode(entry)[3:] for entry in status.split(b"\0") if len(entry) > 3]
    return head or b"", [entry.removeprefix(inside) for entry in entries]


def _git_output(folder: Path, *words: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *words],  # must not disturb the command's git
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            start_new_session=True,  # Ctrl-C of a terminal must not end it
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
