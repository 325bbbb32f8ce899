"""The sources of a question: passages, symbols, declared schemas, and injected evidence."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Final, Literal

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import Target
from coreloop.answer.repair.evidence import fresh_sources, question_key, reference
from coreloop.answer.search.index.run import stale_files
from coreloop.answer.search.index.search_index import entry_named, find_fields, find_symbols, is_named
from coreloop.answer.search.provider import Blocked, Empty, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.errors import SearchTimeoutError
from coreloop.runs.events import Outcome

_TEXTS: Final = 8  # chosen, as the next three: texts answer most questions, names and fields fewer
_SYMBOLS: Final = 4  # see above
_FIELDS: Final = 4  # see above
_CODE: Final = frozenset({"symbol", "python"})
Origin = Literal["injected", "symbol", "text", "schema"]


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """A step's result: what was asked, and what came back.

    Attributes
    ----------
    query, provider : str
        What was asked, and who.
    strategy : tuple of str
        Labels of the iteration's strategy.
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
    elapsed_ms : int
        Of all searches.
    stale : tuple of Target
        Files that were found, but changed or were removed since they were indexed; no source is of them.
    """

    query: str = ""
    provider: str = ""
    strategy: tuple[str, ...] = ()
    outcome: Outcome = "found"
    sources: tuple[Source, ...] = ()
    origins: tuple[Origin, ...] = ()
    reason: str = ""
    failures: tuple[str, ...] = ()
    elapsed_ms: int = 0
    stale: tuple[Target, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Sources by where they come from."""
        return dict(Counter(self.origins))

    def without(self, hashes: Collection[str]) -> "SearchResult":
        """Leave out passages by their hashes."""
        kept = [place for place, source in enumerate(self.sources) if source.hash not in hashes]
        return msgspec.structs.replace(
            self,
            sources=tuple(self.sources[place] for place in kept),
            origins=tuple(self.origins[place] for place in kept),
        )

    def of(self, *origins: Origin) -> Iterator[Source]:
        """Yield the sources of some origins."""
        pairs = zip(self.sources, self.origins, strict=True)
        return (source for source, origin in pairs if origin in origins)


def find_sources(
    deps: Deps, query: str, limits: SearchLimits, *, question: str = "", words: str = ""
) -> SearchResult:
    """Search everywhere at once; the same passage counts once, and one of a stale file not at all.

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
    started = time.monotonic()
    question = question or query
    is_local = deps.searches_index and deps.workspace.index_file.exists()
    with ThreadPoolExecutor(max_workers=3) as threads:
        text = threads.submit(deps.provider.search, words or query, limits)
        declared = _declared(threads, deps, query, limits) if is_local else ([], [])
        injected = list(fresh_sources(deps.workspace.root, deps.tables.evidence_for(question_key(question))))
        answer = text.result()
    called, fields = declared
    passages = answer.sources if isinstance(answer, Found) else ()
    found: list[tuple[Origin, Sequence[Source]]] = [
        ("symbol", [symbol for symbol in called if is_named(symbol, query)]),
        ("injected", injected),
        ("text", passages[:_TEXTS]),
        ("symbol", called),
        ("schema", [*fields, *_linked(deps, called)]),
    ]
    stale = _stale(deps, found) if is_local else []
    best = _unique(_without(found, {file.path for file in stale}))
    return SearchResult(
        query=query,
        provider=passages[0].provider if passages else deps.provider.name,
        outcome=_outcome(answer, has_any=bool(best)),
        sources=tuple(source for _, source in best),
        origins=tuple(origin for origin, _ in best),
        reason=getattr(answer, "reason", ""),
        failures=answer.failures,
        elapsed_ms=round((time.monotonic() - started) * 1000),
        stale=tuple(stale),
    )


def _declared(
    threads: ThreadPoolExecutor, deps: Deps, query: str, limits: SearchLimits
) -> tuple[list[Source], list[Source]]:
    """Return the symbols and the fields of schemas that fit a query."""
    index = deps.workspace.index_file
    symbols = threads.submit(find_symbols, index, query, replace(limits, max_results=_SYMBOLS))
    fields = threads.submit(find_fields, index, query, replace(limits, max_results=_FIELDS))
    return _in_time(symbols), _in_time(fields)


def _outcome(answer: SearchAnswer, *, has_any: bool) -> Outcome:
    if isinstance(answer, Found | Empty):
        return "found" if has_any else "empty"
    return "blocked" if isinstance(answer, Blocked) else "failed"


def _in_time(search: Future[list[Source]]) -> list[Source]:
    """Return what a search found; one that takes too long found nothing."""
    try:
        return search.result()
    except SearchTimeoutError:
        return []


def _stale(deps: Deps, found: Sequence[tuple[Origin, Sequence[Source]]]) -> list[Target]:
    locations = {source.location for _, sources in found for source in sources}
    files = stale_files(deps.workspace, locations)
    return [Target(path=file.location, version=file.version) for file in files]


def _without(
    found: Sequence[tuple[Origin, Sequence[Source]]], stale: Collection[str]
) -> list[tuple[Origin, Sequence[Source]]]:
    """Leave out what the index has of stale files; evidence is taken from the files as they are."""
    return [
        (origin, [source for source in sources if origin == "injected" or source.location not in stale])
        for origin, sources in found
    ]


def _unique(found: Sequence[tuple[Origin, Sequence[Source]]]) -> list[tuple[Origin, Source]]:
    """Return each passage once: as the index has it, and of a symbol what its docstring says in sentences."""
    symbols = {
        (source.location, source.title): source
        for origin, sources in found
        for source in sources
        if origin == "symbol"
    }
    indexed = {
        (source.location, source.text): source
        for origin, sources in found
        for source in sources
        if origin == "text"
    }
    unique: dict[tuple[str, str], tuple[Origin, Source]] = {}
    for origin, sources in found:
        for source in sources:
            is_repeated = source.type in _CODE and origin != "text"  # a text has the symbol's body
            symbol = symbols.get((source.location, source.title)) if is_repeated else None
            best = symbol or indexed.get((source.location, source.text), source)
            unique.setdefault((best.location, best.text), (origin, best))
    return list(unique.values())


def _linked(deps: Deps, symbols: Sequence[Source]) -> Iterator[Source]:
    """Yield the parts of schemas that applied links connect with the symbols."""
    names = {reference(source) for source in symbols}
    for link in deps.tables.links():
        if link.code_symbol in names:
            location, _, place = link.schema_ref.partition("#")
            entry = entry_named(deps.workspace.index_file, location, f"#{place}")
            if entry is not None:
                yield entry
