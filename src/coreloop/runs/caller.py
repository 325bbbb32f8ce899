"""Who calls: a person, or the agent of a driver, whatever its environment says."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.runs.events import Caller

_PROC: Final = Path("/proc")
_KEEPER: Final = b"runs/driver/keeper.py"
"""In the command line of `coreloop.runs.driver.keeper`, the ancestor of all that a driver starts."""
RUN: Final = "CORELOOP_RUN"
"""The environment variable that names the run of a driver's command."""


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
        ``person``, or ``unknown`` where the ancestors of a process cannot be read (without ``/proc``), and in
        a shell of Claude Code, which a person may have asked to do so.

    Raises
    ------
    UsageError
        The caller descends from a driver's keeper, or its environment names a run.
    """
    if driving_run(environ):
        raise UsageError(f"an agent cannot {act}; run this in a terminal of your own")
    return "person" if _has_ancestors() and not environ.get("CLAUDECODE") else "unknown"


def driving_run(environ: Mapping[str, str]) -> str:
    """Return the run whose driver started this process, "" if none did.

    The ancestors count before the environment, which an agent can change.
    """
    for pid in _ancestors():
        with suppress(OSError):
            if any(word.endswith(_KEEPER) for word in _words(pid, "cmdline")):
                return _variable(pid) or environ.get(RUN) or "unknown"
    return environ.get(RUN, "")


def _has_ancestors() -> bool:
    return _parent(os.getpid()) is not None


def _ancestors() -> Iterator[int]:
    pid: int | None = os.getpid()
    while (pid := _parent(pid)) is not None:
        yield pid


def _parent(pid: int | None) -> int | None:
    """Return the parent of a process; None at the top, and where it cannot be read."""
    with suppress(OSError, ValueError, IndexError):
        status = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        return int(status.rpartition(")")[2].split()[1]) or None
    return None


def _variable(pid: int) -> str:
    """Return the run in the environment that a keeper was started with."""
    name = f"{RUN}=".encode()
    values = (word.removeprefix(name) for word in _words(pid, "environ") if word.startswith(name))
    return next(values, b"").decode("utf-8", "replace")


def _words(pid: int, name: str) -> list[bytes]:
    return (_PROC / str(pid) / name).read_bytes().split(b"\0")
