"""The extra ``distributed``: records at an address (fsspec), and executors that read them for others (Dask).

Its packages are imported only here, on first use.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from coreloop.base.errors import UsageError
from coreloop.base.extras import needs_extra
from coreloop.base.tempfiles import end_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Executor

_MUCH: Final = 64 << 20  # bytes; a second of one processor
_ANSWER_S: Final = 10  # chosen: the address of no scheduler is reported soon


def named_folder(name: str) -> Path:
    """Return the folder of a name: at an address if it has a protocol, such as ``s3://bucket/ai-ask``.

    Raises
    ------
    UsageError
        The address holds credentials, or cannot be reached.
    """
    if "://" not in name:
        return Path(name)
    parts = urlsplit(name)
    if "@" in parts.netloc or parts.query:
        raise UsageError(f"{parts.scheme}:// holds credentials; give them in the environment instead")
    try:
        from upath import UPath
    except ImportError as error:
        raise needs_extra("distributed", feature="an address") from error
    try:
        folder = UPath(name)
        folder.is_dir()  # connects
    except Exception as error:  # each protocol's package has exceptions of its own
        raise UsageError(f"{name} cannot be reached ({type(error).__name__}: {error})") from error
    return cast("Path", folder)


@contextmanager
def open_executor(name: str | None, n_bytes: int) -> "Iterator[Executor | None]":
    """Open the executor that the setting ``executor`` names.

    Parameters
    ----------
    name : str or None
        ``processes``, one for each core; the address of a Dask scheduler, ``tcp://host:8786``, whose workers
        need the same coreloop and the same paths; None for this process, or for processes if there is much to
        read.
    n_bytes : int
        To be read.

    Raises
    ------
    UsageError
        No scheduler answers, or its package is not installed.
    """
    # a forked child cannot go on if a thread, or polars, holds a lock
    may_fork = hasattr(os, "fork") and "polars" not in sys.modules and threading.active_count() == 1
    if not n_bytes or (name is None and not (n_bytes > _MUCH and may_fork)):
        yield None
    elif name is None or name == "processes":
        yield from _processes("fork" if may_fork else "spawn")
    else:
        yield from _on_cluster(name)


def _processes(start: str) -> "Iterator[Executor]":
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(mp_context=get_context(start), initializer=_start_worker) as pool:
        try:
            yield pool
        except BrokenExecutor as error:
            raise UsageError("a process that read records was killed; free some memory") from error


def _on_cluster(address: str) -> "Iterator[Executor]":
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise needs_extra("distributed", feature="executor") from error
    try:
        client: Any = Client(address, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {address}; start one with: dask scheduler") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_ANSWER_S)
            yield client.get_executor()
        except (TimeoutError, ImportError, KilledWorker) as error:
            raise UsageError(f"no worker of {address} reads records ({error})") from error


def _start_worker() -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends without a traceback
