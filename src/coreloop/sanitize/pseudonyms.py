"""Keyed pseudonyms: equal values get equal pseudonyms within an export, but not across keys."""

import hmac
import os
import re
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import file_errors, open_regular

_BYTES: Final = 16
# No digits, so that a pseudonym never looks like a number and error templates keep it unchanged.
_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
_PLACEHOLDER: Final = re.compile(r"\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\]|[a-z_]{2,20}-[a-p]{32}")
_MIN_KEY_BYTES: Final = 32


class Pseudonyms:
    """HMAC-SHA256 of a field's tag and a value, truncated to 128 bits.

    Parameters
    ----------
    key : bytes
        At least 32 random bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._mac = hmac.new(key, digestmod="sha256")

    def __call__(self, field: str, value: str) -> str:
        """Return ``field-`` and 32 letters from a to p, different for each field; "" stays ""."""
        return f"{field}-{self.letters(field, value)}" if value else ""

    def letters(self, field: str, value: str) -> str:
        """Return only the 32 letters."""
        mac = self._mac.copy()  # two thirds of the time of starting with the key
        mac.update(f"{field}\0{value}".encode("utf-8", "surrogatepass"))
        return mac.digest()[:_BYTES].hex().translate(_LETTERS)


def is_placeholder(text: str) -> bool:
    """Whether a text is exactly a label or a pseudonym."""
    return _PLACEHOLDER.fullmatch(text) is not None


def read_key(path: Path, *, out: Path | None) -> bytes:
    """Read the key of a key file, or create the file with a random key if absent.

    Parameters
    ----------
    path : Path
        A file of at least 32 bytes that only its owner may read.
    out : Path, optional
        Folder to be shared, which must not contain the file.

    Raises
    ------
    UsageError
        The file lies in the shared folder, is readable by others, or is too short.
    WorkspaceError
        The file cannot be read or created.
    """
    resolved = path.resolve()
    if out is not None and (resolved == out.resolve() or out.resolve() in resolved.parents):
        raise UsageError(f"{path} lies in {out}, which will be shared; keep the key elsewhere")
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
            raise UsageError(f"{path} is readable by others; run chmod 600 {path}")
        key = file.read(4096).strip()
    if len(key) < _MIN_KEY_BYTES:
        raise UsageError(
            f"{path} holds {len(key)} bytes; a key needs at least {_MIN_KEY_BYTES}: openssl rand -hex 32"
        )
    return key


def _create(path: Path) -> bytes:
    key = token_hex(_MIN_KEY_BYTES).encode()
    with file_errors("cannot be created ({strerror})", path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key + b"\n")
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise WorkspaceError(f"cannot be written ({error.strerror})", path=path) from error
    return key
