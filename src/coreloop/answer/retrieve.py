"""The sources of a question: passages, symbols, declared schemas, and injected evidence."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.search.index.search_index import entry_named, find_declared, is_named
from coreloop.answer.search.provider import Blocked, Empty, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.runs.events import Outcome

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

    @property
    def counts(self) -> dict[str, int]:
        """Sources by where they come from."""
        return dict(Counter(self.origins))

    def of(self, *origins: Origin) -> Iterator[Source]:
        """Yield the sources of some origins."""
        pairs = zip(self.sources, self.origins, strict=True)
        return (source for source, origin in pairs if origin in origins)


def find_sources(
    deps: Deps, query: str, limits: SearchLimits, *, question: str = "", words: str = ""
) -> SearchResult:
    """Search everywhere at once; the same passage counts once.

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
    with ThreadPoolExecutor(max_workers=1) as threads:
        text = threads.submit(deps.provider.search, words or query, limits)
        called = find_declared(index, query, _DECLARED) if is_local else []
        fields = find_declared(index, query, _DECLARED, is_schema=True) if is_local else []
        injected = deps.tables.evidence_for(question or query, deps.workspace.root)
        answer = text.result()
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
