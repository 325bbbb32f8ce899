"""API keys: who may call the service, and for what. Only their hashes are kept."""

import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, Literal, get_args

from coreloop.base.errors import UsageError

Scope = Literal["read", "run", "review"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
VARIABLE: Final = "CORELOOP_API_KEYS"
_ENTRY: Final = re.compile(r"([\w.-]{1,40}):([a-z+]{1,40}):([0-9a-f]{64})")  # ci:read+run:9f86d081…
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key.

    Attributes
    ----------
    name : str
        The name that logs and limits use.
    scopes : frozenset of str
        What it may do: ``read`` runs and sources, ``run`` questions and give feedback, ``review``.
    digest : bytes
        SHA-256 of the key. It has 256 random bits, so that a slow hash would protect nothing more.
    """

    name: str
    scopes: frozenset[str]
    digest: bytes = field(repr=False)


ANYONE: Final = ApiKey("", frozenset(SCOPES), b"")
"""On the loopback address of a service without keys."""


def read_keys(text: str) -> tuple[ApiKey, ...]:
    """Read entries ``NAME:SCOPE+SCOPE:SHA256``, separated by white space; ``#`` begins a comment.

    Raises
    ------
    UsageError
        An entry is not one, or a name occurs twice. The message does not repeat it: it may be a key.
    """
    lines = (line.partition("#")[0] for line in text.splitlines())
    keys = tuple(
        _key(number, entry)
        for number, entry in enumerate((word for line in lines for word in line.split()), 1)
    )
    if len({key.name for key in keys}) < len(keys):
        raise UsageError(
            "two API keys have the same name; make new ones with: dartlab-coreloop serve --new-key NAME"
        )
    return keys


def _key(number: int, entry: str) -> ApiKey:
    match = _ENTRY.fullmatch(entry)
    scopes = frozenset(match[2].split("+")) if match else frozenset[str]()
    if match is None or not scopes <= set(SCOPES):
        raise UsageError(
            f"API key {number} is not NAME:SCOPES:SHA256; make one: dartlab-coreloop serve --new-key NAME"
        )
    return ApiKey(match[1], scopes, bytes.fromhex(match[3]))


def find_key(keys: Sequence[ApiKey], secret: str) -> ApiKey | None:
    """Return the key that a caller has shown, in a time that does not depend on which."""
    digest = sha256(secret.encode("utf-8", "surrogatepass")).digest()
    matching = [key for key in keys if hmac.compare_digest(key.digest, digest)]
    return matching[0] if matching else None


def new_key(name: str, scopes: Collection[str]) -> tuple[str, str]:
    """Make a key; returns it, and its entry for `read_keys`.

    Raises
    ------
    UsageError
        The name has other characters than letters, digits, ``.``, ``_`` and ``-``.
    """
    secret = token_urlsafe(_SECRET_BYTES)
    entry = f"{name}:{'+'.join(scopes)}:{sha256(secret.encode()).hexdigest()}"
    if not _ENTRY.fullmatch(entry):
        raise UsageError("the name of a key is up to 40 letters, digits, dots, dashes and underscores")
    return secret, entry
