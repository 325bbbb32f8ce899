"""Standard streams that outlive their readers: a closed pipe ends the output, and never the run."""

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

_UNREAD: Final = frozenset({errno.EPIPE, errno.EBADF})


class _Output(io.FileIO):
    """Standard output; what nobody reads any more is dropped. A full disk is still an error."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not self._is_lost(error):
                raise
        _to_devnull(self.fileno())
        return memoryview(data).nbytes

    def _is_lost(self, error: OSError) -> bool:
        return error.errno in _UNREAD


class _Errors(_Output):
    """Standard error: whatever is wrong with it, there is nobody left to tell."""

    def _is_lost(self, error: OSError) -> bool:
        return not isinstance(error, BlockingIOError | InterruptedError)


def outlive_readers() -> None:
    """Let this process write to stdout and stderr, and reach its exit code, whether or not anybody reads.

    A stream that is closed, or whose reader went away, takes everything and keeps nothing. Streams that
    somebody else has put in the place of the process's own stay.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file that is opened would get its number, and the output
            _to_devnull(descriptor)
    sys.stdout = _outliving(sys.stdout, 1, _Output)
    sys.stderr = _outliving(sys.stderr, 2, _Errors)


def _outliving(stream: TextIO | None, descriptor: int, kind: type[_Output]) -> TextIO:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    binary = getattr(stream, "buffer", None)
    raw = getattr(binary, "raw", binary)  # PYTHONUNBUFFERED leaves nothing between them
    if type(raw) is not io.FileIO or stream.fileno() != descriptor:
        return stream
    with suppress(OSError):
        stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(kind(descriptor, "w", closefd=False)),
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
