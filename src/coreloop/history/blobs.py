"""Contents of blobs, from one git process however many are asked for."""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


class Blobs:
    """``git cat-file --batch`` of a repository, started by the first question.

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

    def read(self, sha: str) -> bytes | None:
        """A blob's bytes; None where git has no such blob, or cannot get it."""
        if self._process is None:
            self._process = self._start()
        asked, told = self._process.stdin, self._process.stdout
        if asked is None or told is None:
            return None
        with suppress(OSError):  # it died over an earlier one; then it tells nothing either
            asked.write(f"{sha}\n".encode())
            asked.flush()
        words = told.readline().split()  # the hash, the kind, the size; or the hash and "missing"
        if len(words) != 3:
            return None
        content = told.read(int(words[2]) + 1)[:-1]  # a newline follows
        return content if words[1] == b"blob" else None

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
