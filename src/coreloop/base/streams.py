"""Standard streams that tolerate a closed pipe: the output ends, and the program continues."""

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

_UNREAD: Final = frozenset({errno.EPIPE, errno.EBADF})


class _Output(io.FileIO):
    """Standard output or error; data for a closed pipe is dropped. A full disk is still an error."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in _UNREAD:
                raise
        _to_devnull(self.fileno())
        return memoryview(data).nbytes


def outlive_readers() -> None:
    """Make stdout and stderr tolerate closed pipes, so that the process always reaches its exit code.

    A closed stream becomes ``/dev/null``. Replaced streams (``sys.stdout`` set by other code) stay.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file to be opened would get its number, and the output
            _to_devnull(descriptor)
    sys.stdout = _outliving(sys.stdout, 1)
    sys.stderr = _outliving(sys.stderr, 2)


def _outliving(stream: TextIO | None, descriptor: int) -> TextIO:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    binary = getattr(stream, "buffer", None)
    raw = getattr(binary, "raw", binary)  # with PYTHONUNBUFFERED there is no buffer
    if type(raw) is not io.FileIO or stream.fileno() != descriptor:
        return stream
    with suppress(OSError):
        stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(descriptor, "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=descriptor == 2 or binary is raw or raw.isatty(),
    )


def _to_devnull(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
    os.set_inheritable(descriptor, True)
