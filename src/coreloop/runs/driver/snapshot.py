"""Which files of a folder a command changed, by their content, and whether it was like that before."""

import os
import stat
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

MOST_FILES: Final = 20_000
"""Files that are looked at; changes in the others are not seen."""
_MOST_BYTES: Final = 1 << 26
"""Of a file that is read; a larger one counts as changed when its time is another."""
_GIT_S: Final = 20  # chosen: a large tree takes seconds; without an answer the commit is not looked at
_SKIPPED: Final = frozenset({".git", ".research", ".venv", "venv", "node_modules", "__pycache__", ".tox"})
Snapshot = Mapping[str, str | None]
"""A file, and what tells its versions apart, None for a log or a file that is gone. "" is the commit."""


def take_snapshot(
    folder: Path, *, without: Sequence[Path] = (), logs: Collection[tuple[int, int]] = ()
) -> Snapshot:
    """Look at the files of a folder.

    Parameters
    ----------
    folder : Path
        Absolute.
    without : sequence of Path
        Absolute folders that do not count. ``.research`` and folders of packages never do.
    logs : collection of (int, int)
        Device and inode of files that do not count, see `open_files`.

    Returns
    -------
    mapping
        In a git repository, the files that differ from the commit and that git does not ignore, and the
        tree of the commit. Elsewhere all files, at most `MOST_FILES`. A file is told by its content.
    """
    git = _git(folder)
    if git is None:
        return {str(path): _version(path, logs) for path in _files(folder, set(without))}
    tree, names = git
    paths = (folder / name for name in names[:MOST_FILES])
    counted = (path for path in paths if not _is_within(path, folder, without))
    return {"": tree, **{str(path): _version(path, logs) for path in counted}}


def open_files(*descriptors: int) -> set[tuple[int, int]]:
    """Return the device and inode of those descriptors that are regular files."""
    found = set()
    for descriptor in descriptors:
        with suppress(OSError):  # closed
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                found.add((status.st_dev, status.st_ino))
    return found


def tree_digest(snapshot: Snapshot) -> str:
    """Return what tells two states of a folder apart, 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    for name, version in sorted(snapshot.items()):
        if version is not None:  # a file that is gone is the same as one that never was
            digest.update(f"{name}\0{version}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def changed_files(before: Snapshot, after: Snapshot) -> int:
    """Count the files that differ; another tree of git's commit counts as one."""
    return sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())


def _version(path: Path, logs: Collection[tuple[int, int]]) -> str | None:
    """Tell a file by its content, a link by its target; what cannot be read by its time. None for a log."""
    try:
        status = path.lstat()
    except OSError:  # gone
        return None
    if (status.st_dev, status.st_ino) in logs:
        return None
    content = str(status.st_mtime_ns).encode()
    with suppress(OSError):
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES:
            content = path.read_bytes()
    return f"{status.st_mode:o} {blake2b(content, digest_size=16).hexdigest()}"


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


def _git(folder: Path) -> tuple[str, list[str]] | None:
    """Return the tree of the commit and the changed paths below a folder; None if git does not track it."""
    tree = _git_output(folder, "rev-parse", "--verify", "-q", "HEAD:./")
    changed = (
        ("diff", "--name-only", "--no-renames", "-z", "--relative", "HEAD") if tree else ("ls-files", "-z")
    )
    lists = [
        _git_output(folder, *words) for words in (changed, ("ls-files", "-z", "-o", "--exclude-standard"))
    ]
    if None in lists or _git_output(folder, "check-ignore", "-q", ".") is not None:
        return None
    names = (name for listed in lists for name in (listed or b"").split(b"\0") if name)
    return (tree or b"").decode().strip(), [os.fsdecode(name) for name in names]


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
