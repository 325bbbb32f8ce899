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
    words = sorted(map(_pattern, search_words(query)[:MAX_WORDS]), key=len, reverse=True)
    pattern = re.compile("|".join(words) or "(?!)", re.IGNORECASE)
    text, found = source.text, list(pattern.finditer(source.text))

    def variety(first: re.Match[str]) -> int:
        end = first.start() + SNIPPET_CHARS - _LEAD_CHARS
        return len({word.casefold() for word in pattern.findall(text, first.start(), end)})

    at = max(found, key=variety).start() if found else 0
    lead = max(0, at - _LEAD_CHARS)
    start = (text.find(" ", lead, at) + 1 or lead) if lead else 0
    end = min(len(text), start + SNIPPET_CHARS)
    within = (match for match in found if start <= match.start() and match.end() <= end)
    marks = tuple((match.start() - start, match.end() - start) for match in within)
    return Snippet(text[start:end], (source.start or 0) + start, marks)


def _pattern(word: str) -> str:
    return re.escape(word) if is_cjk(word) else rf"\b{re.escape(terms(word)[0])}[^\W_]{{0,4}}\b"
