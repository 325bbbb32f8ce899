"""ULIDs: 128-bit identifiers that sort by the time of their creation."""

import re
from datetime import datetime
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # the first digit holds 3 bits


def new_ulid(now: datetime, entropy: bytes) -> str:
    """Build a ULID.

    Parameters
    ----------
    now : datetime
        With a zone; a time before 1970 counts as 1970. Its milliseconds are the first ten characters.
    entropy : bytes
        Ten random bytes: the last sixteen characters.

    Returns
    -------
    str
        26 characters of Crockford's base 32.

    References
    ----------
    The ULID specification, https://github.com/ulid/spec.
    """
    value = max(0, int(now.timestamp() * 1000)) << 80 | int.from_bytes(entropy[:10])
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -5, -5))


def is_ulid(text: str) -> bool:
    """Whether a text is a ULID, in upper case."""
    return _ULID.fullmatch(text) is not None
