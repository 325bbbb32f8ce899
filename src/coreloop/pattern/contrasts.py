"""Requests with something against requests without it: what came first, what was repeated, what was chosen.

Records alone cannot tell what helps from what easy requests have in common. What an agent cannot choose, such
as the category and what the user said, is a stratum and never a side.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from coreloop.mine.cases import LEAST_DIFFERENCE, Cases, bits_of, places_of, stratify
from coreloop.mine.sample import Sample, SampledRequest, count_providers
from coreloop.mine.statistics import (
    TwoSides,
    mantel_haenszel_difference,
    mantel_haenszel_p,
    newcombe_interval,
)
from coreloop.mine.window import moment
from coreloop.proposals.advice import Advice, advice, statement_key, written_path
from coreloop.proposals.candidates import SECTION
from coreloop.proposals.statements import Sides, Statement

LEAST_REQUESTS: Final = 20
"""Of a side."""
_LEAST_NEAR: Final = LEAST_REQUESTS // 2
"""Of a side that may yet have enough."""
_QUESTION: Final = "question"
ContrastKind = Literal["order", "once", "choice"]


_REASONS: Final[Mapping[ContrastKind, int]] = {"choice": 0, "once": 1, "order": 2}
_ALIKE: Final = 0.8
_MOST_OTHER: Final = 0.5
"""Share of requests whose repeated calls all differ: with more, the repeats may be work that is needed."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sides of a tool's requests, and how sure it is that they differ.

    Attributes
    ----------
    with_it, without : int
        Sets of requests.
    p_value : float
        Mantel and Haenszel's, on the days that the search sees; 1.0 where it was not tested.
    n_missing : int
        Requests that the smaller side lacks to be tested.
    n_saved : int
        Calls that would not be made if all requests were like those with it.
    refused : str or None
        Why it is no advice, though true.
    """

    kind: ContrastKind
    tool: str
    advice: Advice
    cases: Cases
    requests: Sequence[SampledRequest]
    with_it: int
    without: int
    p_value: float
    n_missing: int = 0
    n_saved: int = 0
    refused: str | None = None

    def is_better(self) -> bool:
        """Whether the side with it has been better by 20 points: a reason to wait for more requests."""
        return mantel_haenszel_difference(self._strata(self.cases.all)) >= LEAST_DIFFERENCE

    def is_worth_saying(self) -> bool:
        """Whether the side with it is better beyond doubt, and was so on the last days, too."""
        low, _ = newcombe_interval(self._strata(~self.cases.held))
        return low > 0 and mantel_haenszel_difference(self._strata(self.cases.held)) > 0

    def _strata(self, among: int) -> list[TwoSides]:
        return self.cases.sides(self.with_it & among, self.without & among)

    def is_part_of(self, other: "Contrast") -> bool:
        """Whether nearly all requests of each side are on the same side of the other, too."""
        return all(
            len(mine & theirs) >= _ALIKE * len(mine)
            for mine, theirs in zip(self._requests(), other._requests(), strict=True)
        )

    def _requests(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        with_it, without = (
            {(self.requests[place].file, self.requests[place].offset) for place in places_of(side)}
            for side in (self.with_it, self.without)
        )
        return with_it, without

    def reason(self) -> tuple[int, float, int]:
        """Of those that are alike the least is said: a choice, then what is told of the first call."""
        with_it = [self.requests[place] for place in places_of(self.with_it)]
        names = ([call.tool for call in request.calls] for request in with_it)
        places = sum(called.index(self.tool) for called in names if self.tool in called)
        return _REASONS[self.kind], self.p_value, places

    def statement(self, sample: Sample, *, q_value: float) -> Statement:
        """What is said of it, with both sides' numbers."""
        line, cases = str(self.advice), self.cases
        difference = mantel_haenszel_difference(self._strata(cases.all))
        low, high = newcombe_interval(self._strata(cases.all))
        sides = self._sides(cases.all)
        concerned = [self.requests[place] for place in places_of(self.with_it | self.without)]
        per_1000 = 1000 / len(sample.requests)
        return Statement(
            key=statement_key(self.tool, line, SECTION),
            kind=self.kind,
            tool=self.tool,
            line=line,
            sides=sides,
            held=self._sides(cases.held),
            n_questions=min(cases.n_questions(self.with_it), cases.n_questions(self.without)),
            difference=difference,
            low=low,
            high=high,
            q_value=q_value,
            avoided=max(0.0, difference) * sides.other_n * per_1000,
            saved=self.n_saved * per_1000,
            first_seen=moment(concerned[0].ts_us),
            last_seen=moment(concerned[-1].ts_us),
            providers=count_providers(concerned),
            refused=self.refused,
        )

    def _sides(self, among: int) -> Sides:
        n_ok, n = self.cases.count(self.with_it & among)
        other_ok, other_n = self.cases.count(self.without & among)
        return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)


