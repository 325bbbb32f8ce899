"""Who may call the service, and for what: API keys, signed-in readers, addresses and their connections."""

import hmac
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from secrets import token_bytes, token_urlsafe
from typing import Final, Literal, get_args

from coreloop.base.errors import UsageError
from coreloop.base.files import file_errors, locked, write_private

Scope = Literal["read", "run", "review", "record"]
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
        What it may do: ``read`` runs and sources, ``run`` questions and give feedback, ``review``, and
        ``record`` spans.
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


COOKIE: Final = "coreloop"
LASTS_S: Final = 12 * 3600  # chosen: a working day, and not the next one


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
    with file_errors("cannot be used ({strerror})", file), locked(file.parent):
        if not file.exists():
            write_private(file, token_bytes(_SECRET_BYTES))
        return file.read_bytes()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request.

    Attributes
    ----------
    address : str
        See `coreloop.web.keys.client_address`.
    bearer, reader : ApiKey or None
        The key in the header ``Authorization``, and the one that the cookie of a page names.
    """

    address: str
    bearer: ApiKey | None
    reader: ApiKey | None

    @property
    def key(self) -> ApiKey | None:
        """Either of them."""
        return self.bearer or self.reader

    @property
    def name(self) -> str:
        """Whom limits count: the name of the key, or else the address."""
        return (self.key.name if self.key else "") or self.address


BACKLOG: Final = 1_024
"""How many connections wait to be accepted."""
ACCEPTED_AT_ONCE: Final = 16
"""In one turn of the event loop, which closes what is too much some turns later."""
_MOST_CONNECTIONS: Final = 4_000
_SHARE_OF_ADDRESS: Final = 4
"""An address may have a quarter: the 1,000 open requests of a caller, or a proxy that passes them on."""
_OTHER_FILES: Final = 8 * ACCEPTED_AT_ONCE + 128
"""What is accepted before it is closed; databases, the index in each thread, calls of models."""


@cache
def max_connections() -> int:
    """Return how many connections may be open, so that the process can always open a file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_CONNECTIONS
    infinite, wanted = resource.RLIM_INFINITY, _MOST_CONNECTIONS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted if hard == infinite else min(hard, wanted)
    if soft != infinite and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, min(_MOST_CONNECTIONS, files - _OTHER_FILES))


class Connections:
    """Counts the open connections of each address; only the event loop's thread uses it."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def open(self, address: str) -> bool:
        """Count a new connection; returns whether it may stay. `close` must follow in any case."""
        self._open[address] += 1
        max_open = max_connections()
        is_one_too_many = self._open.total() > max_open or self._open[address] > max(
            1, max_open // _SHARE_OF_ADDRESS
        )
        return not is_one_too_many

    def close(self, address: str) -> None:
        """Forget a connection."""
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]  # or every address that ever called would stay in memory


def client_address(host: str) -> str:
    """Return what limits count as one address: of IPv6 the network, since a client has all of its /64."""
    try:
        parsed = ip_address(host)
    except ValueError:
        return host
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
    return host
