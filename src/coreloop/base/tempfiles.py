"""Temporary files and folders that are cleaned up even after a kill, and workers that end with their parent.

The process that creates a temporary file or folder locks it, and the lock ends with the process. Later
processes remove those without a lock. Without ``fcntl`` (Windows) they stay.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PARTIAL: Final = re.compile(r"\..+\.[0-9a-f]{16}\.partial", re.DOTALL)  # .x.json.0123456789abcdef.partial
# The pipe closes without a word only if the parent was killed; its workers may write on for a moment.
_REMOVE_WITHOUT_PARENT: Final = """
import os, shutil, sys, time
if not sys.stdin.buffer.read():
    for _ in range(100):
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        if not os.path.lexists(sys.argv[1]):
            break
        time.sleep(0.1)
"""
_CLOSE_IN_CHILDREN: Final = getattr(os, "O_CLOEXEC", 0)


@contextmanager
def temporary_file(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """Create an empty file ``.{name}.{random}.partial`` next to ``path``; removed after the block.

    Raises
    ------
    OSError
        It cannot be created.
    """
    remove_leftovers(path.parent, _PARTIAL)

    def make(token: str) -> tuple[Path, int]:
        temporary = path.with_name(f".{path.name}.{token}.partial")
        return temporary, os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _CLOSE_IN_CHILDREN, mode)

    with _held(make) as temporary:
        try:
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(prefix: str, *, parent: Path | None = None) -> Iterator[Path]:
    """Create a folder ``{prefix}{random}`` of mode 0700; removed after the block.

    Parameters
    ----------
    prefix : str
        No other name in the parent may be this prefix and 16 hex digits.
    parent : Path, optional
        The system's folder for temporary files by default.

    Raises
    ------
    OSError
        It cannot be created.
    """
    parent = parent if parent is not None else _system_folder()
    remove_leftovers(parent, re.compile(rf"{re.escape(prefix)}[0-9a-f]{{16}}"))

    def make(token: str) -> tuple[Path, int | None]:
        folder = parent / f"{prefix}{token}"
        folder.mkdir(mode=0o700)
        try:
            return folder, os.open(folder, os.O_RDONLY | _CLOSE_IN_CHILDREN) if fcntl is not None else None
        except FileNotFoundError:  # another process removed it as a leftover before it was opened
            return make(os.urandom(8).hex())

    with _held(make) as folder:
        try:
            yield folder
        finally:
            _remove_tree(folder)


@contextmanager
def removed_if_killed(folder: Path) -> Iterator[None]:
    """Remove a folder if this process is killed in the block: a second process waits for its end.

    `temporary_folder` alone leaves the folder to the next run, which may never use the same parent.

    Raises
    ------
    OSError
        The second process cannot be started.
    """
    import subprocess  # not needed to record

    watcher = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _REMOVE_WITHOUT_PARENT, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # out of reach of Ctrl-C
    )
    try:
        yield
    finally:
        with suppress(OSError):  # it was killed
            watcher.communicate(b"done")


def remove_leftovers(folder: Path, names: re.Pattern[str]) -> None:
    """Remove this user's files and folders with matching names that no process has locked.

    Links are not followed. Errors are ignored.
    """
    if fcntl is None:
        return
    with suppress(OSError):
        for path in folder.iterdir():
            if names.fullmatch(path.name):
                with suppress(OSError):
                    _remove(path)


def end_with_parent() -> None:
    """Make this `multiprocessing` worker exit when its parent process ends."""
    from multiprocessing import parent_process
    from threading import Thread

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)  # a worker that is blocked on a pipe ends no other way

    Thread(target=watch, name="end_with_parent", daemon=True).start()


@contextmanager
def _held(make: Callable[[str], tuple[Path, int | None]]) -> Iterator[Path]:
    path, descriptor = make(os.urandom(8).hex())
    while descriptor is not None and not _lock(path, descriptor):
        os.close(descriptor)  # another process removed it as a leftover before it was locked
        path, descriptor = make(os.urandom(8).hex())
    if fcntl is None and descriptor is not None:
        os.close(descriptor)  # Windows cannot rename an open file
        descriptor = None
    try:
        yield path
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(path: Path, descriptor: int) -> bool:
    """Lock a new file or folder; whether it still exists afterwards."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:  # a file system without locks: leftovers are never removed
        return True


def _remove(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | _CLOSE_IN_CHILDREN)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(status.st_mode):
            _remove_tree(path)
        elif stat.S_ISREG(status.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)


def _remove_tree(folder: Path) -> None:
    from shutil import rmtree  # 4 ms that most commands can do without, as below

    rmtree(folder, ignore_errors=True)


def _system_folder() -> Path:
    from tempfile import gettempdir

    return Path(gettempdir())