def find_contrasts(sample: Sample) -> list[Contrast]:
    """Compare requests in every way that has enough of them on both sides.

    Parameters
    ----------
    sample : Sample
        Requests call by call; those that count neither way are left out.

    Returns
    -------
    list of Contrast
        Everything that was tested, worth saying or not: at least 20 requests and 5 different questions on
        each side. What has the same sides is one. Also what lacks up to ten requests to be tested, and looks
        worth it.
    """
    counted = [request for request in sample.requests if request.counts]
    by_tool: defaultdict[str, list[SampledRequest]] = defaultdict(list)
    for request in counted:
        for tool in dict.fromkeys(call.tool for call in request.calls):
            by_tool[tool].append(request)
    found: list[Contrast | None] = []
    for tool, requests in sorted(by_tool.items()):
        cases = _cases(requests, sample)
        found += _orders(tool, requests, cases)
        found.append(_once(tool, requests, cases))
        found += _sources(tool, requests, cases, sample.tools)
    found += _choices(counted, sample)
    different = {
        (one.tool, one.with_it, one.without, len(one.requests)): one
        for one in reversed(found)
        if one is not None
    }
    return list(different.values())[::-1]


def without_repeats(pairs: Iterable[tuple[Contrast, float]]) -> list[tuple[Contrast, float]]:
    """One of all contrasts that say the same of the same requests, or of some of these, with its q-value."""
    kept: list[tuple[Contrast, float]] = []
    for one, q_value in sorted(pairs, key=lambda pair: pair[0].reason()):
        if not any(one.is_part_of(other) for other, _ in kept):
            kept.append((one, q_value))
    return kept


def _cases(requests: Sequence[SampledRequest], sample: Sample) -> Cases:
    n = len(requests)
    return Cases(
        n=n,
        good=bits_of((place for place, request in enumerate(requests) if request.succeeded), n),
        held=bits_of((place for place, request in enumerate(requests) if sample.is_held(request)), n),
        questions=[request.question for request in requests],
        strata=stratify((request.category, request.model) for request in requests),
    )


def _test(
    kind: ContrastKind,
    tool: str,
    said: Advice,
    requests: Sequence[SampledRequest],
    cases: Cases,
    with_it: int,
    without: int,
    *,
    n_saved: int = 0,
) -> Contrast | None:
    if not said.is_sound():  # a name of the log that is no plain word
        return None
    compared = cases.in_both(with_it, without)  # who has nobody to be compared with is evidence of nothing
    with_it, without = with_it & compared, without & compared
    n_missing = LEAST_REQUESTS - min(with_it.bit_count(), without.bit_count())
    if n_missing > 0:
        few = Contrast(kind, tool, said, cases, requests, with_it, without, 1.0, n_missing, n_saved)
        return few if n_missing <= LEAST_REQUESTS - _LEAST_NEAR and few.is_better() else None
    if not (cases.has_questions(with_it) and cases.has_questions(without)):
        return None
    p_value = mantel_haenszel_p(cases.sides(with_it & ~cases.held, without & ~cases.held))
    return Contrast(kind, tool, said, cases, requests, with_it, without, p_value, 0, n_saved)


def _orders(tool: str, requests: Sequence[SampledRequest], cases: Cases) -> Iterator[Contrast | None]:
    """Another tool's call that was ok before the first call of this one."""
    before: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for other in _before_first(tool, request):
            before[other].append(place)
    for other, places in sorted(before.items()):
        if len(places) < _LEAST_NEAR:
            continue
        with_it = bits_of(places, cases.n)
        said = advice("first", tool=other)
        yield _test("order", tool, said, requests, cases, with_it, cases.all & ~with_it)


