"""Temporary files and folders that do not outlive a kill for long, and workers that end with their parent.

Each is locked by the process that made it. The lock ends with the process in any case, so the next one that
makes such a file or folder removes those that nobody holds. Where there is no ``fcntl`` (Windows) they stay.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PARTIAL: Final = re.compile(r"\..+\.[0-9a-f]{16}\.partial", re.DOTALL)  # .x.json.0123456789abcdef.partial
_CLOSE_IN_CHILDREN: Final = getattr(os, "O_CLOEXEC", 0)


@contextmanager
def temporary_file(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """A new empty file ``.{name}.{random}.partial`` beside ``path``; gone after the block, unless renamed.

    Raises
    ------
    OSError
        It cannot be made.
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
    """A new folder ``{prefix}{random}`` for this user alone; gone after the block, unless renamed.

    Parameters
    ----------
    prefix : str
        Nothing else in the parent begins with it and goes on with 16 hex digits.
    parent : Path, optional
        The system's folder for temporary files by default.

    Raises
    ------
    OSError
        It cannot be made.
    """
    above = parent if parent is not None else Path(tempfile.gettempdir())
    remove_leftovers(above, re.compile(rf"{re.escape(prefix)}[0-9a-f]{{16}}"))

    def make(token: str) -> tuple[Path, int | None]:
        folder = above / f"{prefix}{token}"
        folder.mkdir(mode=0o700)
        return folder, os.open(folder, os.O_RDONLY | _CLOSE_IN_CHILDREN) if fcntl is not None else None

    with _held(make) as folder:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(folder: Path, names: re.Pattern[str]) -> None:
    """Remove the files and folders of such names that are this user's and that no process holds.

    Links are not followed; what cannot be removed stays.
    """
    if fcntl is None:
        return
    with suppress(OSError):
        for path in folder.iterdir():
            if names.fullmatch(path.name):
                with suppress(OSError):
                    _remove(path)


def end_with_parent() -> None:
    """Let this process, a worker of `multiprocessing`, end when the process that started it has ended."""
    from multiprocessing import parent_process
    from threading import Thread

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)  # nobody waits for an answer, and a worker that is blocked on a pipe ends no other way

    Thread(target=watch, name="end_with_parent", daemon=True).start()


@contextmanager
def _held(make: Callable[[str], tuple[Path, int | None]]) -> Iterator[Path]:
    path, descriptor = make(token_hex(8))
    while descriptor is not None and not _lock(path, descriptor):
        os.close(descriptor)  # another process took it for a leftover, before it was locked
        path, descriptor = make(token_hex(8))
    if fcntl is None and descriptor is not None:
        os.close(descriptor)  # an open file cannot be renamed there
        descriptor = None
    try:
        yield path
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(path: Path, descriptor: int) -> bool:
    """Lock what was made; whether it is still there then."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:  # a file system without locks: nobody can lock, so nobody removes
        return True


def _remove(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | _CLOSE_IN_CHILDREN)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(status.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(status.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)
