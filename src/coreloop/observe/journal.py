"""The day files that records are appended to: one line, one ``write``, from any number of processes.

What could not be appended is told in ``dropped.jsonl`` beside the folder, for other processes to see.
"""

import atexit
import os
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

from coreloop.observe.tally import Tally

_TELL_S = 60.0
_TELL_AGAIN_S = 1.0
_LONGEST_LINE_BYTES = 4096
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
        self.untold = Tally()
        self._told: dict[str, int] = {}
        self.has_untold = False
        self._tell_at = 0.0
        self._lock = threading.RLock()
        self._busy = False
        self._fd = -1
        self._day = ""
        self._checked = 0
        self._end = -1  # of the last line written here; if the next line starts there, no other process wrote
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
            if self._busy:  # a signal handler has interrupted this thread in the midst of another line
                Journal(self._folder).append(line, day, second)
                return
            try:
                self._busy = True
                if day != self._day or second != self._checked:
                    self._open(day)
                    self._checked = second
                if self._torn and _lacks_only_a_newline(self._fd):
                    line = b"\n" + line
                if os.write(self._fd, line) < len(line):
                    self._seal()
                self._torn = False
                self._end += len(line)
                if os.lseek(self._fd, 0, os.SEEK_CUR) != self._end:
                    self._write_again_after_half_line(line)
                if self.has_untold:
                    self._tell()
            finally:
                self._busy = False

    def _write_again_after_half_line(self, line: bytes) -> None:
        """Write a line again if half a line stands in front of it: of a process that was killed meanwhile.

        A newline in front would have become an empty line where the other process was only late. So lines
        are written as they are. The system lets one writer in at a time: what stands in front is final now.
        If it is half a line, the two together cannot be read.
        """
        self._end = os.lseek(self._fd, 0, os.SEEK_CUR)
        follows_half_line = (
            not line.startswith(b"\n") and _byte_at(self._fd, self._end - len(line) - 1) != b"\n"
        )
        if follows_half_line and os.write(self._fd, line) < len(line):
            self._seal()

    def count_dropped(self, reason: str) -> None:
        """Let other processes know that a record is lost.

        If there is no stack left to do so, it raises RecursionError and counts nothing.

        Parameters
        ----------
        reason : str
            A name without quotes or backslashes.
        """
        self.untold.add(reason)
        self.has_untold = True
        try:
            self.tell()
        except RecursionError:
            return  # counted; told with a later record

    def tell(self, *, at_once: bool = False, timeout_s: float = -1) -> None:
        """Append what was dropped to ``dropped.jsonl``, once a minute at most.

        Parameters
        ----------
        at_once : bool
            Do not wait for the minute to end.
        timeout_s : float
            How long to wait for a thread that is writing; -1 for as long as it takes.
        """
        if not self._lock.acquire(timeout=timeout_s):
            return
        try:
            if self._busy:  # this is a signal handler, and the counts wait for a later record
                return
            try:
                self._busy = True
                self._tell(at_once=at_once)
            finally:
                self._busy = False
        finally:
            self._lock.release()

    def _tell(self, *, at_once: bool = False) -> None:
        """Append the counts; what cannot be told now waits for a later record, a second at least.

        On a disk that is full this mostly works all the same where the file exists: a few bytes fit into
        its last block.
        """
        try:
            now_s = time.monotonic()
            if now_s < self._tell_at and not at_once:
                return
            self.has_untold, self._tell_at = False, now_s + _TELL_AGAIN_S
            counts = self.untold.counts()
            untold = {reason: n - self._told.get(reason, 0) for reason, n in counts.items()}
            ts = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            lines = [f'{{"ts":"{ts}","reason":"{reason}","n":{n}}}\n' for reason, n in untold.items() if n]
            if lines:
                # the newline ends what a full disk may have cut off
                _append(self._folder.parent / "dropped.jsonl", "".join(["\n", *lines]).encode())
                self._told, self._tell_at = counts, now_s + _TELL_S
        except (OSError, ValueError, RecursionError):  # ValueError: a folder that no file system can have
            self.has_untold = True

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
        self._fd, self._end = os.open(path, flags, 0o600), -1
        self._torn = _tail(self._fd, 1) not in {b"", b"\n"}
        self._day = day

    def _seal(self) -> None:
        self._torn = True
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
        if self.has_untold:
            self.tell(at_once=True, timeout_s=0)
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


def _lacks_only_a_newline(fd: int) -> bool:
    """Whether the file ends with a whole record; what copies or edits a log may leave that behind."""
    last = _tail(fd, _LONGEST_LINE_BYTES).rpartition(b"\n")[2]
    if not last.endswith(b"}"):
        return False
    import orjson

    try:
        orjson.loads(last)
    except orjson.JSONDecodeError:
        return False
    return True


def _tail(fd: int, size: int) -> bytes:
    os.lseek(fd, max(0, os.lseek(fd, 0, os.SEEK_END) - size), os.SEEK_SET)
    return os.read(fd, size)


def _byte_at(fd: int, place: int) -> bytes:
    """One byte of the file; a newline in front of its beginning, and where it was emptied meanwhile."""
    if place < 0:
        return b"\n"
    os.lseek(fd, place, os.SEEK_SET)
    return os.read(fd, 1) or b"\n"


def _start_anew() -> None:
    # A thread of the parent may have held a lock at the fork; in the child nobody would ever release it. And
    # a child that becomes a daemon closes every descriptor: what takes the number then is not the day file.
    for journal in _JOURNALS:
        journal._lock, journal._busy = threading.RLock(), False
        journal.untold, journal._told, journal.has_untold = Tally(), {}, False  # the parent tells its own
        journal.close()


def _tell_all() -> None:
    for journal in tuple(_JOURNALS):
        journal.tell(at_once=True, timeout_s=1)


atexit.register(_tell_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
