"""Snapshot of a records file at the start of a run, to check later whether its bytes are still the same."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from coreloop.observe.reading.remote import LogFile

_EDGE_BYTES: Final = 4096
_LOOK_BACK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class LogSource:
    """A file at one moment, up to its size at that moment; bytes appended later belong to the next run.

    Attributes
    ----------
    size : int
        Bytes.
    end : int
        Bytes up to the last newline; less than ``size`` while a line is being written, or if it is torn.
    modified_ns, inode : int
        From the file system; 0 for a remote file.
    head, tail : str
        Digests of the first and of the last 4,096 bytes.
    version : str
        ETag or modification time of a remote file; empty if it has neither.
    """

    size: int
    end: int
    modified_ns: int
    inode: int
    head: str
    tail: str
    version: str = ""

    def is_same(self, other: "LogSource") -> bool:
        """Whether the file is unchanged; a moved file is the same."""
        return replace(other, inode=self.inode) == self

    def begins_with(self, earlier: "LogSource", path: LogFile) -> bool:
        """Whether only complete lines were appended to the earlier file.

        Saving in an editor changes the inode; rewriting the file changes the first or last bytes.
        """
        if earlier.inode != self.inode or not earlier.size == earlier.end < self.size:
            return False
        with path.open("rb", buffering=_EDGE_BYTES) as file:
            head, tail = _edges(file, earlier.size)
        return (earlier.head, earlier.tail) == (_digest(head), _digest(tail))


def read_source(path: LogFile) -> LogSource:
    """Take the snapshot of a file; may raise `OSError`."""
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


def split_at_lines(path: LogFile, start: int, end: int, *, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Split a range of bytes at line ends into one or more chunks of about ``chunk_bytes``."""
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
    """Offset just past the last newline, or 0 without a newline."""
    end = size
    while end > 0:
        start = max(0, end - _LOOK_BACK_BYTES)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
