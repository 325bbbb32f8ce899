"""Sets of a tool's calls, or of requests, as integers with a bit for each, which makes counting fast."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.learn.mine.statistics import TwoSides

MIN_DIFFERENCE: Final = 0.2
"""Smallest difference between the rates of two sides that is worth a line."""
MIN_QUESTIONS: Final = 5


def bits_of(places: Iterable[int], n: int) -> int:
    """The set of some of ``n`` places; filled by bytes, since setting a bit copies the whole integer."""
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
        Set of the successful cases.
    held : int
        Set of the cases of the last days, which are held out of the search.
    questions : sequence of int
        Hashes of the questions, by place.
    strata : tuple of int
        Disjoint sets that cover all cases; comparisons are made within each.
    """

    n: int
    good: int
    held: int
    questions: Sequence[int]
    strata: tuple[int, ...]

    @property
    def all(self) -> int:
        """The set of all cases."""
        return (1 << self.n) - 1

    def count(self, subset: int) -> tuple[int, int]:
        """Successful cases of a subset, and its size."""
        return (subset & self.good).bit_count(), subset.bit_count()

    def sides(self, side: int, other: int) -> list[TwoSides]:
        """Counts of two sides in each stratum."""
        return [
            TwoSides(*self.count(side & stratum), *self.count(other & stratum)) for stratum in self.strata
        ]

    def n_questions(self, subset: int) -> int:
        """Different questions in a subset."""
        return len({self.questions[place] for place in places_of(subset)})

    def has_questions(self, subset: int, minimum: int = MIN_QUESTIONS) -> bool:
        """Whether a subset has at least ``minimum`` different questions; usually the first cases suffice."""
        questions = set[int]()
        for place in iter_places(subset):
            questions.add(self.questions[place])
            if len(questions) >= minimum:
                return True
        return len(questions) >= minimum


def places_of(subset: int) -> list[int]:
    """The places of a set, ascending."""
    return list(iter_places(subset))


def iter_places(subset: int) -> Iterator[int]:
    """Iterate over the places of a set, ascending."""
    octets = subset.to_bytes(subset.bit_length() // 8 + 1, "little")
    for base, octet in enumerate(octets):
        if octet:
            yield from (base * 8 + bit for bit in _BITS_OF[octet])


def stratify(keys: Iterable[Hashable]) -> tuple[int, ...]:
    """Group cases by key: a set for each different key; ``keys`` are in the order of the cases."""
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    n = sum(map(len, places.values()))
    return tuple(bits_of(same, n) for same in places.values())


_BITS_OF: Final = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))
