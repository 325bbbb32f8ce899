"""Only one process works on a run: a locked file, which the operating system releases with its process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.base.database import this_process
from coreloop.base.errors import RunBusyError, RunStoreError
from coreloop.base.text import printable
from coreloop.base.waiting import wait_until

try:
    import fcntl
except ImportError:  # Windows: two processes meet at their first append instead
    fcntl = None  # type: ignore[assignment]

_OWNER_BYTES: Final = 300
_NAMED_S: Final = 0.5  # the holder writes its name just after it has locked; without it, it is unnamed
_PAUSE_S: Final = 0.01


def busy(run_id: str, owner: str) -> RunBusyError:
    """Build the error that names the process that works on a run."""
    named = printable(owner) or "another process"
    return RunBusyError(f"{named} works on run {run_id}; wait until it ends, or pause or stop the run")


@contextmanager
def held_file(path: Path, run_id: str) -> Iterator[None]:
    """Hold a run by a lock on a file, which is removed in the end.

    Parameters
    ----------
    path : Path
        Names the process that holds the run; one that was killed leaves the file behind, without the lock.
    run_id : str
        For messages.

    Raises
    ------
    RunBusyError
        Another process, or another handle of this one, holds the run.
    RunStoreError
        The file cannot be written.
    """
    try:
        descriptor = _acquire(path)
    except OSError as error:
        raise RunStoreError(f"{path}: run {run_id} cannot be held ({error.strerror or error})") from error
    if descriptor is None:
        raise busy(run_id, _owner(path))
    holder = os.getpid()
    try:
        yield
    finally:
        if fcntl is not None and os.getpid() == holder:  # a forked child must not free its parent's run
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path) -> int | None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = _locked(path)
    while descriptor is not None and not _is_at(path, descriptor):
        os.close(descriptor)  # its holder removed it before it was locked
        descriptor = _locked(path)
    if descriptor is not None:
        try:
            os.truncate(descriptor, 0)
            os.write(descriptor, this_process().encode()[:_OWNER_BYTES])
        except OSError:
            os.close(descriptor)
            raise
    return descriptor


def _locked(path: Path) -> int | None:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    return False


def _owner(path: Path) -> str:
    """Read the holder's name, which it writes just after it has locked the file."""
    return wait_until(partial(_content, path), within_s=_NAMED_S, pause_s=_PAUSE_S)


def _content(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_OWNER_BYTES).decode("utf-8", "replace")
    return ""
