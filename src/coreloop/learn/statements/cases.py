"""Evidence is counted in cases: the case of each request, and the two sides of a statement.

A case is the session; without one, the requests that share identifiers; without identifiers, those with the
same question; without a question, those with the same calls. Sets of calls are integers with a bit for each,
which makes counting fast.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, comb, erfc, inf, sqrt
from typing import Any, Final, Literal, NamedTuple

from coreloop.learn.proposals.entry import MIN_CASES

CaseKind = Literal["session", "case", "question", "request"]
MIN_JACCARD: Final = 0.5
"""Share of identifiers in common that joins two requests: 64–96 % of a task's runs come together (4 logs)."""


class RequestKeys(NamedTuple):
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
        return "case", joined[frozenset(keys.identifiers)]
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


# --- The two sides of a statement: calls that follow it, and those that deviate.

MIN_DIFFERENCE: Final = 0.15  # chosen: all calls pay for a line, and a smaller gap saves too few
MAX_SUCCESS: Final = 0.25
"""Only what nearly always fails is said: no line of a trial on four logs with more successes was useful."""
_SURE_STRATUM: Final = 0.05  # uncorrected: it takes away from what `MAX_Q` let through, and adds nothing
_Totals = tuple[Counter[Hashable], Counter[Hashable], Counter[float]]
_Sides = tuple[Counter[float], Counter[float], list[tuple[int, int, int, int]]]


def bits_of(places: Iterable[int], n: int) -> int:
    """The set of some of ``n`` places; filled by bytes, since setting a bit copies the whole integer."""
    octets = bytearray(n // 8 + 1)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


def iter_places(subset: int) -> Iterator[int]:
    """Iterate over the places of a set, ascending; most sets have few."""
    octets = subset.to_bytes(subset.bit_length() // 8 + 1, "little")
    for found in _FILLED.finditer(octets):
        yield from map((found.start() * 8).__add__, _BITS_OF[found[0][0]])


_FILLED: Final = re.compile(rb"[^\0]")
_BITS_OF: Final = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))


def flags_of(subset: int, n: int) -> bytes:
    """A byte for each of ``n`` places: 1 where the set has it."""
    return f"{subset:0{n}b}"[::-1].encode().translate(_FLAGS)


_FLAGS: Final = bytes.maketrans(b"01", b"\0\1")


def has_several(items: Iterable[Hashable], least: int) -> bool:
    """Whether so many of some items differ; stops where they do."""
    seen = set[Hashable]()
    return any(len(seen) >= least for _ in map(seen.add, items))


@dataclass(frozen=True, slots=True)
class NumberedCalls:
    """A tool's calls by number, as evidence sees them.

    Attributes
    ----------
    good : int
        Set of the successful calls.
    cases : sequence of int
        By call.
    strata : sequence of sequences
        Days, models and templates of the questions, each by call; empty where none was recorded.
    last : int
        Set of the calls of the last third of the days.
    known : dict
        What `totals` counted last.
    """

    n: int
    good: int
    cases: Sequence[int]
    strata: Sequence[Sequence[Hashable]] = ()
    last: int = 0
    known: dict[tuple[int, int], _Totals] = field(default_factory=dict, init=False, compare=False)

    def counts(self, subset: int, unit: Sequence[Hashable]) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The calls of each unit in a subset, and how many of them succeeded."""
        places = map(unit.__getitem__, iter_places(subset))
        return Counter(places), Counter(map(unit.__getitem__, iter_places(subset & self.good)))

    def totals(self, subset: int, unit: Sequence[Hashable]) -> _Totals:
        """`counts` and `rates_of`; kept of the last subset, since many lines are about the same calls."""
        if (subset, id(unit)) not in self.known:
            if len(self.known) > len(self.strata):
                self.known.clear()
            n, ok = self.counts(subset, unit)
            self.known[subset, id(unit)] = n, ok, Counter(rates_of(n, ok))
        return self.known[subset, id(unit)]

    def has_cases(self, *subsets: int) -> bool:
        """Whether each of some subsets has calls of `MIN_CASES` cases."""
        cases = (map(self.cases.__getitem__, iter_places(subset)) for subset in subsets)
        return all(has_several(of_subset, MIN_CASES) for of_subset in cases)

    def rate(self, subset: int) -> float:
        """Share of successful calls; 0.0 of none."""
        return (subset & self.good).bit_count() / (subset.bit_count() or 1)


def rates_of(n: Mapping[Any, int], ok: Mapping[Any, int]) -> list[float]:
    """The success rate of each unit that has calls."""
    return [ok.get(unit, 0) / count for unit, count in n.items()]


def compare(calls: NumberedCalls, follow: int, deviate: int) -> float | None:
    """Test whether calls that deviate from a line fail more, with one success rate a case and side.

    Parameters
    ----------
    calls : NumberedCalls
        All calls of a tool.
    follow, deviate : int
        Sets of calls.

    Returns
    -------
    float or None
        p, two-sided; 1.0 if the calls that deviate do not nearly always fail, the difference is below 0.15, a
        stratum explains it or the last days contradict it; None with fewer than three cases on a side, which
        is no test.
    """
    if calls.rate(deviate) > MAX_SUCCESS or calls.rate(follow) - calls.rate(deviate) < MIN_DIFFERENCE:
        return 1.0
    if not calls.has_cases(deviate, follow):
        return None
    last = follow & calls.last, deviate & calls.last
    if all(last) and calls.rate(last[0]) <= calls.rate(last[1]):
        return 1.0
    follows, deviates, _ = _by_unit(calls, follow, deviate, calls.cases)
    if _mean(follows) - _mean(deviates) < MIN_DIFFERENCE:
        return 1.0
    p_value = rank_test(follows, deviates)
    is_clear = p_value <= _SURE_STRATUM and all(
        _holds_within(calls, follow, deviate, stratum) for stratum in calls.strata
    )
    return p_value if is_clear else 1.0


def _by_unit(calls: NumberedCalls, follow: int, deviate: int, unit: Sequence[Hashable]) -> _Sides:
    """The rates of both sides, and the counts of each unit in both: of the larger, what the smaller leaves.

    Only the smaller side is gone through for each line.
    """
    n, ok, rates = calls.totals(follow | deviate, unit)
    fewer, _ = sorted((deviate, follow), key=int.bit_count)
    own_n, own_ok = calls.counts(fewer, unit)
    counts = [(ok[key] - own_ok[key], n[key] - own_n[key], own_ok[key], own_n[key]) for key in own_n]
    both = [count for count in counts if count[1]]
    own_rates = Counter(rates_of(own_n, own_ok))
    rates = rates - Counter(ok[key] / n[key] for key in own_n) + Counter(ok / n for ok, n, *_ in both)
    if fewer == deviate:
        return rates, own_rates, both
    return own_rates, rates, [(*count[2:], *count[:2]) for count in both]


def rank_test(first: Iterable[float], second: Iterable[float]) -> float:
    """Test whether the numbers of one sample are larger than those of another (Mann–Whitney).

    Parameters
    ----------
    first, second : iterable of float, or Counter
        The samples, of one number or more.

    Returns
    -------
    float
        p, two-sided, by the normal approximation with ties; not below one in the number of ways to choose the
        smaller sample from both, which the approximation ignores.

    References
    ----------
    Mann and Whitney (1947), Annals of Mathematical Statistics 18:50.
    """
    sample, other = Counter(first), Counter(second)
    n, other_n = sample.total(), other.total()
    total = n + other_n
    rank_sum, ties = _rank_sum(sample, other)
    variance = n * other_n / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    distance = abs(rank_sum - n * (n + 1) / 2 - n * other_n / 2) - 0.5
    p_value, fewer = erfc(max(0.0, distance) / sqrt(2 * variance)), min(n, other_n)
    if p_value < 2.0**-fewer:  # there are at least 2 ** fewer ways, and their number takes a while
        p_value = max(p_value, 1 / comb(total, fewer))
    return min(1.0, p_value)


def _rank_sum(first: Counter[float], second: Counter[float]) -> tuple[float, int]:
    """The sum of the first sample's mean ranks, and the sum of t³ - t over the ties."""
    rank_sum, ties, before = 0.0, 0, 0
    for value in sorted({*first, *second}):
        tied = first[value] + second[value]
        rank_sum += first[value] * (before + (tied + 1) / 2)
        ties += tied**3 - tied
        before += tied
    return rank_sum, ties


