"""Signed-in readers of pages: a cookie that names an API key, and tokens for forms."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import Final

from coreloop.base.files import file_errors, locked, write_private
from coreloop.web.keys import ANYONE, ApiKey

COOKIE: Final = "coreloop"
LASTS_S: Final = 12 * 3600  # chosen: a working day, and not the next one
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SignIn:
    """Signs cookies and forms. Threads and processes may share it.

    Attributes
    ----------
    keys : tuple of ApiKey
        Empty if anyone on this machine may read.
    secret : bytes
        Shared by all processes of a project.
    """

    keys: Sequence[ApiKey]
    secret: bytes

    def cookie(self, key: ApiKey, *, now: float) -> str:
        """Return a value that names a key for twelve hours. It does not contain the key."""
        session = str(int(now) + LASTS_S)
        return f"{key.name}~{session}~{self._sign('cookie', key, session)}"

    def reader(self, cookie: str, *, now: float) -> ApiKey | None:
        """Return the key that a cookie names; None if it is forged, too old, or of a key that is gone."""
        if not self.keys:
            return ANYONE
        name, _, rest = cookie.partition("~")
        session, _, signature = rest.partition("~")
        key = next((key for key in self.keys if key.name == name), None)
        if key is None or not _is_same(signature, self._sign("cookie", key, session)):
            return None
        return key if int(session) > now else None

    def token(self, reader: ApiKey) -> str:
        """Return the hidden field of a reader's forms."""
        return self._sign("form", reader, "")

    def is_own(self, reader: ApiKey, token: str) -> bool:
        """Whether a form came from one of our pages."""
        return _is_same(token, self.token(reader))

    def _sign(self, purpose: str, key: ApiKey, text: str) -> str:
        message = "\n".join((purpose, key.name, key.digest.hex(), text))
        return hmac.new(self.secret, message.encode(), sha256).hexdigest()


def _is_same(given: str, ours: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), ours.encode())


def read_secret(file: Path) -> bytes:
    """Return the secret in a private file, which is made if it is absent.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    with file_errors("cannot be used ({strerror})", file):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(file.parent):
            if not file.exists():
                write_private(file, token_bytes(_SECRET_BYTES))
            return file.read_bytes()
