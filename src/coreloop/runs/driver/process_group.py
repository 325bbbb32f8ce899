"""A foreign command in a process group of its own, which ends with the driver and leaves nothing behind."""

import io
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, Final

from coreloop.base.errors import RunError, UsageError
from coreloop.base.files import file_errors
from coreloop.base.waiting import wait_until
from coreloop.runs.driver.keeper import adopt_orphans, end_descendants, read_children
from coreloop.runs.stores.holds import is_locked

GRACE_S: Final = 2.0
"""Between SIGTERM and SIGKILL."""
_ADOPTS: Final = Event()
"""Whether this process adopts: of the process, as the kernel's own flag is."""
_KEEPER: Final = Path(__file__).with_name("keeper.py")
_TICK_S: Final = 0.1
_CHUNK_BYTES: Final = 1 << 16
_END_S: Final = 15.0
"""The most that the keeper may take to end a command."""
_DRAIN_S: Final = 1.0  # for what the ended command wrote last; who still holds its pipe is not waited for

Hear = Callable[[str, bytes], None]
"""Called with ``stdout`` or ``stderr``, and the bytes."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to start.

    Attributes
    ----------
    words : tuple of str
        Program and arguments.
    folder : Path
        Its working folder.
    environ : mapping of str to str
        Its environment.
    prompt : bytes
        Its standard input.
    lock : int
        An open file whose lock lasts until the command and what it started have ended, see `locked_commands`.
    spool : int
        An open file for its reports, see `coreloop.runs.driver.execution`; -1 for none.
    """

    words: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    prompt: bytes
    lock: int
    spool: int = -1


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes
    ----------
    code : int
        Exit code; 128 and the signal's number for a command that a signal ended.
    ended_for : str
        Why we ended it, or "".
    seconds : float
        How long it ran.
    """

    code: int
    ended_for: str
    seconds: float


def adopt_what_commands_leave() -> None:
    """Let this process end what a killed keeper leaves; Linux only."""
    adopt_orphans()
    _ADOPTS.set()


def require_processes() -> None:
    """Refuse a system without process groups.

    Raises
    ------
    UsageError
        On Windows.
    """
    if sys.platform == "win32":
        raise UsageError("runs start needs Linux or macOS; on Windows, use it in WSL")


@contextmanager
def locked_commands(path: Path, run_id: str) -> Iterator[int]:
    """Lock the commands of a run; waits until the commands of a driver that was killed have ended.

    Parameters
    ----------
    path : Path
        A file in an existing folder; it stays.
    run_id : str
        For messages.

    Yields
    ------
    int
        The open file, for `Command`.

    Raises
    ------
    RunError
        A command of an earlier driver still runs.
    WorkspaceError
        The file cannot be written.
    """
    with file_errors("cannot be locked ({strerror})", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor):
        if not wait_until(partial(is_locked, descriptor), within_s=_END_S, pause_s=_TICK_S):
            raise RunError(f"a command that an earlier driver of run {run_id} started still runs; end it")
        yield descriptor


def run_command(command: Command, *, hear: Hear, is_over: Callable[[], str]) -> Finished:
    """Run a command to its end, and end what it left behind.

    Parameters
    ----------
    command : Command
        What to start.
    hear : callable
        Gets the output while it arrives. Must be bounded: the command may print without end.
    is_over : callable
        Asked ten times a second: why the command must end now, or "".

    Raises
    ------
    WorkspaceError
        The folder cannot be used.
    """
    begun, others = monotonic(), read_children() if _ADOPTS.is_set() else ()
    near, far = os.pipe()
    with os.fdopen(far, "wb", buffering=0) as lifeline:
        try:
            unusable = file_errors("cannot be used ({strerror})", command.folder)
            with unusable, tempfile.TemporaryFile() as prompt:
                prompt.write(command.prompt)
                prompt.seek(0)
                process = _start(command, prompt.fileno(), near)
        finally:
            os.close(near)
        try:
            ended_for = _listen(process, hear, is_over, lifeline)
        finally:
            lifeline.close()
            _reap(process)
            if _ADOPTS.is_set():  # a keeper that was killed leaves what it kept to this process
                end_descendants(others)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Finished(code, ended_for, monotonic() - begun)


def _start(command: Command, prompt: int, lifeline: int) -> subprocess.Popen[bytes]:
    passed = (lifeline, command.lock, *([command.spool] if command.spool >= 0 else []))
    options = map(str, (lifeline, command.lock, command.spool, GRACE_S))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_KEEPER), *options, *command.words],
        cwd=command.folder,
        env=command.environ,
        stdin=prompt,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=passed,
        start_new_session=True,
    )


def _listen(
    process: subprocess.Popen[bytes], hear: Hear, is_over: Callable[[], str], lifeline: io.FileIO
) -> str:
    """Pass the output on until the process has ended; returns why we ended it."""
    ended_for, give_up = "", float("inf")
    streams: dict[str, Any] = {"stdout": process.stdout, "stderr": process.stderr}
    with selectors.DefaultSelector() as selector, closing(streams["stdout"]), closing(streams["stderr"]):
        for name, stream in streams.items():
            selector.register(stream, selectors.EVENT_READ, name)
        while process.poll() is None and monotonic() < give_up:
            _hear_once(selector, hear)
            if not ended_for and (ended_for := is_over()):
                lifeline.close()
                give_up = monotonic() + _END_S
        _kill_group(process)
        until = monotonic() + _DRAIN_S
        while selector.get_map() and _hear_once(selector, hear) and monotonic() < until:
            pass
    return ended_for


def _hear_once(selector: selectors.BaseSelector, hear: Hear) -> bool:
    """Pass on what has arrived, waiting a tick for it; whether anything has."""
    ready = selector.select(_TICK_S)
    for key, _ in ready:
        data = os.read(key.fd, _CHUNK_BYTES)
        if data:
            hear(key.data, data)
        else:
            selector.unregister(key.fileobj)
    return bool(ready)


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for the keeper; one that does not end in time is killed with its group."""
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for a group of zombies
        os.killpg(process.pid, signal.SIGKILL)
