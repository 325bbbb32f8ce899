"""A file of records as it was when a run began, and how to tell later that these bytes are still the same."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from coreloop.mine.remote import LogFile

_EDGE_BYTES: Final = 4096
_LOOK_BACK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class LogSource:
    """What a file was like at one moment, up to its size then: what is appended later is the next run's.

    Attributes
    ----------
    size : int
        Bytes.
    end : int
        Bytes up to the last newline; less than ``size`` while a line is being written, or torn.
    modified_ns, inode : int
        As the file system has them; 0 at an address.
    head, tail : str
        Digests of the first and of the last 4,096 bytes.
    version : str
        At an address, the ETag or the time of change, if it has either.
    """

    size: int
    end: int
    modified_ns: int
    inode: int
    head: str
    tail: str
    version: str = ""

    def is_same(self, other: "LogSource") -> bool:
        """Whether nothing was changed; a file that was moved is the same."""
        return replace(other, inode=self.inode) == self

    def begins_with(self, earlier: "LogSource", path: LogFile) -> bool:
        """Whether only whole lines were appended to what the file was.

        An editor that saves makes another inode; what is written anew has other edges.
        """
        if earlier.inode != self.inode or not earlier.size == earlier.end < self.size:
            return False
        with path.open("rb", buffering=_EDGE_BYTES) as file:
            head, tail = _edges(file, earlier.size)
        return (earlier.head, earlier.tail) == (_digest(head), _digest(tail))


def look_at(path: LogFile) -> LogSource:
    """Look at a file; may raise `OSError`."""
    with path.open("rb", buffering=_EDGE_BYTES) as file:
        if isinstance(path, Path):
            status = os.fstat(file.fileno())
            size, modified_ns, inode, version = status.st_size, status.st_mtime_ns, status.st_ino, ""
        else:
            size, modified_ns, inode, version = path.size, 0, 0, path.version
        head, tail = _edges(file, size)
        newline = tail.rfind(b"\n")
        end = size - len(tail) + newline + 1 if newline >= 0 else _last_newline(file, size - len(tail))
    return LogSource(size, end, modified_ns, inode, _digest(head), _digest(tail), version)


def cut(path: LogFile, start: int, end: int, *, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Parts of about ``chunk_bytes`` that begin and end where lines do; at least one."""
    with path.open("rb") as file:
        while end - start > chunk_bytes:
            file.seek(start + chunk_bytes)
            file.readline()
            middle = min(file.tell(), end)
            yield start, middle
            start = middle
    if start < end or not end:
        yield start, end


def _edges(file: BinaryIO, size: int) -> tuple[bytes, bytes]:
    head = file.read(min(_EDGE_BYTES, size))
    file.seek(max(0, size - _EDGE_BYTES))
    return head, file.read(min(_EDGE_BYTES, size))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _last_newline(file: BinaryIO, size: int) -> int:
    """Offset behind the last newline; 0 when there is none."""
    end = size
    while end > 0:
        start = max(0, end - _LOOK_BACK_BYTES)
        file.seek(start)
        place = file.read(end - start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return 0
