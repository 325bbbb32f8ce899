"""Runs a command for the driver and ends all that it started. Standard library only, run as a script.

``python -I -S keeper.py LIFELINE LOCK SPOOL GRACE_S COMMAND …``. The driver holds the other end of
the pipe LIFELINE open. When it closes it, or dies, the command is ended. LOCK is an open file whose
lock lasts as long as this process. The driver makes this process the leader of a process group.

The command's output goes through this process: lines that may be reports of spending are written to the open
file SPOOL (-1 for none) before the driver gets them, so that none is lost with the driver.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep

PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h
_MOST_END_S = 10.0
_DRAIN_S = 1.0
"""A process that left the command's group (without /proc) may hold its output open."""
_CHUNK_BYTES = 1 << 16
_MOST_LINE_BYTES = 8 << 20
_MOST_SPOOL_BYTES = 64 << 20
_SIGNS = (b'"usd"', b'"tokens"', b'"total_cost_usd"', b'"usage"')
"""One of them is in each report of `coreloop.runs.driver.spending`."""


def main() -> int:
    lifeline, lock, spool = map(int, sys.argv[1:4])
    grace_s, command = float(sys.argv[4]), sys.argv[5:]
    for descriptor in (lifeline, lock, *([spool] if spool >= 0 else [])):
        os.set_inheritable(descriptor, False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # for the group; unlike SIG_IGN, not inherited by the command
    adopt_orphans()
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126
    relays = _relays(child, _Spool(spool))
    Thread(target=_end_with_driver, args=(lifeline, grace_s, relays), daemon=True).start()
    code = child.wait()
    end_descendants()
    _drain(relays)
    return code if code >= 0 else 128 - code


def _end_with_driver(lifeline: int, grace_s: float, relays: list[Thread]) -> None:
    while os.read(lifeline, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    sleep(grace_s)
    end_descendants()
    _drain(relays)
    os.killpg(0, signal.SIGKILL)  # and this process


class _Spool:
    """The file of reports; what cannot be written there still goes to the driver."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()
        self._bytes = 0

    def add(self, line: bytes) -> None:
        if self._descriptor < 0 or not any(sign in line for sign in _SIGNS):
            return
        with self._lock, suppress(OSError):
            if self._bytes < _MOST_SPOOL_BYTES:
                self._bytes += os.pwrite(self._descriptor, line.rstrip() + b"\n", self._bytes)


def _relays(child: "subprocess.Popen[bytes]", spool: _Spool) -> list[Thread]:
    threads = []
    for stream, target in ((child.stdout, 1), (child.stderr, 2)):
        assert stream is not None
        threads.append(Thread(target=_relay, args=(stream.fileno(), target, spool), daemon=True))
        threads[-1].start()
    return threads


def _relay(source: int, target: int, spool: _Spool) -> None:
    line, is_skipped = b"", False
    while data := _read(source):
        *ended, rest = data.split(b"\n")
        for part in ended:
            if not is_skipped:
                spool.add(line + part)
            line, is_skipped = b"", False
        is_skipped = is_skipped or len(line) > _MOST_LINE_BYTES
        line = b"" if is_skipped else line + rest
        _pass_on(target, data)
    spool.add(line)


def _read(source: int) -> bytes:
    with suppress(OSError):
        return os.read(source, _CHUNK_BYTES)
    return b""


def _pass_on(target: int, data: bytes) -> None:
    with suppress(OSError):  # the driver is gone; its successor reads the spool
        while data:
            data = data[os.write(target, data) :]


def _drain(relays: list[Thread]) -> None:
    deadline = monotonic() + _DRAIN_S
    for relay in relays:
        relay.join(max(0.0, deadline - monotonic()))


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, also of those in another session; Linux only."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(others: Collection[int] = ()) -> None:
    """Kill all children but others until there are none: the children of a killed process become ours."""
    if sys.platform != "linux":
        return  # the driver kills the process group
    deadline = monotonic() + _MOST_END_S
    while (children := read_children().difference(others)) and monotonic() < deadline:
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        sleep(0.005)


def read_children() -> set[int]:
    """Return the processes whose parent is this one; none but on Linux."""
    parent, found = str(os.getpid()), set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile
            status = (process / "stat").read_text("utf-8", "replace")
            if status.rpartition(")")[2].split()[1] == parent:
                found.add(int(process.name))
    return found


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
