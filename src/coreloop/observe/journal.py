"""Appends records to day files, one ``write`` per record, from any number of processes.

Losses are counted in ``dropped.jsonl`` next to the folder, where other processes can see them.
"""

import errno
import os
import threading
import time
import weakref
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import append_private, close_to_others

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import date

_JOURNALS: "weakref.WeakSet[Journal]" = weakref.WeakSet()


class Journal:
    """Appends lines to ``folder/YYYY-MM-DD.jsonl``.

    The descriptor stays open between lines: opening takes ten times as long as the write. Once a second the
    path is checked to still name the open file, so a file that was rotated or removed gets the lines of a
    second at most.

    Parameters
    ----------
    folder : Path
        Created on the first line with mode 0700; an existing folder becomes 0700 if it is this user's. The
        files are 0600.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unreported: dict[str, int] = {}
        self._lock = threading.RLock()
        self._fd = -1
        self._day = ""
        self._checked = 0
        self._end = -1  # of the last line written here: if the file ends there, it ends with a newline
        _JOURNALS.add(self)

    def append(self, line: bytes, day: str, second: int) -> None:
        r"""Append one line, or several that stand together, to the file of ``day``.

        Parameters
        ----------
        line : bytes
            Ends with ``\n``.
        day : str
            ``YYYY-MM-DD``.
        second : int
            Any number that changes every second: a new value makes the journal check the file.

        Raises
        ------
        OSError
            Nothing or only a part was written; the next line is safe.
        """
        with self._lock:
            if day != self._day or second != self._checked:
                self._open(day)
                self._checked = second
            end = os.lseek(self._fd, 0, os.SEEK_END)
            if end != self._end:
                os.lseek(self._fd, max(end - 1, 0), os.SEEK_SET)
                if os.read(self._fd, 1) not in {b"\n", b""}:  # half a line, of a killed process
                    line = b"\n" + line
            if os.write(self._fd, line) != len(line):
                raise OSError(errno.ENOSPC, "only a part of the line was written")
            self._end = end + len(line)
            if self._unreported:
                self._report()

    def count_dropped(self, reason: str) -> None:
        """Report a lost record to other processes; a reason is a name without quotes or backslashes."""
        with self._lock:
            self._unreported[reason] = self._unreported.get(reason, 0) + 1
            self._report()

    def _report(self) -> None:
        """Append the counts to ``dropped.jsonl``; after an error, they wait for the next line.

        This mostly works even on a full disk if the file exists: a few bytes fit into its last block.
        """
        ts = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines = [f'{{"ts":"{ts}","reason":"{reason}","n":{n}}}' for reason, n in self._unreported.items()]
        with suppress(WorkspaceError, ValueError):  # ValueError: an impossible path
            append_private(self.folder.parent / "dropped.jsonl", lines)
            self._unreported = {}

    def _open(self, day: str) -> None:
        path = self.folder / f"{day}.jsonl"
        with suppress(OSError):  # a file that was removed
            if day == self._day and os.path.samestat(path.stat(), os.fstat(self._fd)):
                return
        self.close()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        close_to_others(self.folder)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._fd, self._end = os.open(path, flags, 0o600), -1
        self._day = day

    def close(self) -> None:
        """Close the day file; the next line opens it again."""
        fd, self._fd, self._day = self._fd, -1, ""
        with suppress(OSError):  # not open; or a daemon closed every descriptor at its start
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def day_stamp(now_ns: int) -> tuple[str, str, int]:
    """ISO 8601 with microseconds, its day, its second."""
    second, past_ns = divmod(now_ns, 1_000_000_000)
    text = _to_the_second(second)
    return f"{text}.{past_ns // 1000:06d}+00:00", text[:10], second


_to_the_second: Final = lru_cache(2)(lambda second: datetime.fromtimestamp(second, UTC).isoformat()[:19])


class DroppedRecords(TypedDict):
    """A line of ``dropped.jsonl``: how many records were dropped, and why."""

    ts: datetime
    reason: str
    n: int


def read_dropped(path: Path, *, since: datetime) -> dict[str, int]:
    """Count the records that could not be written since a time.

    Parameters
    ----------
    path : Path
        May be absent; unreadable lines are skipped.
    since : datetime
        With a zone.

    Returns
    -------
    dict of str to int
        By reason, the most frequent first.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    from collections import Counter

    from coreloop.observe import jsonl  # keeps its decoder out of the collector's server

    counts: Counter[str] = Counter()
    for line in jsonl.read(path, DroppedRecords, other="not a count").values if path.exists() else ():
        if jsonl.with_zone(line["ts"]) >= since:
            counts[line["reason"]] += line["n"]
    return dict(counts.most_common())


def remove_days(folder: Path, *, before: "date", kept: "Container[Path]" = ()) -> list[Path]:
    """Remove the files of days before this one, by name, but those to be kept; returns which."""
    files = sorted(folder.glob("????-??-??*.jsonl"))
    old = [path for path in files if path.name[:10] < before.isoformat() and path not in kept]
    for path in old:
        path.unlink(missing_ok=True)
    return old


def write_new(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 unless it exists; of processes that do so at once, the first one's stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    temporary.touch(0o600, exist_ok=False)
    try:
        temporary.write_bytes(content)
        with suppress(FileExistsError):
            os.link(temporary, path)  # unlike a rename, never replaces
    finally:
        temporary.unlink(missing_ok=True)


def _reset_after_fork() -> None:
    # A thread of the parent may hold a lock at the fork, which the child cannot release. And a child that
    # becomes a daemon closes every descriptor: another file may then get the number of the day file.
    for journal in _JOURNALS:
        journal._lock = threading.RLock()
        journal._unreported = {}  # the parent reports its own
        journal.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
