"""Pages behind the snippets of search services: read as steps, their best passages become sources."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import msgspec

from coreloop.answer.research.asking import time_left
from coreloop.answer.research.tiers import AT_ONCE
from coreloop.answer.search.extract.document import Document, Section
from coreloop.answer.search.extract.split_passages import split_passages
from coreloop.answer.search.page.reader import PageReader
from coreloop.answer.search.provider import Blocked, Empty, Found, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.text.terms import term_set
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import Outcome

PAGE: Final = "page"
"""Name of the steps."""
_LEAST_S: Final = 1.0
"""A search that has begun is let end, with what it has; a page of this machine's network takes less."""


class PageResult(msgspec.Struct, frozen=True, kw_only=True):
    """A step's result: which page was read, and its passage that fits the query best."""

    url: str
    outcome: Outcome
    source: Source | None = None
    reason: str = ""
    elapsed_ms: int = 0


def read_pages(
    run: Run, reader: PageReader, snippets: Sequence[tuple[Source, str]]
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
    limits = search_limits(run)

    def read(place: int, snippet: tuple[Source, str]) -> tuple[Source, str]:
        source, query = snippet
        if not is_snippet(source):
            return snippet
        key = f"{PAGE}-{run.state.iteration + 1}-{place}"
        stored = run.step(PAGE, key, lambda _key: _call(reader, source, query, limits), at_most=NOTHING)
        return msgspec.convert(stored, PageResult).source or source, query

    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        return list(threads.map(read, range(len(snippets)), snippets))


def search_limits(run: Run) -> SearchLimits:
    """Return the most that a search or a page may take now."""
    default = SearchLimits()
    left = max(_LEAST_S, time_left(run, at_most=default.deadline_s))
    return replace(default, timeout_s=min(default.timeout_s, left), deadline_s=left)


def is_snippet(source: Source) -> bool:
    """Whether a source is a search service's text about a page, not a passage of it."""
    return source.start is None and source.location.startswith(("http://", "https://"))


def best_passage(text: str, query: str) -> tuple[int, str]:
    """Return where the passage with the most of a query begins, and the passage."""
    whole = Document(
        type="web", title="", text=text, sections=(Section(start=0, end=len(text), line=1, heading=""),)
    )
    wanted = term_set(query)
    best = max(split_passages(whole), key=lambda part: len(wanted & term_set(part.text)), default=None)
    return (best.start, best.text) if best else (0, text)


def _call(reader: PageReader, snippet: Source, query: str, limits: SearchLimits) -> tuple[Any, Amount]:
    started = time.monotonic()
    answer = reader.read(snippet.location, limits)
    result = PageResult(
        url=snippet.location,
        outcome="found" if isinstance(answer, Found) else _missed(answer),
        source=_passage(answer.sources[0], snippet, query) if isinstance(answer, Found) else None,
        reason="" if isinstance(answer, Found | Empty) else answer.reason,
        elapsed_ms=round((time.monotonic() - started) * 1000),
    )
    return msgspec.to_builtins(result), NOTHING


def _missed(answer: object) -> Outcome:
    if isinstance(answer, Empty):
        return "empty"
    return "blocked" if isinstance(answer, Blocked) else "failed"


def _passage(page: Source, snippet: Source, query: str) -> Source:
    start, text = best_passage(page.text, query)
    return replace(page, text=text, start=start, published=page.published or snippet.published)
