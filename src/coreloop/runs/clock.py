"""A run's clock, which a change of the machine's cannot move; and ids that sort by their time (ULIDs)."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # the first digit holds 3 bits


class Clock(Protocol):
    """Where the times of events come from."""

    def now(self) -> datetime:
        """Return the wall time in UTC; it may jump in both directions."""

    def monotonic(self) -> float:
        """Return seconds since some moment; they never go back. A machine that sleeps may not count them."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SteadyClock:
    """The wall time when it was made, and from then on the seconds of the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun_at = clock.now()
        self._begun_s = clock.monotonic()

    def now(self) -> datetime:
        """Return the time of an event."""
        return self._begun_at + timedelta(seconds=self._clock.monotonic() - self._begun_s)


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
