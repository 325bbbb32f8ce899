"""Argument values as the sample stores them: a 64-bit hash, and the bucket of a number."""

import unicodedata
from bisect import bisect_left
from typing import Final
from zlib import crc32

import msgspec

from coreloop.base.encoding import ELIDED

_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EDGES: Final = tuple(step * 10.0**power for power in range(-3, 13) for step in _STEPS)
"""Upper ends of the buckets of positive numbers, ten per decade; bucket 0 holds numbers up to 0.001."""


def value_hash(value: object) -> int:
    """Hash an argument's value to 64 bits; 0 if it is `ELIDED`.

    Two checksums instead of a digest: it runs for every argument of the sample and protects no secret.
    """
    if type(value) is str:
        if value == ELIDED:
            return 0
        text = value.strip() if value.isascii() else unicodedata.normalize("NFC", value).strip()
    elif value is True or value is False:
        text = "true" if value else "false"
    elif type(value) is int or type(value) is float:
        text = str(int(value) if type(value) is float and value.is_integer() else value)
    else:
        text = msgspec.json.encode(value, order="sorted").decode()
    data = text.encode("utf-8", "replace")
    return crc32(data) << 32 | crc32(data[::-1])


def bucket_of(number: float) -> int:
    """The logarithmic bucket of a number, see `EDGES`; negative for negative numbers."""
    return bisect_left(EDGES, number) if number >= 0 else -1 - bisect_left(EDGES, -number)
