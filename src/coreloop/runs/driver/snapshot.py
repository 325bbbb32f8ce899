"""Which files of a folder a command changed, by their content, and whether it was like that before."""

import os
import stat
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
Snapshot = Mapping[str, object]
"""A file, and what tells its versions apart, None once it is gone. The tree of git's commit has no name."""


class Snapshots:
    """Looks at the files of a folder again and again; reads only those that may have changed.

    Parameters
    ----------
    folder : Path
        Absolute.
    without : sequence of Path
        Absolute folders that do not count. ``.research`` and folders of packages never do.
    logs : collection of (int, int)
        Device and inode of files that do not count, see `open_files`.
    """

    def __init__(
        self, folder: Path, *, without: Sequence[Path] = (), logs: Collection[tuple[int, int]] = ()
    ) -> None:
        self._folder = folder
        self._without = without
        self._logs = logs
        self._known: dict[str, tuple[object, object]] = {}

    def take(self) -> Snapshot:
        """Look at the files.

        Returns
        -------
        mapping
            In a git repository, the files that differ from the commit and that git does not ignore, and the
            tree of the commit. Elsewhere all files, at most `MOST_FILES`. A file is told by its content.
        """
        git = _git(self._folder)
        if git is None:
            return dict(self._versions(_files(self._folder, set(self._without))))
        tree, paths = git
        seen = (self._folder / path for path in paths[:MOST_FILES])
        counted = (path for path in seen if not _is_within(path, self._folder, self._without))
        return {"": tree, **dict(self._versions(counted))}

    def _versions(self, paths: Iterable[Path]) -> Iterator[tuple[str, object]]:
        for path in paths:
            status = _status(path)
            if status is None:
                yield str(path), None
            elif (status.st_dev, status.st_ino) not in self._logs:
                yield str(path), self._version(path, status)

    def _version(self, path: Path, status: os.stat_result) -> object:
        mark = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
        before, version = self._known.get(str(path), (None, None))
        if before != mark:
            version = f"{status.st_mode:o} {_content_digest(path, status)}"
            self._known[str(path)] = mark, version
        return version


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


def _status(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.lstat()
    return None


def _content_digest(path: Path, status: os.stat_result) -> str:
    """Hash a regular file or the target of a link; what cannot be read is told by its time."""
    try:
        if stat.S_ISLNK(status.st_mode):
            return blake2b(os.fsencode(path.readlink()), digest_size=16).hexdigest()
        if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES:
            return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        pass
    return str(status.st_mtime_ns)


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
