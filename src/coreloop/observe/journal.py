"""The day files that records are appended to: one line, one ``write``, from any number of processes.

What could not be appended is told in ``dropped.jsonl`` beside the folder, for other processes to see.
"""

import os
import threading
import time
import weakref
from collections import Counter
from contextlib import suppress
from pathlib import Path

_UNDER_WAY_S = 0.002
_TELL_S = 60.0
_JOURNALS: "weakref.WeakSet[Journal]" = weakref.WeakSet()


class TornWriteError(OSError):
    """The system took only a part of a line; the part is sealed with a newline."""


class Journal:
    """Appends lines to ``folder/YYYY-MM-DD.jsonl``.

    The descriptor stays open between lines: opening costs ten times the write. Once a second it is checked
    that the file is still the one of that name, so a rotated or removed file loses at most a second.

    Parameters
    ----------
    folder : Path
        Made on the first line, mode 0700; one that was there (a clone brings it) becomes 0700 if it is this
        user's. The files are 0600.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._untold: Counter[str] = Counter()
        self._tell_at = 0.0
        self._lock = threading.Lock()
        self._fd = -1
        self._day = ""
        self._checked = 0
        self._torn = False
        _JOURNALS.add(self)

    def append(self, line: bytes, day: str, second: int) -> None:
        r"""Append one line to the file of ``day``.

        Parameters
        ----------
        line : bytes
            Ends with ``\n``.
        day : str
            ``YYYY-MM-DD``.
        second : int
            Any number that is another one every second: a new value makes the file be checked.

        Raises
        ------
        TornWriteError
            Only a part was written; the next line is safe.
        OSError
            Nothing was written.
        """
        with self._lock:
            if day != self._day or second != self._checked:
                self._open(day)
                self._checked = second
            if self._torn:
                line = b"\n" + line
            self._torn = os.write(self._fd, line) < len(line)
            if self._torn:
                self._seal()
            if self._untold:
                self._tell()

    def count_dropped(self, reason: str) -> None:
        """Let other processes know that a record is lost; never raises.

        Parameters
        ----------
        reason : str
            A name without quotes or backslashes.
        """
        with self._lock:
            self._untold[reason] += 1
            self._tell()

    def _tell(self) -> None:
        """Append the counts, once a minute at most; what cannot be told now waits for a later record.

        On a disk that is full this mostly works all the same where the file exists: a few bytes fit into
        its last block.
        """
        now_s = time.monotonic()
        if now_s < self._tell_at:
            return
        self._tell_at = now_s + _TELL_S
        ts = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lines = [f'{{"ts":"{ts}","reason":"{reason}","n":{n}}}\n' for reason, n in self._untold.items()]
        with suppress(OSError, ValueError):  # ValueError: a folder that no file system can have
            # the newline ends what a full disk may have cut off
            _append(self._folder.parent / "dropped.jsonl", "".join(["\n", *lines]).encode())
            self._untold.clear()

    def _open(self, day: str) -> None:
        path = self._folder / f"{day}.jsonl"
        if day == self._day and _is_open_as(path, self._fd):
            return
        self.close()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _close_to_others(self._folder)
        flags = (
            os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        )
        self._fd = os.open(path, flags, 0o600)
        self._day = day
        self._torn = _ends_torn(self._fd)

    def _seal(self) -> None:
        with suppress(OSError):  # a full disk: the flag stays, and the next line brings its own newline
            self._torn = os.write(self._fd, b"\n") != 1
        raise TornWriteError(0, "only a part of the line was written")

    def close(self) -> None:
        """Close the day file; the next line opens it again."""
        fd, self._fd, self._day = self._fd, -1, ""
        if fd >= 0:
            with suppress(OSError):  # a daemon that closes every descriptor at its start closed this one too
                os.close(fd)

    def __del__(self) -> None:
        self.close()


def _append(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def _close_to_others(folder: Path) -> None:
    if not hasattr(os, "geteuid"):
        return
    with suppress(OSError):  # a file system without modes; the files themselves are 0600
        status = folder.stat()
        if status.st_uid == os.geteuid() and status.st_mode & 0o077:
            folder.chmod(0o700)


def _is_open_as(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except OSError:
        return False


def _ends_torn(fd: int) -> bool:
    """Whether a writer that died left half a line.

    Half a line that grows is another process's write under way: the file's size goes up page by page.
    """
    deadline = time.monotonic() + _UNDER_WAY_S
    while _last_byte(fd) not in {b"", b"\n"}:
        if time.monotonic() > deadline:
            return True
        time.sleep(0)
    return False


def _last_byte(fd: int) -> bytes:
    size = os.lseek(fd, 0, os.SEEK_END)
    os.lseek(fd, max(0, size - 1), os.SEEK_SET)
    return os.read(fd, 1)


def _start_anew() -> None:
    # A thread of the parent may have held a lock at the fork; in the child nobody would ever release it. And
    # a child that becomes a daemon closes every descriptor: what takes the number then is not the day file.
    for journal in _JOURNALS:
        journal._lock = threading.Lock()
        journal._untold = Counter()  # the parent tells its own
        journal.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
