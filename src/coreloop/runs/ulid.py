"""ULIDs: 128-bit identifiers that sort by the time of their creation."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # the first digit holds 3 bits


def new_ulid(now: datetime, entropy: bytes) -> str:
    """Build a ULID.

    Parameters
    ----------
    now : datetime
        With a zone; a time before 1970 counts as 1970. Its milliseconds are the first ten characters, and the
        microseconds after them the next two, so that ids of one process sort in the order of their creation.
    entropy : bytes
        Ten random bytes, of which 70 bits are used: the last fourteen characters.

    Returns
    -------
    str
        26 characters of Crockford's base 32.

    References
    ----------
    The ULID specification, https://github.com/ulid/spec. Microseconds: RFC 9562, section 6.2, method 3.
    """
    ms, us = divmod(max(0, (now - _EPOCH) // timedelta(microseconds=1)), 1000)
    value = ms << 80 | us << 70 | int.from_bytes(entropy[:10]) >> 10
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -5, -5))


def as_hexadecimal(ulid: str) -> str:
    """Return a ULID as 32 hexadecimal digits, as a trace id is written."""
    return f"{sum(_ALPHABET.index(digit) << 5 * place for place, digit in enumerate(reversed(ulid))):032x}"


def is_ulid(text: str) -> bool:
    """Whether a text is a ULID, in upper case."""
    return _ULID.fullmatch(text) is not None
