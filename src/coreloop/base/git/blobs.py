"""Contents of blobs, all read from one git process."""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


class Blobs:
    """``git cat-file --batch`` of a repository, started at the first read.

    Parameters
    ----------
    root : Path
        Top of the work tree.
    environ : mapping
        The process's environment.
    """

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, name: str, kind: str = "blob") -> bytes | None:
        """A blob's or a commit's bytes; None if git does not have it or cannot fetch it.

        Parameters
        ----------
        name : str
            Its hash, or ``revision:path``.
        """
        if "\n" in name:
            return None
        if self._process is None:
            self._process = self._start()
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            return None
        with suppress(OSError):  # if git has died, the read below is empty
            stdin.write(f"{name}\n".encode())
            stdin.flush()
        words = stdout.readline().split()  # hash, kind and size, or "missing"
        if not words or not words[-1].isdigit():
            return None
        content = stdout.read(int(words[-1]) + 1)[:-1]  # a newline follows
        return content if words[1] == kind.encode() else None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=self._root,
            env=dict(self._environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
