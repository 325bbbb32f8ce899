"""What was found of each tool -> statements: clauses about an argument joined, three lines a tool, ranked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Final

from coreloop.learn.line import Language, in_language, joined, statement_key
from coreloop.learn.mine.statistics import TwoSides, newcombe_interval, success_bound
from coreloop.learn.mine.window import moment
from coreloop.learn.proposals.entry import CAVEATS, MAX_Q, NearStatement, Sides, Statement, not_sure, too_few
from coreloop.learn.statements.compare_sides import NumberedCalls, iter_places
from coreloop.learn.statements.logged_calls import CaseLog, LoggedRequest
from coreloop.learn.statements.search import LineHypothesis, ToolSearch

_MAX_NEAREST: Final = 3
Places = tuple[tuple[int, int], ...]
"""File and offset of the requests whose calls deviate from a statement and failed."""
MAX_LINES: Final = 3
"""Lines of a tool: more were never all true on four logs, and a model reads them at every call."""


def to_statements(
    searches: Sequence[ToolSearch], log: CaseLog, *, language: Language = "en"
) -> list[tuple[Statement, Places]]:
    """Make the statements of all tools, by calls wasted per 1,000 requests."""
    found = [_found(search, group, log, language) for search in searches for group in _grouped(search.said)]
    found.sort(key=lambda one: (-one[0].wasted, one[0].key))
    n_lines = Counter[str]()
    best = []
    for statement, places in found:
        n_lines[statement.tool] += 1
        if n_lines[statement.tool] <= MAX_LINES:
            best.append((statement, places))
    return best


def nearest_statements(searches: Sequence[ToolSearch], log: CaseLog) -> tuple[NearStatement, ...]:
    """The lines that came closest, each with what is missing."""
    unsure = [
        NearStatement(search.tool, str(found.line), not_sure(found.q_value))
        for search in searches
        for found in search.tested
        if found.p_value <= MAX_Q < found.q_value
    ]
    few = [
        NearStatement(search.tool, str(found.line), too_few(n_cases, log.case_kind))
        for search in searches
        for found, n_cases in search.few
    ]
    return (*unsure[:_MAX_NEAREST], *few[:_MAX_NEAREST])


def _grouped(said: Sequence[LineHypothesis]) -> Iterator[list[LineHypothesis]]:
    """Lines about the same argument together, in their order."""
    groups: dict[object, list[LineHypothesis]] = {}
    for number, hypothesis in enumerate(said):
        groups.setdefault(hypothesis.line.argument() or number, []).append(hypothesis)
    yield from groups.values()


def _found(
    search: ToolSearch, group: Sequence[LineHypothesis], log: CaseLog, language: Language
) -> tuple[Statement, Places]:
    calls = search.calls
    deviate = reduce(or_, (part.deviate for part in group))
    follow = reduce(or_, (part.follow for part in group)) & ~deviate
    line = str(in_language(joined(part.line for part in group), language))
    rates = calls.rates(follow, calls.cases), calls.rates(deviate, calls.cases)
    low, high = newcombe_interval(TwoSides(sum(rates[0]), len(rates[0]), sum(rates[1]), len(rates[1])))
    failed = [search.places[place].request for place in iter_places(deviate & ~calls.good)]
    share = success_bound(deviate.bit_count(), calls.n) * calls.n / len(log.requests)
    seen = [search.places[place].request.ts_us for place in iter_places(follow | deviate)]
    statement = Statement(
        key=statement_key(search.tool, line, CAVEATS),
        kind=group[0].kind,
        tool=search.tool,
        line=line,
        sides=_sides(calls, follow, deviate),
        held=_sides(calls, follow & calls.last, deviate & calls.last),
        case=log.case_kind,
        n_questions=min(len(_questions(search, side)) for side in (follow, deviate)),
        difference=sum(rates[0]) / len(rates[0]) - sum(rates[1]) / len(rates[1]),
        low=low,
        high=high,
        q_value=max(part.q_value for part in group),
        wasted=1000 * max(0.0, low) * share,
        lost=_lost(failed, log),
        first_seen=moment(min(seen)),
        last_seen=moment(max(seen)),
        providers=_providers(failed),
    )
    places = dict.fromkeys((request.file, request.offset) for request in failed)
    return statement, tuple(places)


def _sides(calls: NumberedCalls, follow: int, deviate: int) -> Sides:
    return Sides(
        n_ok=(follow & calls.good).bit_count(),
        n=follow.bit_count(),
        other_ok=(deviate & calls.good).bit_count(),
        other_n=deviate.bit_count(),
        cases=len({calls.cases[place] for place in iter_places(follow)}),
        other_cases=len({calls.cases[place] for place in iter_places(deviate)}),
    )


def _questions(search: ToolSearch, side: int) -> set[int]:
    return {search.places[place].request.question for place in iter_places(side)}


def _lost(failed: Sequence[LoggedRequest], log: CaseLog) -> tuple[float, float]:
    """Requests per 1,000 that such calls may have cost: beyond the usual share, and at most."""
    concerned = {(request.file, request.offset): request for request in failed}
    n_lost = sum(request.lost for request in concerned.values())
    usual = sum(request.lost for request in log.requests) / len(log.requests)
    low = max(0.0, n_lost - usual * len(concerned))
    return 1000 * low / len(log.requests), 1000 * n_lost / len(log.requests)


def _providers(requests: Sequence[LoggedRequest]) -> dict[str, int]:
    """Requests by provider, most frequent first; those without are left out."""
    counts = Counter(request.provider for request in requests if request.provider)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
