"""Atomic writes, appends and locks for files that other processes read."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.tempfiles import remove_leftovers

_OPEN_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""``O_NONBLOCK``: opening a pipe without a peer must not block. Regular files ignore it."""
_PARTIAL: Final = re.compile(r"\..+\.[0-9a-f]{16}\.partial", re.DOTALL)  # .x.json.0123456789abcdef.partial


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 in a folder of mode 0700 by way of a temporary file.

    Raises
    ------
    WorkspaceError
        The folder cannot be created or the disk is full; ``path`` is unchanged.
    """
    _write(path, data, file_mode=0o600, folder_mode=0o700)


def write_public(path: Path, data: bytes) -> None:
    """`write_private` for a file that other users may read, as far as the umask allows.

    Raises
    ------
    WorkspaceError
        The folder cannot be created or the disk is full; ``path`` is unchanged.
    """
    _write(path, data, file_mode=0o666, folder_mode=0o777)


def rewrite_file(path: Path, data: bytes) -> None:
    """Replace the content of an existing file atomically; its mode stays, and a link stays a link.

    Raises
    ------
    WorkspaceError
        The file is absent or cannot be written; it is unchanged.
    """
    with _writing(path):
        _require_regular(path)
        path = path.resolve(strict=True)
        mode = path.stat().st_mode & 0o7777
        with replacing(path) as temporary:
            _fill(temporary, data)
            temporary.chmod(mode)


@contextmanager
def replacing(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """Provide a temporary file that replaces ``path`` if the block succeeds and is removed if it fails.

    Parameters
    ----------
    path : Path
        Its folder exists.
    mode : int
        The mode of the new file, before the umask.

    Yields
    ------
    Path
        ``.{name}.{random}.partial``. The next write removes files that a killed process left behind.

    Raises
    ------
    OSError
        The file cannot be created or renamed; ``path`` is unchanged.
    """
    remove_leftovers(path.parent, _PARTIAL)
    # tempfile.mkstemp always uses 0600, and the umask cannot be read without setting it
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.partial")
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS, mode))
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def append_private(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file of mode 0600 with a single write, so that processes cannot interleave them.

    A newline comes first after an incomplete line, which a killed process may have left.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    text = "".join(f"{line}\n" for line in lines)
    data = (f"\n{text}" if _ends_torn(path) else text).encode("utf-8", "replace")
    with _writing(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_regular(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _OPEN_FLAGS, 0o600)
        try:
            _append(descriptor, data)
        finally:
            os.close(descriptor)


def read_file(path: Path) -> bytes:
    """Read the bytes of a regular file.

    Raises
    ------
    WorkspaceError
        It cannot be read, or is not a regular file.
    """
    with _reading(path), open_regular(path) as file:
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe would block forever.

    Raises
    ------
    OSError
        It cannot be opened, or is not a regular file (see ``strerror``).
    """
    _require_regular(path, path.stat())
    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    file = os.fdopen(descriptor, "rb")
    try:
        _require_regular(path, os.fstat(descriptor))
    except OSError:
        file.close()
        raise
    return file


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that one process at a time reads, decides and writes.

    The operating system releases the lock when the process ends. Without ``fcntl`` (Windows) nothing is
    locked, and the last writer wins.

    Raises
    ------
    WorkspaceError
        The folder cannot be created or written.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with _writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def close_to_others(path: Path) -> None:
    """Remove other users' access to a file or folder of this user; nothing if it is absent."""
    with suppress(OSError):  # absent, or on a file system without modes
        status = path.stat()
        if hasattr(os, "geteuid") and status.st_uid == os.geteuid() and status.st_mode & 0o077:
            path.chmod(status.st_mode & 0o700)


def _write(path: Path, data: bytes, *, file_mode: int, folder_mode: int) -> None:
    with _writing(path):
        _require_regular(path)
        path.parent.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        with replacing(path, mode=file_mode) as temporary:
            _fill(temporary, data)


def _fill(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _require_regular(path: Path, status: os.stat_result | None = None) -> None:
    """Raise `OSError` for a folder, a pipe, a socket, a device or circular links; an absent file passes."""
    if status is None:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def _append(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_torn(path: Path) -> bool:
    """Whether the last line has no newline; a concurrent write adds an empty line at most."""
    if not path.exists():
        return False
    with _reading(path), open_regular(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        return file.read(1) not in {b"", b"\n"}


@contextmanager
def file_errors(message: str, path: Path | str) -> Iterator[None]:
    """Translate an `OSError` into a `WorkspaceError`, whose message has ``{strerror}``."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(message.format(strerror=error.strerror or error), path=path) from error


def _reading(path: Path) -> AbstractContextManager[None]:
    return file_errors("cannot be read ({strerror})", path)


def _writing(path: Path) -> AbstractContextManager[None]:
    return file_errors("cannot be written ({strerror})", path)
