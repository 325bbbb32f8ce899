"""Programs that are run in a copy of the project, which they must read instead of the user's checkout."""

import errno
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from coreloop.base.text import printable

SECRETS: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_MAX_BYTES: Final = 50_000_000
"""Of output: the schemas of 500 tools at the longest description that Claude Code reads take 2 MB."""
_LOOK_S: Final = 0.1  # between looks at the output's size


@dataclass(frozen=True, slots=True)
class RanInCopy:
    """How a program ended, and what it printed."""

    returncode: int
    output: bytes
    errors: bytes

    @property
    def last_error(self) -> str:
        """The last line that it printed on standard error."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()
        return printable((lines or ["no message"])[-1])


def run_in_copy(words: Sequence[str], folder: Path, document: bytes = b"", *, timeout_s: float) -> RanInCopy:
    """Run a program in a folder, and kill it with all that it started if it takes too long.

    Parameters
    ----------
    words : sequence of str
        Program and arguments.
    folder : Path
        The copy; its Python modules come before installed ones.
    document : bytes
        Its standard input.

    Raises
    ------
    OSError
        It cannot be run, or printed too much.
    subprocess.TimeoutExpired
        It took too long.
    """
    # files instead of pipes: a grandchild could keep a pipe open
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(document)
        given.seek(0)
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=_environment(folder),
            stdin=given,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            _wait(process, out, timeout_s)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return RanInCopy(process.returncode, _content(out), _content(err))


def _wait(process: subprocess.Popen[bytes], out: BinaryIO, timeout_s: float) -> None:
    ends_at = time.monotonic() + timeout_s
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(_LOOK_S, max(0.0, ends_at - time.monotonic())))
            return
        if os.fstat(out.fileno()).st_size > _MAX_BYTES:
            raise OSError(errno.EFBIG, f"it printed more than {_MAX_BYTES:,} bytes")
        if time.monotonic() >= ends_at:
            raise subprocess.TimeoutExpired(process.args, timeout_s)


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_MAX_BYTES)


def _environment(folder: Path) -> dict[str, str]:
    """Puts the exported tree first on the path, since an editable install would load the user's checkout."""
    environ = {name: value for name, value in os.environ.items() if name not in SECRETS}
    roots = [str(root) for root in (folder / "src", folder) if root.is_dir()]
    environ["PYTHONDONTWRITEBYTECODE"] = "1"  # doctor changes nothing in the project
    return {**environ, "PYTHONPATH": os.pathsep.join([*roots, *filter(None, [environ.get("PYTHONPATH")])])}
