"""The keywords that a tool is used for: their requests call it much more often than other requests do."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coreloop.mine.cases import MIN_DIFFERENCE, Cases, bits_of, places_of
from coreloop.mine.sample import Sample, SampledRequest, count_providers
from coreloop.mine.statistics import fisher_exact, newcombe_interval
from coreloop.mine.window import moment
from coreloop.proposals.advice import advice, statement_key
from coreloop.proposals.candidates import SECTION
from coreloop.proposals.statements import Sides, Statement

MIN_REQUESTS: Final = 20
MIN_LIFT: Final = 1.5
_MAX_KEYWORDS: Final = 5
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Lift:
    """A keyword and a tool; requests that use the tool count as good.

    Attributes
    ----------
    having : int
        Set of the requests that have the keyword.
    p_value : float
        Fisher's, without the held-out days.
    """

    tool: str
    keyword: str
    cases: Cases
    having: int
    p_value: float

    def is_worth_saying(self) -> bool:
        """Whether requests with the keyword use the tool much more often, also on the held-out days."""
        searched, held = ~self.cases.held, self.cases.held
        return (
            self._ratio(searched) >= MIN_LIFT
            and self._difference(searched) >= MIN_DIFFERENCE - _ROUNDING
            and self._difference(held) > 0
        )

    def lift(self) -> float:
        """Ratio of the tool's rate of use with the keyword to its rate in other requests."""
        return self._ratio(self.cases.all)

    def difference(self) -> float:
        """Difference of these rates, -1 to 1."""
        return self._difference(self.cases.all)

    def _rates(self, subset: int) -> tuple[float, float]:
        uses, n = self.cases.count(self.having & subset)
        other_uses, other_n = self.cases.count(~self.having & self.cases.all & subset)
        return uses / max(1, n), other_uses / max(1, other_n)

    def _difference(self, subset: int) -> float:
        rate, other = self._rates(subset)
        return rate - other

    def _ratio(self, subset: int) -> float:
        rate, other = self._rates(subset)
        return rate / other if other else float("inf") if rate else 0.0


def find_lifts(sample: Sample) -> list[Lift]:
    """Test every keyword with every tool, in successful requests.

    Parameters
    ----------
    sample : Sample
        Requests call by call.

    Returns
    -------
    list of Lift
        Every tested pair: at least 20 requests and 5 different questions with the keyword, and as many
        without it.
    """
    requests = [request for request in sample.requests if request.succeeded]
    n = len(requests)
    held = bits_of((place for place, request in enumerate(requests) if sample.is_held(request)), n)
    questions = [request.question for request in requests]
    keywords: defaultdict[str, list[int]] = defaultdict(list)
    tools: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for keyword in request.keywords:
            if _is_plain(keyword):
                keywords[keyword].append(place)
        for tool in {call.tool for call in request.calls if call.ok}:
            tools[tool].append(place)
    lifts = []
    for tool, uses in sorted(tools.items()):
        cases = Cases(n, bits_of(uses, n), held, questions, ((1 << n) - 1,))
        for keyword, places in sorted(keywords.items()):
            lift = _test(tool, keyword, cases, bits_of(places, n))
            if lift is not None:
                lifts.append(lift)
    return lifts


@lru_cache
def _is_plain(keyword: str) -> bool:
    return advice("use_for", keywords=keyword).is_sound()


def _test(tool: str, keyword: str, cases: Cases, having: int) -> Lift | None:
    others = cases.all & ~having
    if min(having.bit_count(), others.bit_count()) < MIN_REQUESTS:
        return None
    if not (cases.has_questions(having) and cases.has_questions(others)):
        return None
    searched = ~cases.held
    p_value = fisher_exact(*cases.count(having & searched), *cases.count(others & searched))
    return Lift(tool, keyword, cases, having, p_value)


def use_for(lifts: Sequence[tuple[Lift, float]], sample: Sample) -> list[Statement]:
    """A statement for each tool, of the keywords that have their greatest lift for this tool.

    Parameters
    ----------
    lifts : sequence of (Lift, float)
        Significant lifts, with their q-values.
    sample : Sample
        The sample of the search.
    """
    best: dict[str, tuple[Lift, float]] = {}
    for pair in sorted(lifts, key=_by_lift):  # a keyword belongs to a single tool
        best.setdefault(pair[0].keyword, pair)
    by_tool: defaultdict[str, list[tuple[Lift, float]]] = defaultdict(list)
    for pair in best.values():
        by_tool[pair[0].tool].append(pair)
    return [_statement(sorted(pairs, key=_by_lift)[:_MAX_KEYWORDS], sample) for pairs in by_tool.values()]


def _by_lift(pair: tuple[Lift, float]) -> tuple[float, float, str]:
    """Sort key: greatest lift first, infinite lifts by their difference."""
    return -pair[0].lift(), -pair[0].difference(), pair[0].keyword


def _statement(lifts: Sequence[tuple[Lift, float]], sample: Sample) -> Statement:
    first, cases = lifts[0][0], lifts[0][0].cases
    having = 0
    for lift, _ in lifts:
        having |= lift.having
    others = cases.all & ~having
    line = str(advice("use_for", keywords=tuple(lift.keyword for lift, _ in lifts)))
    requests: list[SampledRequest] = [request for request in sample.requests if request.succeeded]
    using = [requests[place] for place in places_of(having & cases.good)]
    sides = _sides(cases, having, others, cases.all)
    low, high = newcombe_interval(cases.sides(having, others))
    return Statement(
        key=statement_key(first.tool, line, SECTION),
        kind="choice",
        tool=first.tool,
        line=line,
        sides=sides,
        held=_sides(cases, having, others, cases.held),
        n_questions=min(cases.n_questions(having), cases.n_questions(others)),
        difference=sides.n_ok / max(1, sides.n) - sides.other_ok / max(1, sides.other_n),
        low=low,
        high=high,
        q_value=max(q_value for _, q_value in lifts),
        first_seen=moment(using[0].ts_us),
        last_seen=moment(using[-1].ts_us),
        providers=count_providers(using),
    )


def _sides(cases: Cases, having: int, others: int, subset: int) -> Sides:
    n_ok, n = cases.count(having & subset)
    other_ok, other_n = cases.count(others & subset)
    return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)
