"""Who calls: a person, or the agent of a driver, whatever its environment says.

The agent is known by its ancestors, and by a variable of its environment.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.runs.events import Caller

_PROC: Final = Path("/proc")
_PS: Final = ("ps", "-o", "ppid=,command=", "-p")
"""Where there is no ``/proc``."""
_PS_S: Final = 10  # chosen: `ps` answers at once; without an answer the caller cannot be told
_KEEPER: Final = b"runs/driver/keeper.py"
"""In the command line of `coreloop.runs.driver.keeper`, the ancestor of all that a driver starts."""
_CLAUDE: Final = b"CLAUDECODE=1"
"""In the environment of each command of Claude Code."""
RUN: Final = "CORELOOP_RUN"
"""The environment variable that names the run of a driver's command."""
UNKNOWN: Final = "unknown"
"""The run of an agent that hides which one it works on."""


def require_person(act: str, environ: Mapping[str, str]) -> Caller:
    """Refuse the command of a driver; returns who else calls.

    Parameters
    ----------
    act : str
        What an agent cannot do, for the message.
    environ : mapping
        Of this process.

    Returns
    -------
    str
        ``person``, or ``unknown`` where the ancestors of a process cannot be read, and in a shell of Claude
        Code, which a person may have asked to do so.

    Raises
    ------
    UsageError
        The caller descends from a driver's keeper, or has the variable `RUN`.
    """
    if driving_run(environ):
        raise UsageError(f"an agent cannot {act}; run this in a terminal of your own")
    return "person" if _has_ancestors() and not environ.get("CLAUDECODE") else "unknown"


def require_terminal(act: str, environ: Mapping[str, str]) -> None:
    """Refuse who has no terminal, or was started by a shell of Claude Code.

    The agent of a run that it drives itself is no child of a driver, so that its ancestors do not tell
    it; but the shells of agents have no terminal, and no process can change the environment that an ancestor
    was started with.

    Raises
    ------
    UsageError
        The message says where to run this.
    """
    if environ.get("CLAUDECODE") or is_below_claude_code() or not os.isatty(0):
        raise UsageError(f"an agent cannot {act}; run this in a terminal of your own")


def is_below_claude_code() -> bool:
    """Whether this process was started by a command of Claude Code, as far as that can be read."""
    return any(_CLAUDE in _words(pid, "environ") for pid in _ancestors())


def driving_run(environ: Mapping[str, str]) -> str:
    """Return the run whose driver started this process: "" if none did, `UNKNOWN` if it hides which.

    The ancestors count before the environment, which an agent can change.
    """
    for pid in _ancestors():
        if any(word.endswith(_KEEPER) for word in _process(pid)[1]):
            return _variable(pid) or environ.get(RUN) or UNKNOWN
    return environ.get(RUN, "")


def _has_ancestors() -> bool:
    """Whether the ancestors can be read: ``/proc`` may be that of another namespace, with other numbers."""
    if _PROC.joinpath("self").exists():
        with suppress(OSError, ValueError):
            return int(os.fspath((_PROC / "self").readlink())) == os.getpid()
        return False
    return _process(os.getpid())[0] is not None


def _ancestors() -> Iterator[int]:
    pid: int | None = os.getpid()
    while (pid := _process(pid)[0]) is not None:
        yield pid


def _process(pid: int | None) -> tuple[int | None, list[bytes]]:
    """Return the parent of a process and its command line; no parent at the top, or if it cannot be read."""
    with suppress(OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        if _PROC.joinpath("self").exists():
            status = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
            return int(status.rpartition(")")[2].split()[1]) or None, _words(pid, "cmdline")
        done = subprocess.run([*_PS, str(pid)], capture_output=True, timeout=_PS_S, check=False)
        parent, *words = done.stdout.split()
        return int(parent) or None, words
    return None, []


def _variable(pid: int) -> str:
    """Return the run in the environment that a keeper was started with."""
    name = f"{RUN}=".encode()
    values = (word.removeprefix(name) for word in _words(pid, "environ") if word.startswith(name))
    return next(values, b"").decode("utf-8", "replace")


def _words(pid: int | None, name: str) -> list[bytes]:
    with suppress(OSError):
        return (_PROC / str(pid) / name).read_bytes().split(b"\0")
    return []