def _before_first(tool: str, request: SampledRequest) -> set[str]:
    found: set[str] = set()
    for call in request.calls:
        if call.tool == tool:
            break
        if call.ok:
            found.add(call.tool)
    return found


def _once(tool: str, requests: Sequence[SampledRequest], cases: Cases) -> Contrast | None:
    """One call that was ok, against more; requests without any are neither."""
    n_ok = [sum(call.ok and call.tool == tool for call in request.calls) for request in requests]
    once = bits_of((place for place, n in enumerate(n_ok) if n == 1), cases.n)
    more = bits_of((place for place, n in enumerate(n_ok) if n > 1), cases.n)
    n_saved = sum(n - 1 for n in n_ok if n > 1)
    found = _test("once", tool, advice("once"), requests, cases, once, more, n_saved=n_saved)
    return replace(found, refused=_needed(found)) if found is not None else None


def _needed(found: Contrast) -> str | None:
    """Why repeats may all be needed: a customer who sends back two orders takes two calls."""
    repeated = [_given(found.requests[place], found.tool) for place in places_of(found.without)]
    n_other = sum(len(set(given)) == len(given) for given in repeated)
    if n_other <= _MOST_OTHER * len(repeated):
        return None
    share = f"{n_other} of {len(repeated)} requests"
    return f"weak: in {share} no call repeats another's arguments; all may be needed"


def _given(request: SampledRequest, tool: str) -> list[frozenset[tuple[str, int]]]:
    """Arguments and values of each call that was ok."""
    calls = (call for call in request.calls if call.ok and call.tool == tool)
    return [frozenset((name, given.value) for name, given in call.arguments.items()) for call in calls]


def _sources(
    tool: str, requests: Sequence[SampledRequest], cases: Cases, tools: frozenset[str]
) -> Iterator[Contrast | None]:
    """An argument's value from one result against one from elsewhere; what the user said is neither."""
    stood: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    compared: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for name, paths in _first_sources(tool, request).items():
            compared[name].append(place)
            for path in paths:
                stood[name, path].append(place)
    for (name, path), places in sorted(stood.items()):
        if len(places) < _LEAST_NEAR:  # most of them, where a path holds what differs from request to request
            continue
        written = written_path(path, tools)
        if written is None or written.startswith(f"{tool}()"):
            continue
        with_it, within = bits_of(places, cases.n), bits_of(compared[name], cases.n)
        said = advice("source", argument=name, paths=written)
        yield _test("order", tool, said, requests, cases, with_it, within & ~with_it)


def _first_sources(tool: str, request: SampledRequest) -> dict[str, frozenset[str]]:
    """Where the arguments of a request's first call of a tool stood, but for what only the user said."""
    first = next(call for call in request.calls if call.tool == tool)
    known = {name: argument.sources for name, argument in first.arguments.items()}
    return {
        name: frozenset(paths) - {_QUESTION}
        for name, paths in known.items()
        if paths is not None and set(paths) != {_QUESTION}
    }


def _choices(requests: Sequence[SampledRequest], sample: Sample) -> Iterator[Contrast | None]:
    """Two tools with which requests on one keyword began."""
    for keyword in sorted({keyword for request in requests for keyword in request.keywords}):
        asked = [request for request in requests if keyword in request.keywords]
        cases = _cases(asked, sample)
        used = _begun(asked)
        enough = sorted(tool for tool, places in used.items() if len(places) >= LEAST_REQUESTS)
        sets = {tool: bits_of(used[tool], cases.n) for tool in enough}
        for tool, other in combinations(enough, 2):
            one, two = sets[tool], sets[other]
            if mantel_haenszel_difference(cases.sides(one & ~cases.held, two & ~cases.held)) > 0:
                tool, other, one, two = other, tool, two, one  # noqa: PLW2901
            said = advice("use_instead", keywords=keyword, tool=other)
            yield _test("choice", tool, said, asked, cases, two, one)


def _begun(requests: Iterable[SampledRequest]) -> dict[str, list[int]]:
    """Requests by the tool that was called first."""
    begun: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for call in request.calls[:1]:
            begun[call.tool].append(place)
    return begun
