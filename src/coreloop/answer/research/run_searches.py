"""The searches of an iteration: executed at once, each as a step, and the sources that they bring."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from math import ceil
from typing import Any, Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.research.next_queries import FEW, reword
from coreloop.answer.research.origins import origin_of
from coreloop.answer.research.pages import read_pages, search_limits
from coreloop.answer.research.research_state import (
    FAILED,
    READ,
    REWORDED,
    FailedQuery,
    PlanQuery,
    ReadSource,
    Rewording,
    knowledge_of,
)
from coreloop.answer.research.tiers import AT_ONCE
from coreloop.answer.retrieve import SearchResult, find_sources
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.state import State

SEARCH: Final = "search"
"""Name of the steps."""
_LEAST_READ: Final = 5  # chosen: with fewer, one bad site is most of what was read
_KEPT: Final = 2
"""Sources that are left for other queries if an iteration that could ask them comes."""
_MOST_READ: Final = 10


def execute(run: Run, deps: Deps, queries: Sequence[PlanQuery], strategy: tuple[str, ...]) -> int:
    """Search for the queries that were not asked before, reword those that find little, and read sources.

    Returns
    -------
    int
        How many queries were executed.
    """
    fresh = list(_fresh(run, queries))[: _left(run.state)]
    if not fresh:
        return 0
    run.record(events.ActionTaken, tool=deps.provider.name, strategy=strategy)
    results = _search(run, deps, [query.query for query in fresh], strategy)
    others = list(_rewordings(run, results))
    results += _search(run, deps, others, strategy)
    chosen = _choose(run.state, results)
    _number(run, read_pages(run, deps.pages, chosen) if deps.pages else chosen)
    return len(results)


def _fresh(run: Run, queries: Sequence[PlanQuery]) -> Iterator[PlanQuery]:
    history = QueryHistory(run.state.search_history)
    for query in queries:
        is_duplicate, similar = history.is_duplicate_query(query.query)
        if is_duplicate:
            run.record(events.QueryDropped, query=query.query, similar=similar or "")
        else:
            history.add_query_to_history(query.query, run.state.iteration + 1, 1, True)
            yield query


def search_step(
    run: Run,
    deps: Deps,
    name: str,
    key: str,
    query: str,
    limits: SearchLimits,
    *,
    words: str = "",
    strategy: tuple[str, ...] = (),
) -> SearchResult:
    """Search for the sources of a query, as a step of a run: it is not done again once it is committed."""

    def call(_key: str) -> tuple[Any, Amount]:
        found = find_sources(deps, query, limits, question=run.state.question, words=words)
        return msgspec.to_builtins(msgspec.structs.replace(found, strategy=strategy)), NOTHING

    return msgspec.convert(run.step(name, f"{name}-{key}", call, at_most=NOTHING), SearchResult)


def _search(run: Run, deps: Deps, queries: Sequence[str], strategy: tuple[str, ...]) -> list[SearchResult]:
    """Execute queries at once; their events are in the order of the queries, whichever came back first."""
    limits, number, first = search_limits(run), run.state.iteration + 1, run.state.progress.queries

    def search(place: int, query: str) -> SearchResult:
        return search_step(run, deps, SEARCH, f"{number}-{first + place}", query, limits, strategy=strategy)

    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        results = list(threads.map(search, range(len(queries)), queries))
    for result in results:
        _record(run, result)
    return results


def _record(run: Run, result: SearchResult) -> None:
    run.record(
        events.Searched,
        query=result.query,
        outcome=result.outcome,
        results_count=len(result.sources),
        failures=result.failures,
    )
    if result.outcome in {"blocked", "failed"}:
        failed = FailedQuery(result.query, result.outcome, result.reason, run.state.iteration + 1)
        run.record(events.Noted, name=FAILED, data=msgspec.to_builtins(failed))


def _rewordings(run: Run, results: Sequence[SearchResult]) -> Iterator[str]:
    """Yield another form of each query that worked and found little, within the limit of queries."""
    history = QueryHistory(run.state.search_history)
    searched = {search.query for search in run.state.search_history}
    left = _left(run.state)
    for result in results:
        if left <= 0 or result.outcome not in {"found", "empty"} or len(result.sources) >= FEW:
            continue
        for text, how in reword(result.query):
            if text not in searched and not history.is_duplicate_query(text)[0]:
                searched.add(text)
                left -= 1
                said = Rewording(result.query, text, how, run.state.iteration + 1)
                run.record(events.Noted, name=REWORDED, data=msgspec.to_builtins(said))
                yield text
                break


def _choose(state: State, results: Sequence[SearchResult]) -> list[tuple[Source, str]]:
    """Return the best new sources of each query in turn, with it, as many as this iteration may read."""
    known = {_identity(read.source) for read in knowledge_of(state).sources}
    pairs = ([(source, result.query) for source in result.sources] for result in results)
    chosen: dict[str, tuple[Source, str]] = {}
    for source, query in filter(None, chain.from_iterable(zip_longest(*pairs))):
        if _identity(source) not in known:
            chosen.setdefault(_identity(source), (source, query))
    return list(chosen.values())[: sources_now(state)]


def _number(run: Run, chosen: Sequence[tuple[Source, str]]) -> None:
    """Give sources their numbers, in the order in which they were retrieved."""
    for source, query in chosen:
        earlier = knowledge_of(run.state).sources
        origin = origin_of(source, earlier)
        read = ReadSource(len(earlier) + 1, source, origin, query, run.state.iteration + 1)
        run.record(events.SourceRead, source=_identity(source))
        run.record(events.Noted, name=READ, data=msgspec.to_builtins(read))


def sources_now(state: State) -> int:
    """Return how many sources the next iteration may read, so that the later ones can read, too."""
    limit = state.limits.sources
    if limit is None:
        return _MOST_READ
    left = max(0, limit - len(state.read_sources))
    iterations = max(1, state.limits.max_iterations - state.iteration)
    now = min(left, max(_LEAST_READ, ceil(left / iterations)))
    return now if iterations == 1 else max(min(1, left), min(now, left - _KEPT))


def _identity(source: Source) -> str:
    """A page is one source; a file has several passages."""
    is_page = source.location.startswith(("http://", "https://"))
    return source.location if is_page else f"{source.location}#{source.hash[:16]}"


def _left(state: State) -> int:
    """How many more queries may be executed at once."""
    limit = state.limits.queries
    return AT_ONCE if limit is None else max(0, min(AT_ONCE, limit - state.queries))
