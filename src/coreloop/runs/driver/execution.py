"""One execution of a driven run's command, and what it says of itself: exit code, reports, output."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.base.files import file_errors, write_private
from coreloop.base.text import printable
from coreloop.runs.driver.console import Say
from coreloop.runs.driver.process_group import Command, Finished, run_command
from coreloop.runs.driver.spending import MOST_WAIT_S, Reports, StreamLines
from coreloop.runs.folder import make_private

RATE_LIMITED: Final = 75
"""EX_TEMPFAIL of sysexits.h."""
HEAD_BYTES: Final = 100_000
TAIL_BYTES: Final = 400_000
_SHOWN_LINES: Final = 200
_SHOWN_CHARS: Final = 300
_LINE_BYTES: Final = 4 * _SHOWN_CHARS


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """How an execution ended, what it reported and printed."""

    finished: Finished
    reports: Reports
    output: bytes

    @property
    def is_rate_limited(self) -> bool:
        reports = self.reports
        return self.finished.code == RATE_LIMITED or reports.retry_after_s is not None or reports.is_limited

    def retry_after_s(self, now: datetime) -> float | None:
        """Seconds until a rate limit ends, if the command says so."""
        reports = self.reports
        if reports.retry_after_s is not None or reports.resets_at is None:
            return reports.retry_after_s
        left_s = reports.resets_at - now.timestamp()
        return min(left_s, MOST_WAIT_S) if left_s > 0 else None

    @property
    def failure(self) -> str:
        """Why the execution failed, or ""; what it printed for people does not matter."""
        if self.finished.ended_for:
            return self.finished.ended_for
        if self.finished.code:
            return f"exit code {self.finished.code}"
        return '"is_error": true' if self.reports.is_error else ""


def attempt(command: Command, file: Path, *, show: Say, is_over: Callable[[], str]) -> ExecutionResult:
    """Execute the command of a run once; reads what it reports, and shows what begins its output.

    The output itself is for ``file``, which the caller writes.

    Raises
    ------
    WorkspaceError
        Nothing can be started.
    """
    reports, screen, kept = Reports(), _Screen(show, file), BoundedOutput()

    def hear_line(line: bytes) -> None:
        reports.add_line(line)
        screen.add(line)

    lines = {"stdout": StreamLines(hear_line), "stderr": StreamLines(hear_line)}

    def hear(stream: str, data: bytes) -> None:
        lines[stream].add(data)
        kept.add(data)

    finished = run_command(command, hear=hear, is_over=is_over)
    for stream in lines.values():
        stream.end()
    return ExecutionResult(finished, reports, kept.content())


@contextmanager
def open_spool(path: Path) -> Iterator[int]:
    """Empty the file of reports, which outlives the driver until the run has booked them, for an execution.

    Raises
    ------
    WorkspaceError
        It cannot be written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with file_errors("cannot be written ({strerror})", path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor):
        yield descriptor


def read_spool(path: Path) -> Reports:
    """Read the reports of an execution whose driver died; none without the file.

    Raises
    ------
    WorkspaceError
        It cannot be read.
    """
    reports = Reports()
    lines = StreamLines(reports.add_line)
    with file_errors("cannot be read ({strerror})", path), suppress(FileNotFoundError):
        lines.add(path.read_bytes())
    lines.end()
    return reports


def output_file(session: Path, number: int) -> Path:
    """Return where the output of an iteration is kept."""
    return session / "output" / f"iteration_{number:03d}.log"


def keep_output(file: Path, content: bytes) -> None:
    """Write the output of an iteration.

    A command may have put a link in place of any folder above the file: it has ended, and each is looked at.
    """
    for folder in (*reversed(file.parents[1:4]), file.parent):  # .research, sessions, the run's, output
        make_private(folder)
    write_private(file, content)


class _Screen:
    """Shows the first lines of an output, escaped and cut."""

    def __init__(self, show: Say, file: Path) -> None:
        self._show = show
        self._file = file
        self._left = _SHOWN_LINES

    def add(self, line: bytes) -> None:
        self._left -= 1
        if self._left >= 0:
            text = line[:_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")
            cut = "…" if len(text) > _SHOWN_CHARS else ""
            self._show(f"  | {printable(text[:_SHOWN_CHARS])}{cut}".rstrip())
        elif self._left == -1:
            self._show(f"  | … the rest is in {self._file}")


class BoundedOutput:
    """The first and the last bytes of an output; what is between is counted and dropped."""

    def __init__(self) -> None:
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Add bytes."""
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = max(0, len(self._tail) - TAIL_BYTES)
        del self._tail[:excess]
        self._dropped += excess

    def content(self) -> bytes:
        """Return the output, with a line that says how much of it is absent."""
        absent = f"\n[… {self._dropped:,} bytes were dropped …]\n".encode() if self._dropped else b""
        return bytes(self._head) + absent + bytes(self._tail)
