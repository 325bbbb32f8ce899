"""Values of arguments as the sample keeps them: 64 bits of any, and of a number its bucket."""

import unicodedata
from bisect import bisect_left
from typing import Final
from zlib import crc32

import msgspec

from coreloop.encoding import ELIDED

_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EDGES: Final = tuple(step * 10.0**power for power in range(-3, 13) for step in _STEPS)
"""Upper ends of the buckets of positive numbers, ten a decade; bucket 0 is what is not above 0.001."""


def value_hash(value: object) -> int:
    """An argument's value as 64 bits; 0 where it is `ELIDED`.

    Two checksums and no digest: it is asked for every argument of the sample, and is no secret's keeper.
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
    """The bucket of a number: fixed logarithmic ones, ten a decade, those of negative numbers below 0."""
    return bisect_left(EDGES, number) if number >= 0 else -1 - bisect_left(EDGES, -number)
