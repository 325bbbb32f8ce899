"""Contrasts: requests with a property against requests without it (order of calls, repeats, choice of tool).

Records alone cannot tell causes from properties of easy requests. So properties that an agent cannot choose,
such as the category and the user's words, are strata and never sides.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from coreloop.mine.cases import MIN_DIFFERENCE, Cases, bits_of, places_of, stratify
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

MIN_REQUESTS: Final = 20
"""Requests that each side needs."""
_MIN_NEAR: Final = MIN_REQUESTS // 2
"""Requests that each side needs to be shown as a near miss."""
_QUESTION: Final = "question"
ContrastKind = Literal["order", "once", "choice"]
_REASONS: Final[Mapping[ContrastKind, int]] = {"choice": 0, "once": 1, "order": 2}
_ALIKE: Final = 0.8
_MAX_OTHER: Final = 0.5
"""Share of requests whose repeated calls all differ; above it, the repeats may be necessary."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sides of a tool's requests, and the test of their difference.

    Attributes
    ----------
    having, without : int
        Sets of requests: with the property, and without it.
    p_value : float
        Mantel and Haenszel's, without the held-out days; 1.0 if not tested.
    n_missing : int
        Requests that the smaller side lacks for a test.
    n_saved : int
        Calls that would be saved if all requests had the property.
    refused : str or None
        Why the advice is not given although it is true.
    """

    kind: ContrastKind
    tool: str
    advice: Advice
    cases: Cases
    requests: Sequence[SampledRequest]
    having: int
    without: int
    p_value: float
    n_missing: int = 0
    n_saved: int = 0
    refused: str | None = None

    def is_better(self) -> bool:
        """Whether the side with the property is better by 20 points: a reason to wait for more requests."""
        return mantel_haenszel_difference(self._strata(self.cases.all)) >= MIN_DIFFERENCE

    def is_worth_saying(self) -> bool:
        """Whether the side with the property is significantly better, and better on the held-out days."""
        low, _ = newcombe_interval(self._strata(~self.cases.held))
        return low > 0 and mantel_haenszel_difference(self._strata(self.cases.held)) > 0

    def _strata(self, subset: int) -> list[TwoSides]:
        return self.cases.sides(self.having & subset, self.without & subset)

    def is_part_of(self, other: "Contrast") -> bool:
        """Whether nearly all requests of each side are on the same side of the other contrast."""
        return all(
            len(mine & theirs) >= _ALIKE * len(mine)
            for mine, theirs in zip(self._requests(), other._requests(), strict=True)
        )

    def _requests(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        having, without = (
            {(self.requests[place].file, self.requests[place].offset) for place in places_of(side)}
            for side in (self.having, self.without)
        )
        return having, without

    def reason(self) -> tuple[int, float, int]:
        """Sort key among similar contrasts: choices first, then properties of earlier calls."""
        having = [self.requests[place] for place in places_of(self.having)]
        tools = ([call.tool for call in request.calls] for request in having)
        indexes = sum(called.index(self.tool) for called in tools if self.tool in called)
        return _REASONS[self.kind], self.p_value, indexes

    def statement(self, sample: Sample, *, q_value: float) -> Statement:
        """The statement, with the counts of both sides."""
        line, cases = str(self.advice), self.cases
        difference = mantel_haenszel_difference(self._strata(cases.all))
        low, high = newcombe_interval(self._strata(cases.all))
        sides = self._sides(cases.all)
        compared = [self.requests[place] for place in places_of(self.having | self.without)]
        per_1000 = 1000 / len(sample.requests)
        return Statement(
            key=statement_key(self.tool, line, SECTION),
            kind=self.kind,
            tool=self.tool,
            line=line,
            sides=sides,
            held=self._sides(cases.held),
            n_questions=min(cases.n_questions(self.having), cases.n_questions(self.without)),
            difference=difference,
            low=low,
            high=high,
            q_value=q_value,
            avoided=max(0.0, difference) * sides.other_n * per_1000,
            saved=self.n_saved * per_1000,
            first_seen=moment(compared[0].ts_us),
            last_seen=moment(compared[-1].ts_us),
            providers=count_providers(compared),
            refused=self.refused,
        )

    def _sides(self, subset: int) -> Sides:
        n_ok, n = self.cases.count(self.having & subset)
        other_ok, other_n = self.cases.count(self.without & subset)
        return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)


def find_contrasts(sample: Sample) -> list[Contrast]:
    """Compare requests by every property with enough requests on both sides.

    Parameters
    ----------
    sample : Sample
        Requests call by call; neutral requests are left out.

    Returns
    -------
    list of Contrast
        Every tested contrast, significant or not: at least 20 requests and 5 different questions on each
        side, without duplicates of the same sides. Also promising contrasts that lack up to ten requests.
    """
    counted = [request for request in sample.requests if request.counts]
    by_tool: defaultdict[str, list[SampledRequest]] = defaultdict(list)
    for request in counted:
        for tool in dict.fromkeys(call.tool for call in request.calls):
            by_tool[tool].append(request)
    contrasts: list[Contrast | None] = []
    for tool, requests in sorted(by_tool.items()):
        cases = _cases(requests, sample)
        contrasts += _orders(tool, requests, cases)
        contrasts.append(_once(tool, requests, cases))
        contrasts += _sources(tool, requests, cases, sample.tools)
    contrasts += _choices(counted, sample)
    different = {
        (contrast.tool, contrast.having, contrast.without, len(contrast.requests)): contrast
        for contrast in reversed(contrasts)
        if contrast is not None
    }
    return list(different.values())[::-1]


def without_repeats(pairs: Iterable[tuple[Contrast, float]]) -> list[tuple[Contrast, float]]:
    """Remove contrasts whose requests are nearly all part of a better contrast; each has its q-value."""
    different: list[tuple[Contrast, float]] = []
    for contrast, q_value in sorted(pairs, key=lambda pair: pair[0].reason()):
        if not any(contrast.is_part_of(other) for other, _ in different):
            different.append((contrast, q_value))
    return different


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
    suggestion: Advice,
    requests: Sequence[SampledRequest],
    cases: Cases,
    having: int,
    without: int,
    *,
    n_saved: int = 0,
) -> Contrast | None:
    if not suggestion.is_sound():  # a name in the log is not a plain word
        return None
    compared = cases.comparable(having, without)  # strata with a single side are no evidence
    having, without = having & compared, without & compared
    n_missing = MIN_REQUESTS - min(having.bit_count(), without.bit_count())
    if n_missing > 0:
        miss = Contrast(kind, tool, suggestion, cases, requests, having, without, 1.0, n_missing, n_saved)
        return miss if n_missing <= MIN_REQUESTS - _MIN_NEAR and miss.is_better() else None
    if not (cases.has_questions(having) and cases.has_questions(without)):
        return None
    p_value = mantel_haenszel_p(cases.sides(having & ~cases.held, without & ~cases.held))
    return Contrast(kind, tool, suggestion, cases, requests, having, without, p_value, 0, n_saved)


def _orders(tool: str, requests: Sequence[SampledRequest], cases: Cases) -> Iterator[Contrast | None]:
    """Requests with a successful call of another tool before the first call of this tool."""
    before: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for other in _before_first(tool, request):
            before[other].append(place)
    for other, places in sorted(before.items()):
        if len(places) < _MIN_NEAR:
            continue
        having = bits_of(places, cases.n)
        suggestion = advice("first", tool=other)
        yield _test("order", tool, suggestion, requests, cases, having, cases.all & ~having)


def _before_first(tool: str, request: SampledRequest) -> set[str]:
    before: set[str] = set()
    for call in request.calls:
        if call.tool == tool:
            break
        if call.ok:
            before.add(call.tool)
    return before


def _once(tool: str, requests: Sequence[SampledRequest], cases: Cases) -> Contrast | None:
    """Requests with a single successful call against requests with more; others are on neither side."""
    n_ok = [sum(call.ok and call.tool == tool for call in request.calls) for request in requests]
    once = bits_of((place for place, n in enumerate(n_ok) if n == 1), cases.n)
    more = bits_of((place for place, n in enumerate(n_ok) if n > 1), cases.n)
    n_saved = sum(n - 1 for n in n_ok if n > 1)
    contrast = _test("once", tool, advice("once"), requests, cases, once, more, n_saved=n_saved)
    return replace(contrast, refused=_needed(contrast)) if contrast is not None else None


def _needed(contrast: Contrast) -> str | None:
    """Why all repeats may be necessary: a customer who returns two orders takes two calls."""
    repeated = [_arguments(contrast.requests[place], contrast.tool) for place in places_of(contrast.without)]
    n_other = sum(len(set(calls)) == len(calls) for calls in repeated)
    if n_other <= _MAX_OTHER * len(repeated):
        return None
    share = f"{n_other} of {len(repeated)} requests"
    return f"weak: in {share} no call repeats another's arguments; all may be needed"


def _arguments(request: SampledRequest, tool: str) -> list[frozenset[tuple[str, int]]]:
    """Arguments and values of each successful call."""
    calls = (call for call in request.calls if call.ok and call.tool == tool)
    return [frozenset((name, argument.value) for name, argument in call.arguments.items()) for call in calls]


def _sources(
    tool: str, requests: Sequence[SampledRequest], cases: Cases, tools: frozenset[str]
) -> Iterator[Contrast | None]:
    """Requests whose argument came from a certain field, or from elsewhere except the user's question."""
    by_source: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    compared: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for name, paths in _first_sources(tool, request).items():
            compared[name].append(place)
            for path in paths:
                by_source[name, path].append(place)
    for (name, path), places in sorted(by_source.items()):
        if len(places) < _MIN_NEAR:  # true of most paths that hold values of a single request
            continue
        written = written_path(path, tools)
        if written is None or written.startswith(f"{tool}()"):
            continue
        having, within = bits_of(places, cases.n), bits_of(compared[name], cases.n)
        suggestion = advice("source", argument=name, paths=written)
        yield _test("order", tool, suggestion, requests, cases, having, within & ~having)


