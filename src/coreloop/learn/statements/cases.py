"""The case of each request: what is counted once, however often it was recorded.

A case is the session; without one, the requests that share identifiers; without identifiers, those with the
same question; without a question, those with the same calls.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

CaseKind = Literal["session", "customer", "question", "request"]
MIN_JACCARD: Final = 0.5
"""Share of identifiers in common that joins two requests: 64–96 % of a task's runs come together (4 logs)."""


@dataclass(frozen=True, slots=True)
class RequestKeys:
    """What may join a request with others: 0 or nothing stands for what was not recorded."""

    session: int = 0
    identifiers: Collection[int] = ()
    question: int = 0
    calls: Hashable = 0


def case_numbers(requests: Sequence[RequestKeys]) -> tuple[list[int], CaseKind]:
    """Number the case of each request of a window, and say what most cases are.

    Parameters
    ----------
    requests : sequence of RequestKeys
        Of the whole window, since a case may span files.

    Returns
    -------
    list of int, CaseKind
        By request; and what decided most of them.
    """
    of_identifiers = _joined({frozenset(keys.identifiers) for keys in requests if not keys.session})
    cases: dict[tuple[CaseKind, Hashable], int] = {}
    numbers = [cases.setdefault(_case_of(keys, of_identifiers), len(cases)) for keys in requests]
    kinds = Counter(kind for kind, _ in cases)
    return numbers, kinds.most_common(1)[0][0] if kinds else "request"


def owners(requests: Sequence[RequestKeys]) -> list[int]:
    """The identifier of each request that most requests have: usually its customer's; 0 without identifiers.

    Among equals the first, since those that name a customer come first in a record.
    A customer with many orders has many cases, since each order is an identifier, too. Of 20 logs with such a
    customer whose calls all fail, 8 said something false until customers were strata.
    """
    counts = Counter(number for keys in requests for number in set(keys.identifiers))
    return [max(keys.identifiers, key=lambda number: counts[number], default=0) for keys in requests]


def _case_of(keys: RequestKeys, joined: Mapping[frozenset[int], int]) -> tuple[CaseKind, Hashable]:
    if keys.session:
        return "session", keys.session
    if keys.identifiers:
        return "customer", joined[frozenset(keys.identifiers)]
    return ("question", keys.question) if keys.question else ("request", keys.calls)


def _joined(sets: Iterable[frozenset[int]]) -> dict[frozenset[int], int]:
    """The group of each set, by its number: sets that share half of their union are in one group.

    Two such sets share one of the first hashes of each, the rarest first (prefix filter), so that few pairs
    are compared.
    """
    distinct = sorted(filter(None, sets), key=sorted)
    counts = Counter(number for numbers in distinct for number in numbers)
    groups = list(range(len(distinct)))
    having: defaultdict[int, list[int]] = defaultdict(list)
    for place, numbers in enumerate(distinct):
        rarest = sorted(numbers, key=lambda number: (counts[number], number))
        for number in rarest[: len(numbers) - ceil(MIN_JACCARD * len(numbers)) + 1]:
            for other in having[number]:
                root, other_root = _root(groups, place), _root(groups, other)
                if root != other_root and _are_alike(numbers, distinct[other]):
                    groups[root] = other_root
            having[number].append(place)
    return {numbers: _root(groups, place) for place, numbers in enumerate(distinct)}


def _are_alike(numbers: frozenset[int], others: frozenset[int]) -> bool:
    n_shared = len(numbers & others)
    return n_shared >= MIN_JACCARD * (len(numbers) + len(others) - n_shared)


def _root(groups: list[int], place: int) -> int:
    while groups[place] != place:
        groups[place] = groups[groups[place]]
        place = groups[place]
    return place
