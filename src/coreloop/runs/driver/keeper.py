"""Runs a command for the driver and ends all that it started. Standard library only, run as a script.

``python -I -S keeper.py LIFELINE LOCK GRACE_S COMMAND …``. The driver holds the other end of the pipe
LIFELINE open. When it closes it, or dies in any way, the command is ended. LOCK is an open file whose lock
lasts as long as this process. The driver makes this process the leader of a process group.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

_PR_SET_CHILD_SUBREAPER = 36
_MOST_END_S = 10.0


def main() -> int:
    lifeline, lock, grace_s, command = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    for descriptor in (lifeline, lock):
        os.set_inheritable(descriptor, False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # for the group; unlike SIG_IGN, not inherited by the command
    _adopt_orphans()
    try:
        child = subprocess.Popen(command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126
    Thread(target=_end_with_driver, args=(lifeline, grace_s), daemon=True).start()
    code = child.wait()
    _end_descendants()
    return code if code >= 0 else 128 - code


def _end_with_driver(lifeline: int, grace_s: float) -> None:
    while os.read(lifeline, 1):
        pass
    os.killpg(0, signal.SIGTERM)
    sleep(grace_s)
    _end_descendants()
    os.killpg(0, signal.SIGKILL)  # and this process


def _adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, also of those in another session; Linux only."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_descendants() -> None:
    """Kill all children until there are none: the children of a killed process become ours."""
    if sys.platform != "linux":
        return  # the driver kills the process group
    deadline = monotonic() + _MOST_END_S
    while (children := _children()) and monotonic() < deadline:
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        sleep(0.005)


def _children() -> list[int]:
    parent, found = str(os.getpid()), []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile
            status = (process / "stat").read_text("utf-8", "replace")
            if status.rpartition(")")[2].split()[1] == parent:
                found.append(int(process.name))
    return found


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
