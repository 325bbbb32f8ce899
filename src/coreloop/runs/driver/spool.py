"""What a command reported, in a file that outlives the driver, until the run has booked it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from coreloop.base.files import file_errors
from coreloop.runs.driver.spending import Reports, StreamLines

_ALLOCATED_BYTES: Final = 1 << 16
"""Written before the command starts: a disk that fills up meanwhile still has room for its reports."""
_CHUNK_BYTES: Final = 1 << 20


@contextmanager
def open_spool(path: Path) -> Iterator[int]:
    """Empty the file for another execution, for `coreloop.runs.driver.keeper`.

    Raises
    ------
    WorkspaceError
        It cannot be written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with file_errors("cannot be written ({strerror})", path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
        os.write(descriptor, b"\n" * _ALLOCATED_BYTES)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_spool(path: Path) -> Reports:
    """Read the reports of an execution whose driver died; none without the file.

    Raises
    ------
    WorkspaceError
        It cannot be read.
    """
    reports = Reports()
    lines = StreamLines(reports)
    with (
        file_errors("cannot be read ({strerror})", path),
        suppress(FileNotFoundError),
        path.open("rb") as file,
    ):
        while data := file.read(_CHUNK_BYTES):
            lines.add(data)
    lines.end()
    return reports
