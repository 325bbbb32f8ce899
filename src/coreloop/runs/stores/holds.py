"""Only one process works on a run: by a locked file or a lock in Postgres, which end with the process."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from coreloop.base.errors import RunBusyError, RunStoreError
from coreloop.base.postgres import Session, connect, rows, store_errors
from coreloop.base.text import printable
from coreloop.base.waiting import wait_until

try:
    import fcntl
except ImportError:  # Windows: two processes meet at their first append instead
    fcntl = None  # type: ignore[assignment]

_NOTICED_S: Final = 1.0  # for the server to notice that a killed process holds nothing
_AGAIN_S: Final = 0.05  # between tries


def busy(run_id: str, owner: str) -> RunBusyError:
    """Build the error that names the process that works on a run."""
    named = printable(owner) or "another process"
    return RunBusyError(f"{named} works on run {run_id}; wait until it ends, or pause or stop the run")


def hold_file(runs_dir: Path, run_id: str) -> Path:
    """Return the file whose lock holds a run; it stays until the run is forgotten."""
    return runs_dir / "held" / f"{run_id}.lock"


@contextmanager
def held_file(path: Path) -> Iterator[bool]:
    """Lock a file; yields False if another process, or another handle of this one, has locked it.

    Raises
    ------
    RunStoreError
        The file cannot be written.
    """
    with ExitStack() as opened:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o600)
            opened.callback(os.close, descriptor)
            is_held = is_locked(descriptor)
        except OSError as error:  # also a file system without locks
            raise RunStoreError(f"{path}: the run cannot be held ({error.strerror})") from error
        yield is_held


def is_locked(descriptor: int) -> bool:
    """Lock an open file; whether this handle has the lock."""
    if fcntl is not None:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return fcntl is None


@contextmanager
def held_session(address: str, run_id: str) -> Iterator[bool]:
    """Lock a run by an advisory lock of a session of its own; yields False if another session has it.

    A run whose session was lost goes on until another process takes it up, whose first event says so.
    """
    with store_errors():
        session = connect(address)
    with closing(session):
        with store_errors():
            is_held = wait_until(partial(_is_held, session, run_id), within_s=_NOTICED_S, pause_s=_AGAIN_S)
        yield is_held


def _is_held(session: Session, run_id: str) -> bool:
    number = int.from_bytes(sha256(run_id.encode("utf-8", "replace")).digest()[:8], signed=True)
    ((locked,),) = rows(session, "SELECT pg_try_advisory_lock(?)", (number,))
    return bool(locked)
