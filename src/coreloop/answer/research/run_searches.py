"""The searches of an iteration: executed at once, each as a step, and the sources that they bring."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.research import research_state as names
from coreloop.answer.research.asking import time_left
from coreloop.answer.research.next_queries import FEW, queries_left, reword
from coreloop.answer.search.extract.text import plain_document, split_passages
from coreloop.answer.search.index.run import is_excluded
from coreloop.answer.search.index.search_index import entry_named, find_declared, is_named
from coreloop.answer.search.provider import Blocked, Empty, Found, SearchAnswer, SearchLimits, Source
from coreloop.answer.text.terms import term_set
from coreloop.base.validation import fields_of
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Outcome
from coreloop.runs.state import State

if TYPE_CHECKING:
    from coreloop.answer.search.page import PageReader

_TEXTS, _DECLARED = 8, 4  # chosen: texts answer most questions, names and fields fewer
Origin = Literal["injected", "symbol", "text", "schema"]


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """A step's result: what was asked, and what came back.

    Attributes
    ----------
    query, provider : str
        What was asked, and who; of a page its address, and ``page``.
    outcome : str
        ``found``, ``empty``, ``blocked`` or ``failed``: of the search for texts.
    sources : tuple of Source
        Best first.
    origins : tuple of str
        Where each comes from.
    reason : str
        Why the search was blocked or failed.
    failures : tuple of str
        Why each attempt failed that did.
    """

    query: str = ""
    provider: str = ""
    outcome: Outcome = "found"
    sources: tuple[Source, ...] = ()
    origins: tuple[Origin, ...] = ()
    reason: str = ""
    failures: tuple[str, ...] = ()

    def of(self, *origins: Origin) -> Iterator[Source]:
        """Yield the sources of some origins."""
        pairs = zip(self.sources, self.origins, strict=True)
        return (source for source, origin in pairs if origin in origins)


def find_sources(
    deps: Deps, query: str, limits: SearchLimits, *, question: str = "", words: str = ""
) -> SearchResult:
    """Search everywhere; the same passage counts once.

    Parameters
    ----------
    deps : Deps
        Whose index, search and tables are read.
    query : str
        What to search for.
    limits : SearchLimits
        Time and results.
    question : str
        What is asked in the end: evidence is injected for it. "" if the query is the question.
    words : str
        What texts are searched for; "" for the query as it is.
    """
    index = deps.workspace.index_file
    is_local = deps.searches_index and index.exists()
    answer = deps.provider.search(words or query, limits)
    called = find_declared(index, query, _DECLARED) if is_local else []
    fields = find_declared(index, query, _DECLARED, is_schema=True) if is_local else []
    evidence = deps.tables.evidence_for(question or query, deps.workspace.root)
    injected = [source for source in evidence if not is_excluded(deps.workspace, source.location)]
    passages = answer.sources if isinstance(answer, Found) else ()
    named = [symbol for symbol in called if is_named(symbol, query)]
    found: list[tuple[Origin, Source]] = [
        *(("symbol", source) for source in named),
        *(("injected", source) for source in injected),
        *(("text", source) for source in passages[:_TEXTS]),
        *(("symbol", source) for source in called),
        *(("schema", source) for source in [*fields, *_linked(deps, called)]),
    ]
    unique: dict[tuple[str, str], tuple[Origin, Source]] = {}
    for origin, source in found:
        unique.setdefault((source.location, source.text), (origin, source))
    best = unique.values()
    outcome = outcome_of(answer)
    return SearchResult(
        query=query,
        provider=passages[0].provider if passages else deps.provider.name,
        outcome=outcome if outcome in {"blocked", "failed"} else "found" if best else "empty",
        sources=tuple(source for _, source in best),
        origins=tuple(origin for origin, _ in best),
        reason=getattr(answer, "reason", ""),
        failures=answer.failures,
    )


def outcome_of(answer: SearchAnswer) -> Outcome:
    """Return how a search ended, as runs record it."""
    kinds: dict[type, Outcome] = {Found: "found", Empty: "empty", Blocked: "blocked"}
    return kinds.get(type(answer), "failed")


def _linked(deps: Deps, symbols: Sequence[Source]) -> Iterator[Source]:
    """Yield the parts of schemas that applied links connect with the symbols."""
    names = {source.reference for source in symbols}
    for link in deps.tables.suggestions(status="applied"):
        if link.details["code_symbol"] in names:
            entry = entry_named(deps.workspace.index_file, link.details["schema_ref"])
            if entry is not None:
                yield entry


SEARCH: Final = "search"
PAGE: Final = "page"  # names of the steps
COPIED_FROM: Final = 0.5  # share of the shorter text's runs of letters in the other, from which one is a copy
# Of 400 paragraphs of KorQuAD, all are recognised if cut to 60 %, or with other spaces, punctuation or head;
# with 8 % other words 75 %. Of 300 pairs of one template with other names and numbers, none is.
_RUN_LETTERS: Final = 20
_COUNTRY_LETTERS: Final = 2
_SHORT_LABEL: Final = 3  # co, com, ac, gov, … before a country
_REWORDED: Final = 3  # times that a query is said in other words: synonyms, fewer words, another angle
_READ: Final = 5  # chosen: with fewer, one bad site is most of what was read
_KEPT: Final = 2  # sources of an iteration, and those that are left for other queries if another one comes
_MOST_READ: Final = 10
# A search that has begun is let end, with what it has; a page of this machine's network takes less.
_LEAST_S: Final = 1.0
WEB: Final = ("http://", "https://")


def execute(run: Run, deps: Deps, queries: Sequence[names.PlanQuery], strategy: tuple[str, ...]) -> int:
    """Search for the queries that were not asked before, reword those that find little, and read sources.

    Returns
    -------
    int
        How many queries were executed.
    """
    fresh = list(_fresh(run, queries))[: queries_left(run.state)]
    if not fresh:
        return 0
    run.record(events.ActionTaken, tool=deps.provider.name, strategy=strategy)
    results = few = _search(run, deps, fresh)
    for _ in range(1 if deps.ladder.models else _REWORDED):
        reworded = _search(run, deps, list(_rewordings(run, few)))
        results, few = results + reworded, [one for one in reworded if not one.sources]
    chosen = _choose(run.state, results)
    chosen = read_pages(run, deps.pages, chosen) if deps.pages else chosen
    for source, _ in chosen:
        run.record(events.SourceRead, source=identity(source))
    number_sources(run, chosen)
    return len(results)


def search_step(run: Run, name: str, key: str, search: Callable[[], SearchResult]) -> SearchResult:
    """Search, or read a page, as a step of a run: it is not done again once it is committed."""
    made = run.step(
        name, f"{name}-{key}", lambda _: (msgspec.to_builtins(search()), NOTHING), at_most=NOTHING
    )
    return msgspec.convert(made, SearchResult)


def read_pages(
    run: Run, reader: "PageReader", snippets: Sequence[tuple[Source, str]]
) -> list[tuple[Source, str]]:
    """Replace the snippets of search services by passages of their pages.

    Parameters
    ----------
    run : Run
        In an iteration.
    reader : PageReader
        Keeps each page as it came.
    snippets : sequence of (Source, str)
        Sources, and the queries that found them. Passages of files stay as they are, and so does a snippet
        whose page cannot be read.
    """
    limits = _search_limits(run)

    def read(place: int, snippet: tuple[Source, str]) -> tuple[Source, str]:
        source, query = snippet
        if source.start is not None or not source.location.startswith(WEB):
            return snippet  # a passage of a file
        key = f"{run.state.iteration + 1}-{place}"
        page = search_step(run, PAGE, key, lambda: _read_page(reader, source, query, limits))
        return next(iter(page.sources), source), query

    with ThreadPoolExecutor(max_workers=names.AT_ONCE) as threads:
        return list(threads.map(read, range(len(snippets)), snippets))


def _search_limits(run: Run) -> SearchLimits:
    """Return the most that a search or a page may take now."""
    default = SearchLimits()
    left = max(_LEAST_S, time_left(run, default.deadline_s))
    return replace(default, timeout_s=min(default.timeout_s, left), deadline_s=left)


def _fresh(run: Run, queries: Sequence[names.PlanQuery]) -> Iterator[str]:
    history = QueryHistory(run.state.search_history)
    for query in queries:
        is_duplicate, similar = history.is_duplicate_query(query.query)
        if is_duplicate:
            run.record(events.QueryDropped, query=query.query, similar=similar or "")
        else:
            history.add_query_to_history(query.query, run.state.iteration + 1, 1, True)
            yield query.query


def _search(run: Run, deps: Deps, queries: Sequence[str]) -> list[SearchResult]:
    """Execute queries at once; their events are in the order of the queries, whichever came back first."""
    limits, number, first = _search_limits(run), run.state.iteration + 1, run.state.progress.queries

    def search(place: int, query: str) -> SearchResult:
        find = partial(find_sources, deps, query, limits, question=run.state.question)
        return search_step(run, SEARCH, f"{number}-{first + place}", find)

    with ThreadPoolExecutor(max_workers=names.AT_ONCE) as threads:
        results = list(threads.map(search, range(len(queries)), queries))
    for result in results:
        about = fields_of(result, "query", "outcome", "failures")
        run.record(events.Searched, results_count=len(result.sources), **about)
        if result.outcome in {"blocked", "failed"}:
            failed = names.FailedQuery(result.query, result.outcome, result.reason, number)
            run.record(events.Noted, name=names.FAILED, data=msgspec.to_builtins(failed))
    return results


def _rewordings(run: Run, results: Sequence[SearchResult]) -> Iterator[str]:
    """Yield another form of each query that worked and found little, within the limit of queries."""
    history = QueryHistory(run.state.search_history)
    searched, number = {search.query for search in run.state.search_history}, run.state.iteration + 1
    few = [one for one in results if one.outcome in {"found", "empty"} and len(one.sources) < FEW]
    for result in few[: queries_left(run.state)]:
        for text, how in reword(result.query):
            if text not in searched and not history.is_duplicate_query(text)[0]:
                searched.add(text)
                reworded = {"query": result.query, "becomes": text, "how": how, "iteration": number}
                run.record(events.Noted, name=names.REWORDED, data=reworded)
                yield text
                break


def _choose(state: State, results: Sequence[SearchResult]) -> list[tuple[Source, str]]:
    """Return the best new sources of each query in turn, with it, as many as this iteration may read."""
    known = {identity(read.source) for read in names.knowledge_of(state).sources}
    pairs = ([(source, result.query) for source in result.sources] for result in results)
    chosen: dict[str, tuple[Source, str]] = {}
    for source, query in filter(None, chain.from_iterable(zip_longest(*pairs))):
        if identity(source) not in known:
            chosen.setdefault(identity(source), (source, query))
    return list(chosen.values())[: sources_now(state)]


def number_sources(run: Run, chosen: Sequence[tuple[Source, str]]) -> None:
    """Give sources their numbers, in the order in which they were retrieved."""
    numbered = {identity(read.source): read for read in names.knowledge_of(run.state).sources}
    for source, query in chosen:
        if identity(source) not in numbered:
            number, origin = len(numbered) + 1, origin_of(source, numbered.values())
            read = names.ReadSource(number, source, origin, query, run.state.iteration + 1)
            run.record(events.Noted, name=names.READ, data=msgspec.to_builtins(read))
            numbered[identity(source)] = read


def sources_now(state: State) -> int:
    """Return how many sources the next iteration may read, so that the later ones can read, too."""
    if state.limits.sources is None:
        return _MOST_READ
    left = max(0, state.limits.sources - len(state.read_sources))
    is_last = state.iteration + 1 >= state.limits.max_iterations
    return left if is_last else max(min(1, left), min(_READ, left - _KEPT))


def identity(source: Source) -> str:
    """A page is one source; a file has several passages."""
    is_page = source.location.startswith(WEB)
    return source.location if is_page else f"{source.location}#{source.hash[:16]}"


def _read_page(reader: "PageReader", snippet: Source, query: str, limits: SearchLimits) -> SearchResult:
    answer = reader.read(snippet.location, limits)
    pages = answer.sources[:1] if isinstance(answer, Found) else ()
    return SearchResult(
        query=snippet.location,
        outcome=outcome_of(answer),
        sources=tuple(_passage(page, snippet, query) for page in pages),
        reason=getattr(answer, "reason", ""),
    )


def _passage(page: Source, snippet: Source, query: str) -> Source:
    """Return the passage of a page with the most of a query."""
    wanted = term_set(query)
    parts = split_passages(plain_document(page.text))
    best = max(parts, key=lambda part: len(wanted & term_set(part.text)), default=None)
    page = replace(page, published=page.published or snippet.published)
    return replace(page, text=best.text, start=best.start) if best else page  # else its beginning is blank


def origin_of(source: Source, earlier: Iterable[names.ReadSource]) -> str:
    """Return the site of a page or the location of a file; of a copy, the origin of what was read first."""
    copied = next((read for read in earlier if is_copy(source.text, read.source.text)), None)
    return copied.origin if copied else site_of(source.location)


def is_copy(text: str, other: str) -> bool:
    """Whether at least half of the shorter text stands in the other, whatever its spaces and punctuation."""
    here, there = _runs(text), _runs(other)
    shorter = min(len(here), len(there))
    return shorter > 0 and len(here & there) >= COPIED_FROM * shorter


def _runs(text: str) -> set[str]:
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    return {letters[start : start + _RUN_LETTERS] for start in range(len(letters) - _RUN_LETTERS + 1)}


def site_of(location: str) -> str:
    """``news.example.co.kr`` and ``www.example.co.kr`` are ``example.co.kr``; a file is its own site."""
    host = urlsplit(location).hostname if "://" in location else None
    if not host or host.replace(".", "").isdecimal():
        return host or location
    labels = host.split(".")
    is_national = len(labels[-1]) == _COUNTRY_LETTERS and len(labels) > 1 and len(labels[-2]) <= _SHORT_LABEL
    return ".".join(labels[-3:] if is_national else labels[-2:])
