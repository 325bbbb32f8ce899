"""Keyed pseudonyms: the same value has the same one within an export, and another key gives others."""

import hmac
import os
import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from coreloop.errors import UsageError, WorkspaceError
from coreloop.files import open_regular

_BYTES: Final = 16
# No digit: a pseudonym can never look like a number, and a template of errors keeps it as it is.
_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
_OWN: Final = re.compile(r"\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\]|[a-z_]{2,20}-[a-p]{32}")
_MIN_KEY_BYTES: Final = 32


class Pseudonyms:
    """HMAC-SHA256 of a field's tag and a value, cut to 128 bits.

    Parameters
    ----------
    key : bytes
        At least 32 random bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, field: str, value: str) -> str:
        """``field-`` and 32 letters from a to p; another field's pseudonym of the value is another."""
        return f"{field}-{self.letters(field, value)}"

    def letters(self, field: str, value: str) -> str:
        """The 32 letters alone."""
        data = f"{field}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, data, "sha256")[:_BYTES].hex().translate(_LETTERS)


def is_own(text: str) -> bool:
    """Whether a text is nothing but a label or a pseudonym."""
    return _OWN.fullmatch(text) is not None


def read_key(path: Path, *, out: Path | None) -> bytes:
    """The key of a key file, which is made with a fresh one when it is not there.

    Parameters
    ----------
    path : Path
        At least 32 bytes that nobody else may read.
    out : Path, optional
        Folder that will be shared; the file may not lie in it.

    Raises
    ------
    UsageError
        The file lies in the shared folder, others may read it, or it is too short to be a key.
    WorkspaceError
        It cannot be read or made.
    """
    resolved = path.resolve()
    if out is not None and (resolved == out.resolve() or out.resolve() in resolved.parents):
        raise UsageError(f"{path} lies in {out}, which others will read; keep the key elsewhere")
    try:
        return _read(path)
    except FileNotFoundError:
        return _create(path)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error


def _read(path: Path) -> bytes:
    with open_regular(path) as file:
        mode = os.fstat(file.fileno()).st_mode
        if hasattr(os, "geteuid") and mode & 0o077:
            raise UsageError(f"others may read {path}; say chmod 600 {path}")
        key = file.read(4096).strip()
    if len(key) < _MIN_KEY_BYTES:
        raise UsageError(
            f"{path} holds {len(key)} bytes; a key has at least {_MIN_KEY_BYTES}: openssl rand -hex 32"
        )
    return key


def _create(path: Path) -> bytes:
    key = token_hex(_MIN_KEY_BYTES).encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise WorkspaceError(f"cannot be made ({error.strerror})", path=path) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key + b"\n")
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise WorkspaceError(f"cannot be written ({error.strerror})", path=path) from error
    return key
