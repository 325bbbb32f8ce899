"""The case of a request: keyed hashes of the identifiers in its calls' arguments, and where their key is.

Runs in users' servers: only the standard library.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

from coreloop.observe.journal import write_new

VARIABLE: Final = "CORELOOP_CASE_KEY"
FILE_NAME: Final = "case.key"
# Of a request: enough to tell requests of one case by Jaccard 0.5, under 100 bytes.
MAX_IDENTIFIERS: Final = 8
CUSTOMERS: Final = (
    *("account", "client", "customer", "email", "guest", "member", "patient", "subscriber", "user"),
    *("고객", "사용자", "회원"),
)
"""Words in the names of arguments, in lower case, that say who the request is about."""
# Matches "W2378156" and "kim99@example.com", not "order 7". A code of fewer than 5 characters is a size or a
# version, and many customers share it.
_IDENTIFIER: Final = re.compile(r"(?=\S{5,60}\Z)\D*\d", re.ASCII)
_DATE: Final = re.compile(
    r"""
    (?:19|20)\d\d (?P<mark>[-/.]?) (?:0?[1-9]|1[0-2]) (?P=mark) (?:0?[1-9]|[12]\d|3[01])
        (?:T[\d:.,+\-Z]*)?                                       # 2026-04-25T09:30Z, 20260425
    | (?:19|20)\d\d [-/.] (?:0[1-9]|1[0-2]|[QW]\d{1,2})           # 2026-04, 2026-Q1
    | \d{1,2} (?P<other>[-/.]) \d{1,2} (?P=other) (?:\d\d|\d{4})  # 25.04.2026
    | \d{1,2} : \d\d (?::\d\d)? (?:[.,]\d+)? (?:Z|[+-]\d\d:?\d\d)?  # 09:30
    """,
    re.VERBOSE | re.ASCII,
)


def hash_identifier(text: str, key: bytes) -> str:
    """Return 8 hex digits for an identifier, with a key from `case_key`."""
    secret = sha256(key).digest()  # BLAKE2b takes keys of up to 64 bytes
    return blake2b(text.encode("utf-8", "replace"), key=secret, digest_size=4).hexdigest()


class RequestIdentifiers(dict[str, tuple[bool, int]]):
    """The identifiers of a request: whether each names its customer, and how many calls have it."""

    def note(self, texts_by_name: Mapping[str, list[str]]) -> None:
        """Note the identifiers among the `texts_in` each argument of a call."""
        of_call: dict[str, bool] = {}
        for name, texts in texts_by_name.items():
            for text in filter(is_identifier, texts):
                of_call[text] = of_call.get(text, False) or _names_customer(name)
        for text, is_customer in of_call.items():
            was_customer, n_calls = self.get(text, (False, 0))
            self[text] = was_customer or is_customer, n_calls + 1

    def case(self, key: bytes) -> list[str]:
        """At most `MAX_IDENTIFIERS` hashes, whatever the key: of customers, then of those in most calls.

        Among equals, the first in the request.
        """
        chosen = sorted(self, key=lambda text: (not self[text][0], -self[text][1]))
        return [hash_identifier(text, key) for text in chosen[:MAX_IDENTIFIERS]]


@lru_cache(maxsize=1024)
def _names_customer(argument: str) -> bool:
    return any(word in argument.lower() for word in CUSTOMERS)


def texts_in(value: Any) -> list[str]:
    """The scalar leaves of a JSON value as texts; 150, 150.0 and "150" give the same text."""
    if isinstance(value, str):
        return [composed(value.strip())]
    texts, waiting = list[str](), [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            texts.append(composed(node.strip()))
        elif isinstance(node, dict | list):
            waiting += reversed(list(node.values()) if isinstance(node, dict) else node)
        elif node is not None and not isinstance(node, bool):
            texts.append(str(int(node) if node % 1 == 0 else node))
    return texts


def composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def is_identifier(text: str) -> bool:
    """Whether a text has 5 to 60 characters with a digit, no white space, and is not a date or time."""
    return _IDENTIFIER.match(text) is not None and _DATE.fullmatch(text) is None


def case_key(audit_dir: Path) -> bytes:
    """Return the key of a project's cases: ``CORELOOP_CASE_KEY``, else that of its file, made if absent.

    Parameters
    ----------
    audit_dir : Path
        Contains ``case.key``, of mode 0600. Keys that are lost or replaced only separate older cases from
        newer ones.

    Raises
    ------
    OSError
        The file cannot be read or created.
    """
    if key := known_case_key(audit_dir):
        return key
    write_new(audit_dir / FILE_NAME, os.urandom(32).hex().encode() + b"\n")
    return known_case_key(audit_dir)


def known_case_key(audit_dir: Path) -> bytes:
    """Return the key as `case_key` does, but empty instead of made: until it is, no record has a case."""
    if variable := os.environ.get(VARIABLE, "").strip():
        return variable.encode("utf-8", "replace")
    with suppress(FileNotFoundError):
        return (audit_dir / FILE_NAME).read_bytes().strip()
    return b""
