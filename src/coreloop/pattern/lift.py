"""Which keywords a tool is used for: those whose requests call it much more often than others do."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coreloop.mine.cases import LEAST_DIFFERENCE, Cases, bits_of, places_of
from coreloop.mine.sample import Sample, SampledRequest, count_providers
from coreloop.mine.statistics import fisher_exact, newcombe_interval
from coreloop.mine.window import moment
from coreloop.proposals.advice import advice, statement_key
from coreloop.proposals.candidates import SECTION
from coreloop.proposals.statements import Sides, Statement

LEAST_REQUESTS: Final = 20
LEAST_LIFT: Final = 1.5
_MOST_KEYWORDS: Final = 5
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Lift:
    """A keyword against a tool: requests that use the tool are the good ones.

    Attributes
    ----------
    having : int
        Set of the requests that have the keyword.
    p_value : float
        Fisher's, on the days that the search sees.
    """

    tool: str
    keyword: str
    cases: Cases
    having: int
    p_value: float

    def is_worth_saying(self) -> bool:
        """Whether requests with the keyword use the tool much more often, on the last days, too."""
        seen, held = ~self.cases.held, self.cases.held
        return (
            self._ratio(seen) >= LEAST_LIFT
            and self._more(seen) >= LEAST_DIFFERENCE - _ROUNDING
            and self._more(held) > 0
        )

    def lift(self) -> float:
        """How many times as often as in the other requests."""
        return self._ratio(self.cases.all)

    def more(self) -> float:
        """By how much more often than in the other requests, -1 to 1."""
        return self._more(self.cases.all)

    def _rates(self, among: int) -> tuple[float, float]:
        uses, n = self.cases.count(self.having & among)
        other_uses, other_n = self.cases.count(~self.having & self.cases.all & among)
        return uses / max(1, n), other_uses / max(1, other_n)

    def _more(self, among: int) -> float:
        rate, other = self._rates(among)
        return rate - other

    def _ratio(self, among: int) -> float:
        rate, other = self._rates(among)
        return rate / other if other else float("inf") if rate else 0.0


def find_lifts(sample: Sample) -> list[Lift]:
    """Hold every keyword against every tool, in the requests that succeeded.

    Parameters
    ----------
    sample : Sample
        Requests call by call.

    Returns
    -------
    list of Lift
        Everything that was tested: at least 20 requests and 5 different questions with the keyword and as
        many without it.
    """
    requests = [request for request in sample.requests if request.succeeded]
    n = len(requests)
    held = bits_of((place for place, request in enumerate(requests) if sample.is_held(request)), n)
    questions = [request.question for request in requests]
    keywords: defaultdict[str, list[int]] = defaultdict(list)
    tools: defaultdict[str, list[int]] = defaultdict(list)
    for place, request in enumerate(requests):
        for keyword in request.keywords:
            if _is_sayable(keyword):
                keywords[keyword].append(place)
        for tool in {call.tool for call in request.calls if call.ok}:
            tools[tool].append(place)
    found = []
    for tool, uses in sorted(tools.items()):
        cases = Cases(n, bits_of(uses, n), held, questions, ((1 << n) - 1,))
        for keyword, places in sorted(keywords.items()):
            lift = _test(tool, keyword, cases, bits_of(places, n))
            if lift is not None:
                found.append(lift)
    return found


@lru_cache
def _is_sayable(keyword: str) -> bool:
    return advice("use_for", keywords=keyword).is_sound()


def _test(tool: str, keyword: str, cases: Cases, having: int) -> Lift | None:
    others = cases.all & ~having
    if min(having.bit_count(), others.bit_count()) < LEAST_REQUESTS:
        return None
    if not (cases.has_questions(having) and cases.has_questions(others)):
        return None
    seen = ~cases.held
    p_value = fisher_exact(*cases.count(having & seen), *cases.count(others & seen))
    return Lift(tool, keyword, cases, having, p_value)


def use_for(lifts: Sequence[tuple[Lift, float]], sample: Sample) -> list[Statement]:
    """One statement a tool, of the keywords that have no greater lift for another tool.

    Parameters
    ----------
    lifts : sequence of (Lift, float)
        Those that are sure, with their q-values.
    sample : Sample
        In which they were found.
    """
    best: dict[str, tuple[Lift, float]] = {}
    for pair in sorted(lifts, key=_by_lift):  # of the tools that a keyword goes with, one is what it is for
        best.setdefault(pair[0].keyword, pair)
    by_tool: defaultdict[str, list[tuple[Lift, float]]] = defaultdict(list)
    for pair in best.values():
        by_tool[pair[0].tool].append(pair)
    return [_statement(sorted(some, key=_by_lift)[:_MOST_KEYWORDS], sample) for some in by_tool.values()]


def _by_lift(pair: tuple[Lift, float]) -> tuple[float, float, str]:
    """The greatest lift first; where no other request uses the tool, by how much more often it is used."""
    return -pair[0].lift(), -pair[0].more(), pair[0].keyword


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


def _sides(cases: Cases, having: int, others: int, among: int) -> Sides:
    n_ok, n = cases.count(having & among)
    other_ok, other_n = cases.count(others & among)
    return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)
