"""The part of a passage that shows a query's words, and where they are in it."""

import re
from dataclasses import dataclass
from typing import Final

from coreloop.answer.search.index.search_index import MAX_WORDS
from coreloop.answer.search.source import Source
from coreloop.answer.text.terms import is_cjk, search_words, terms

SNIPPET_CHARS: Final = 160
_LEAD_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a source's text.

    Attributes
    ----------
    text : str
        At most `SNIPPET_CHARS` characters.
    start : int
        Where it begins in the text of the file or page, in characters.
    marks : tuple of (int, int)
        Start and end in ``text`` of each word of the query.
    """

    text: str
    start: int
    marks: tuple[tuple[int, int], ...]


def cut_snippet(source: Source, query: str) -> Snippet:
    """Return the part of a source's text with the most different words of a query, or its beginning."""
    pattern = _word_pattern(query)
    found = list(pattern.finditer(source.text)) if pattern else []
    start = _beginning(source.text, found)
    end = min(len(source.text), start + SNIPPET_CHARS)
    marks = tuple(
        (match.start() - start, match.end() - start)
        for match in found
        if match.start() >= start and match.end() <= end
    )
    return Snippet(source.text[start:end], (source.start or 0) + start, marks)


def _beginning(text: str, found: list[re.Match[str]]) -> int:
    if not found:
        return 0
    best = max(found, key=lambda first: (_variety(first, found), -first.start()))
    lead = max(0, best.start() - _LEAD_CHARS)
    space = text.find(" ", lead, best.start())
    return space + 1 if lead and space >= 0 else lead


def _variety(first: re.Match[str], found: list[re.Match[str]]) -> int:
    """How many different words a snippet shows that begins shortly before a match."""
    last = first.start() + SNIPPET_CHARS - _LEAD_CHARS
    return len(
        {match[0].casefold() for match in found if first.start() <= match.start() and match.end() <= last}
    )


def _word_pattern(query: str) -> re.Pattern[str] | None:
    """Return what finds the words of a query in a text, with other endings too; None if it has no words."""
    words = sorted(map(_pattern, search_words(query)[:MAX_WORDS]), key=len, reverse=True)
    return re.compile("|".join(words), re.IGNORECASE) if words else None


def _pattern(word: str) -> str:
    return re.escape(word) if is_cjk(word) else rf"\b{re.escape(terms(word)[0])}[^\W_]{{0,4}}\b"
