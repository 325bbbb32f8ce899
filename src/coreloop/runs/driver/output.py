"""The output of a command, bounded: its beginning and its end."""

from collections import deque
from typing import Final

HEAD_BYTES: Final = 100_000
TAIL_BYTES: Final = 400_000
KEPT_FILES: Final = 100
"""Iterations of a run whose output is kept."""


class BoundedOutput:
    """The first and the last bytes of an output; what is between is counted and dropped."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Add bytes."""
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        if rest := data[room:]:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail and self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
            first = len(self._tail.popleft())
            self._tail_bytes -= first
            self._dropped += first

    def content(self) -> bytes:
        """Return the output, with a line that says how much of it is absent."""
        absent = f"\n[… {self._dropped:,} bytes were dropped …]\n".encode() if self._dropped else b""
        return bytes(self._head) + absent + b"".join(self._tail)
