"""Signed-in readers of pages: a cookie that names an API key, its end, and tokens for forms."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Final

from coreloop.base.database import Database
from coreloop.base.files import file_errors, locked, write_private
from coreloop.web.keys import ANYONE, ApiKey

COOKIE: Final = "coreloop"
LASTS_S: Final = 12 * 3600  # chosen: a working day, and not the next one
_SECRET_BYTES: Final = 32
_SESSION_BYTES: Final = 16
"""So that two sign-ins are two sessions, and the end of one leaves the other."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """Signs cookies and forms, and remembers which sessions have ended. Threads and processes may share it.

    Attributes
    ----------
    keys : tuple of ApiKey
        Empty if anyone on this machine may read.
    secret : bytes
        Shared by all processes of a project.
    database : Database
        See `coreloop.web.service_tables.open_tables`.
    """

    keys: Sequence[ApiKey]
    secret: bytes
    database: Database

    def cookie(self, key: ApiKey, *, now: float) -> str:
        """Return a value that names a key for twelve hours. It does not contain the key."""
        session = f"{int(now) + LASTS_S}.{token_hex(_SESSION_BYTES)}"
        return f"{key.name}~{session}~{self._sign('cookie', key, session)}"

    def reader(self, cookie: str, *, now: float) -> ApiKey | None:
        """Return the key that a cookie names; None if it is forged, too old, or of a key that is gone.

        The reader may have signed out all the same, see `has_ended`.
        """
        if not self.keys:
            return ANYONE
        name, _, rest = cookie.partition("~")
        session, _, signature = rest.partition("~")
        key = next((key for key in self.keys if key.name == name), None)
        if key is None or not _is_same(signature, self._sign("cookie", key, session)):
            return None
        return key if _until(session) > now else None

    def end(self, cookie: str, *, now: float) -> None:
        """End the session of a cookie on the server: copies of the cookie end with it."""
        if not self.keys or self.reader(cookie, now=now) is None:
            return
        with self.database.writing():
            self.database.rows("DELETE FROM ended_sessions WHERE until < ?", (int(now),))
            self.database.rows(
                "INSERT INTO ended_sessions VALUES (?, ?) ON CONFLICT (session) DO NOTHING",
                (_session(cookie), _until(_session(cookie))),
            )

    def has_ended(self, cookie: str) -> bool:
        """Whether the reader of a cookie has signed out."""
        with self.database.reading():
            return bool(
                self.database.rows("SELECT 1 FROM ended_sessions WHERE session = ?", (_session(cookie),))
            )

    def token(self, reader: ApiKey) -> str:
        """Return the hidden field of a reader's forms."""
        return self._sign("form", reader, "")

    def is_own(self, reader: ApiKey, token: str) -> bool:
        """Whether a form came from one of our pages."""
        return _is_same(token, self.token(reader))

    def _sign(self, purpose: str, key: ApiKey, text: str) -> str:
        message = "\n".join((purpose, key.name, key.digest.hex(), text))
        return hmac.new(self.secret, message.encode(), sha256).hexdigest()


def _session(cookie: str) -> str:
    """Return what names the session in a cookie of ours, with its end: ``1790000000.0123456789abcdef…``."""
    return cookie.split("~")[1]


def _until(session: str) -> int:
    return int(session.partition(".")[0])


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