def _first_sources(tool: str, request: SampledRequest) -> dict[str, frozenset[str]]:
    """Sources of the arguments of a request's first call of a tool, without values only the user gave."""
    first = next(call for call in request.calls if call.tool == tool)
    known = {name: argument.sources for name, argument in first.arguments.items()}
    return {
        name: frozenset(paths) - {_QUESTION}
        for name, paths in known.items()
        if paths is not None and set(paths) != {_QUESTION}
    }


def _choices(requests: Sequence[SampledRequest], sample: Sample) -> Iterator[Contrast | None]:
    """For each keyword, pairs of tools that its requests called first."""
    for keyword in sorted({keyword for request in requests for keyword in request.keywords}):
        asked = [request for request in requests if keyword in request.keywords]
        cases = _cases(asked, sample)
        by_first_tool = _by_first_tool(asked)
        frequent = sorted(tool for tool, places in by_first_tool.items() if len(places) >= MIN_REQUESTS)
        sets = {tool: bits_of(by_first_tool[tool], cases.n) for tool in frequent}
        for worse, better in combinations(frequent, 2):
            sides = cases.sides(sets[worse] & ~cases.held, sets[better] & ~cases.held)
            if mantel_haenszel_difference(sides) > 0:
                worse, better = better, worse  # noqa: PLW2901
            suggestion = advice("use_instead", keywords=keyword, tool=better)
            yield _test("choice", worse, suggestion, asked, cases, sets[better], sets[worse])


def _by_first_tool(requests: Iterable[SampledRequest]) -> dict[str, list[int]]:
    """Places of requests by the tool that was called first."""
    by_tool: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for call in request.calls[:1]:
            by_tool[call.tool].append(place)
    return by_tool
