"""Sets of calls as integers with a bit for each, which makes counting fast."""

from collections.abc import Iterable, Iterator
from typing import Final


def bits_of(places: Iterable[int], n: int) -> int:
    """The set of some of ``n`` places; filled by bytes, since setting a bit copies the whole integer."""
    octets = bytearray(n // 8 + 1)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


def iter_places(subset: int) -> Iterator[int]:
    """Iterate over the places of a set, ascending."""
    octets = subset.to_bytes(subset.bit_length() // 8 + 1, "little")
    for base, octet in enumerate(octets):
        if octet:
            yield from (base * 8 + bit for bit in _BITS_OF[octet])


_BITS_OF: Final = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))
