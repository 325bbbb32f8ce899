"""The sources of an answer: passages, symbols and their imports, declared schemas, and injected evidence."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.questions import search_words
from coreloop.answer.repair.actions import Target
from coreloop.answer.repair.evidence import fresh_sources, question_key
from coreloop.answer.repair.targets import reference
from coreloop.answer.search.index.declared import entry_named, find_fields, find_symbols, is_named
from coreloop.answer.search.index.fresh import refresh_index
from coreloop.answer.search.index.imports import indexed_imports
from coreloop.answer.search.index.pending import stale_files
from coreloop.answer.search.provider import Found, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.errors import SearchTimeoutError
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.run import Run

RETRIEVE: Final = "retrieve"
"""Name of the steps."""
_TEXTS: Final = 8
_SYMBOLS: Final = 4
_FIELDS: Final = 4
_NEIGHBOURS: Final = 2
_LOOKED_AT: Final = 50
"""Passages among which those of imported files are looked for."""
_CODE: Final = frozenset({"symbol", "python"})
Origin = Literal["injected", "symbol", "text", "import", "schema"]


class Retrieved(msgspec.Struct, frozen=True, kw_only=True):
    """A step's result.

    Attributes
    ----------
    sources : tuple of Source
        In the order of their numbers, from 1.
    origins : tuple of str
        Where each comes from.
    problem : str
        Why a search failed; "" if none did.
    note : str
        What is still being read into the index; "" for nothing.
    elapsed_ms : int
        Of all searches.
    stale : tuple of Target
        Files that were found, but changed or were removed since they were indexed; no source is of them.
    """

    sources: tuple[Source, ...] = ()
    origins: tuple[Origin, ...] = ()
    problem: str = ""
    note: str = ""
    elapsed_ms: int = 0
    stale: tuple[Target, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Sources by where they come from."""
        return dict(Counter(self.origins))

    def without(self, hashes: Collection[str]) -> "Retrieved":
        """Leave out passages by their hashes."""
        kept = [place for place, source in enumerate(self.sources) if source.hash not in hashes]
        return msgspec.structs.replace(
            self,
            sources=tuple(self.sources[place] for place in kept),
            origins=tuple(self.origins[place] for place in kept),
        )

    def of(self, *origins: Origin) -> Iterator[Source]:
        """Yield the sources of some origins."""
        return (
            source for source, origin in zip(self.sources, self.origins, strict=True) if origin in origins
        )


def retrieve(run: Run, deps: Deps, *, number: int) -> Retrieved:
    """Search for the sources of an attempt, as a step of its run; the first one reads changed files first."""

    def call(_key: str) -> tuple[Any, Amount]:
        note = refresh_index(deps.workspace, now=datetime.now(UTC)) if number == 1 else ""
        found = msgspec.structs.replace(find_sources(deps, run.state.question), note=note)
        return msgspec.to_builtins(found), NOTHING

    stored = run.step(RETRIEVE, f"{RETRIEVE}-{number}", call, at_most=NOTHING)
    return msgspec.convert(stored, Retrieved)


def find_sources(deps: Deps, question: str) -> Retrieved:
    """Search everywhere at once; the same passage counts once, and one of a stale file not at all.

    Parameters
    ----------
    deps : Deps
        Whose index, search and tables are read.
    question : str
        Text of a user.
    """
    started, now = time.monotonic(), datetime.now(UTC)
    index = deps.workspace.index_file
    query = " ".join(search_words(question)) or question
    with ThreadPoolExecutor(max_workers=3) as threads:
        text = threads.submit(deps.provider.search, query, SearchLimits(max_results=_LOOKED_AT))
        symbols = threads.submit(find_symbols, index, question, SearchLimits(max_results=_SYMBOLS), now=now)
        fields = threads.submit(find_fields, index, question, SearchLimits(max_results=_FIELDS), now=now)
        kept = deps.tables.evidence_for(question_key(question))
        injected = list(fresh_sources(deps.workspace.root, kept))
        answer = text.result()
        called, declared = _in_time(symbols), _in_time(fields)
    passages = answer.sources if isinstance(answer, Found) else ()
    found: list[tuple[Origin, Sequence[Source]]] = [
        ("symbol", [symbol for symbol in called if is_named(symbol, question)]),
        ("injected", injected),
        ("text", passages[:_TEXTS]),
        ("import", _neighbours(deps, called, passages[_TEXTS:], now=now)),
        ("symbol", called),
        ("schema", [*declared, *_linked(deps, called, now=now)]),
    ]
    stale = _stale(deps, found, now=now)
    best = _unique(_without(found, {file.path for file in stale}))
    return Retrieved(
        sources=tuple(source for _, source in best),
        origins=tuple(origin for origin, _ in best),
        problem=getattr(answer, "reason", ""),
        elapsed_ms=round((time.monotonic() - started) * 1000),
        stale=tuple(stale),
    )


def _in_time(search: Future[list[Source]]) -> list[Source]:
    """Return what a search found; one that takes too long found nothing."""
    try:
        return search.result()
    except SearchTimeoutError:
        return []


def _stale(deps: Deps, found: Sequence[tuple[Origin, Sequence[Source]]], *, now: datetime) -> list[Target]:
    locations = {source.location for _, sources in found for source in sources}
    files = stale_files(deps.workspace, locations, now=now)
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
            symbol = symbols.get((source.location, source.title)) if source.type in _CODE else None
            best = symbol or indexed.get((source.location, source.text), source)
            unique.setdefault((best.location, best.text), (origin, best))
    return list(unique.values())


def _neighbours(
    deps: Deps, symbols: Sequence[Source], passages: Sequence[Source], *, now: datetime
) -> list[Source]:
    """Return passages that fit the question less, but stand in files that the symbols' files import."""
    index, root = deps.workspace.index_file, deps.workspace.root.resolve()
    files = dict.fromkeys(source.location for source in symbols)
    imported = {name for file in files for name in indexed_imports(index, file, root, now=now)}
    return list(islice((source for source in passages if source.location in imported), _NEIGHBOURS))


def _linked(deps: Deps, symbols: Sequence[Source], *, now: datetime) -> Iterator[Source]:
    """Yield the parts of schemas that applied links connect with the symbols."""
    names = {reference(source) for source in symbols}
    for link in deps.tables.links():
        if link.code_symbol in names:
            location, _, place = link.schema_ref.partition("#")
            entry = entry_named(deps.workspace.index_file, location, f"#{place}", now=now)
            if entry is not None:
                yield entry