def _holds_within(calls: NumberedCalls, follow: int, deviate: int, stratum: Sequence[Hashable]) -> bool:
    """Whether a difference also holds within days (models, templates), or with each of them as one case.

    Within them where at least half of the smaller side is in strata with both sides: then Mantel and
    Haenszel's difference keeps half of its size.
    """
    follows, deviates, both = _by_unit(calls, follow, deviate, stratum)
    smaller = 3 if deviate.bit_count() <= follow.bit_count() else 1
    n_smaller = min(follow.bit_count(), deviate.bit_count())
    if 2 * sum(count[smaller] for count in both) >= n_smaller:
        weights = [n * other / (n + other) for _, n, _, other in both]
        differences = (ok / n - other_ok / other for ok, n, other_ok, other in both)
        mean = sum(map(float.__mul__, weights, differences)) / sum(weights)
        return 2 * mean >= calls.rate(follow) - calls.rate(deviate)
    n_strata = min(follows.total(), deviates.total())
    return n_strata >= MIN_CASES and rank_test(follows, deviates) <= _SURE_STRATUM


def _mean(rates: Counter[float]) -> float:
    return sum(rate * n for rate, n in rates.items()) / rates.total()


# --- Bounds of numbers.

AS_GOOD: Final = 1.25
"""A better reason may be wrong about a quarter more calls."""
_MAX_LOGGED: Final = 100_000
"""Larger numbers are written only if the source has them: they may well be of one user, such as an id."""


def upper_bounds(
    worked: Sequence[float], failed: Sequence[float], in_source: Iterable[float], usual: Iterable[float]
) -> tuple[float, Sequence[float]]:
    """Those between the largest number that worked and the smallest that failed, the least of equal ones.

    Numbers of the source are first, then those that people set, then the largest that worked. Where calls
    failed below or worked above, numbers of the source may be about a quarter more calls wrong than others.
    Before them, how many calls they part rightly.
    """

    def n_wrong(bound: float) -> float:
        n_below = bisect_right(failed, bound)
        return n_below + len(worked) - bisect_right(worked, bound) if 2 * n_below <= len(failed) else inf

    tried = sorted({*worked, *failed})
    best = min(map(n_wrong, tried))
    n_right = len(failed) - best
    if best == inf:
        return n_right, ()
    for limit, bounds in ((AS_GOOD * best + (best > 0), in_source), (best, usual)):
        fitting = sorted((bound for bound in bounds if n_wrong(bound) <= limit), reverse=True)
        if fitting:
            return n_right, [*{bisect_right(tried, bound): bound for bound in fitting}.values()]
    logged = (number for number in tried if n_wrong(number) == best and abs(number) <= _MAX_LOGGED)
    return n_right, [number for number in logged if float(f"{number:g}") == number][-1:]
