"""Calls of one tool, or requests, as bits, so that a set of them is a whole number and counting is fast."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from coreloop.mine.statistics import TwoSides

LEAST_DIFFERENCE: Final = 0.2
"""Of two sides' rates: less is not worth a line."""
LEAST_QUESTIONS: Final = 5


def bits_of(places: Iterable[int], n: int) -> int:
    """The set of some of ``n`` places; by bytes, since a bit at a time would copy the whole number each."""
    octets = bytearray(n // 8 + 1)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


@dataclass(frozen=True, slots=True)
class Cases:
    """Calls or requests that are compared with each other.

    Attributes
    ----------
    n : int
        How many; their places are the bits from 0.
    good : int
        Set of those that succeeded.
    held : int
        Set of those of the last days, which a search does not see.
    questions : sequence of int
        What was asked, by place.
    strata : tuple of int
        Sets that are compared within themselves alone; together, all.
    """

    n: int
    good: int
    held: int
    questions: Sequence[int]
    strata: tuple[int, ...]

    @property
    def all(self) -> int:
        """The set of all."""
        return (1 << self.n) - 1

    def count(self, some: int) -> tuple[int, int]:
        """How many of some succeeded, and how many they are."""
        return (some & self.good).bit_count(), some.bit_count()

    def sides(self, some: int, others: int) -> list[TwoSides]:
        """Both sides in each stratum."""
        return [
            TwoSides(*self.count(some & stratum), *self.count(others & stratum)) for stratum in self.strata
        ]

    def in_both(self, some: int, others: int) -> int:
        """The cases of the strata that have some of both."""
        return reduce(or_, (stratum for stratum in self.strata if some & stratum and others & stratum), 0)

    def n_questions(self, some: int) -> int:
        """Different questions among some."""
        return len({self.questions[place] for place in places_of(some)})

    def has_questions(self, some: int, least: int = LEAST_QUESTIONS) -> bool:
        """Whether there are so many different questions among some; most often the first few tell."""
        found = set[int]()
        for place in iter_places(some):
            found.add(self.questions[place])
            if len(found) >= least:
                return True
        return len(found) >= least


def places_of(some: int) -> list[int]:
    """The places of a set, ascending."""
    return list(iter_places(some))


def iter_places(some: int) -> Iterator[int]:
    """The places of a set, ascending, one after the other."""
    octets = some.to_bytes(some.bit_length() // 8 + 1, "little")
    for base, octet in enumerate(octets):
        if octet:
            yield from (base * 8 + bit for bit in _BITS_OF[octet])


def stratify(keys: Iterable[Hashable]) -> tuple[int, ...]:
    """The sets of cases that have the same key, by the keys of all cases in their order."""
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    n = sum(map(len, places.values()))
    return tuple(bits_of(same, n) for same in places.values())


_BITS_OF: Final = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))
