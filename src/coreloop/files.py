"""How a file that others read is written: whole or not at all, and by one process at a time."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from coreloop.errors import WorkspaceError
from coreloop.leftovers import temporary_file

_AT_ONCE: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Of a pipe that has nobody at its other end, too; a regular file does not know the difference."""


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 in a folder of mode 0700: under a name beside it, then renamed.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or the disk is full; ``path`` is as it was.
    """
    _write(path, data, file_mode=0o600, folder_mode=0o700)


def write_private_together(contents: Mapping[Path, bytes]) -> None:
    """`write_private` for files that belong together: all are on the disk before the first gets its name.

    Parameters
    ----------
    contents : mapping of Path to bytes
        In the order in which they get their names; all in one folder.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or the disk is full; every file is as it was.
    """
    first, *_ = paths = list(contents)
    with _writing(first), ExitStack() as renamed:
        for path in paths:
            _refuse_odd(path)
        first.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # reversed: the stack unwinds from its end
        temporaries = {path: renamed.enter_context(replacing(path)) for path in reversed(paths)}
        for path, data in contents.items():
            with _writing(path):
                _fill(temporaries[path], data)


def write_public(path: Path, data: bytes) -> None:
    """`write_private` for a file that everybody may read, as far as the umask lets them.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or the disk is full; ``path`` is as it was.
    """
    _write(path, data, file_mode=0o666, folder_mode=0o777)


def rewrite_file(path: Path, data: bytes) -> None:
    """Replace an existing file, whole or not at all; it keeps its mode, and a link stays a link.

    Raises
    ------
    WorkspaceError
        There is no such file, or it cannot be written; it is as it was.
    """
    with _writing(path):
        _refuse_odd(path)
        path = path.resolve(strict=True)
        mode = path.stat().st_mode & 0o7777
        with replacing(path) as temporary:
            _fill(temporary, data)
            temporary.chmod(mode)


@contextmanager
def replacing(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """A new empty file beside ``path``: takes its name when the block succeeds, is removed when it fails.

    Parameters
    ----------
    path : Path
        Its folder exists.
    mode : int
        Of the new file, before the umask.

    Yields
    ------
    Path
        ``.{name}.{random}.partial``: what a killed process left there goes when the next one writes.

    Raises
    ------
    OSError
        The file cannot be made or renamed; ``path`` is as it was.
    """
    # tempfile.mkstemp would make it 0600, and the umask cannot be asked without setting it
    with temporary_file(path, mode=mode) as temporary:
        yield temporary
        temporary.replace(path)


def append_private(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file of mode 0600 with one write, so that two processes cannot mix theirs.

    After half a line, which a process that died may have left, a newline comes first.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    text = "".join(f"{line}\n" for line in lines)
    data = (f"\n{text}" if _ends_torn(path) else text).encode("utf-8", "replace")
    with _writing(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_odd(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _AT_ONCE, 0o600)
        try:
            _append(descriptor, data)
        finally:
            os.close(descriptor)


def read_file(path: Path) -> bytes:
    """A file's bytes.

    Raises
    ------
    WorkspaceError
        It cannot be read, or is not a regular file.
    """
    with _reading(path), open_regular(path) as file:
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it, and nothing else: a pipe would be waited for without end.

    Raises
    ------
    OSError
        It cannot be opened, or is not a regular file; ``strerror`` says so.
    """
    _refuse_odd(path, path.stat())
    descriptor = os.open(path, os.O_RDONLY | _AT_ONCE)
    file = os.fdopen(descriptor, "rb")
    try:
        _refuse_odd(path, os.fstat(descriptor))
    except OSError:
        file.close()
        raise
    return file


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held: its open file."""

    descriptor: int | None

    def is_alone(self) -> bool:
        """Turn a shared lock into one that nobody else has, if nobody else has it; else it is lost."""
        if self.descriptor is None:
            return True
        import fcntl

        with suppress(BlockingIOError):
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[Lock]:
    """Let one process at a time read, decide and write in a folder; with ``shared``, let all read.

    The lock is the operating system's, so it ends with the process in any case. Where there is no ``fcntl``
    (Windows) the last writer wins.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or written.
    """
    try:
        import fcntl
    except ImportError:
        yield Lock(None)
        return
    with _writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield Lock(descriptor)
    finally:
        os.close(descriptor)


def _write(path: Path, data: bytes, *, file_mode: int, folder_mode: int) -> None:
    with _writing(path):
        _refuse_odd(path)
        path.parent.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        with replacing(path, mode=file_mode) as temporary:
            _fill(temporary, data)


def _fill(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _refuse_odd(path: Path, status: os.stat_result | None = None) -> None:
    """Raise `OSError` for a folder, a pipe, a socket, a device or links in a circle; absent is fine."""
    if status is None:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def _append(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_torn(path: Path) -> bool:
    """Whether the last line has no newline; another process's write under way costs an empty line at most."""
    if not path.exists():
        return False
    with _reading(path), open_regular(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        return file.read(1) not in {b"", b"\n"}


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror or error})", path=path) from error


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f"cannot be written ({error.strerror or error})", path=path) from error
