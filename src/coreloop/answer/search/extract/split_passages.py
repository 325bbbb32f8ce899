"""Passages: what search finds, at most `MAX_PASSAGE_CHARS` long, cut where a reader would cut."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.answer.search.extract.document import Document, Section
from coreloop.answer.search.extract.text import FENCED, is_inside

MAX_PASSAGE_CHARS: Final = 1_500
_BREAKS: Final = ("\n\n", "\n", ". ", " ")
# Code or an item of a list, which a line above may announce.
_GOES_ON: Final = re.compile(r"\n\n\s*(?:`{3}|~{3}|[-*+]\ |\d{1,3}[.)]\ |\ {4})")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document; ``text`` is ``document.text[start:end]``."""

    start: int
    end: int
    line: int
    heading: str
    text: str


def split_passages(document: Document) -> Iterator[Passage]:
    """Yield the passages of a document in order, without the white space between them."""
    line, counted_to = 1, 0
    for section in document.sections:
        for start, end in _cuts(document.text, section):
            line += document.text.count("\n", counted_to, start)
            counted_to = start
            place = line if section.line is None else section.line
            yield Passage(start, end, place, section.heading, document.text[start:end])


def _cuts(text: str, section: Section) -> Iterator[tuple[int, int]]:
    code = [match.span() for match in FENCED.finditer(text, section.start, section.end)]
    start = section.start
    while start < section.end:
        end = _cut(text, start, section.end, code)
        part = text[start:end]
        stripped = part.strip()
        if stripped:
            first = start + len(part) - len(part.lstrip())
            yield first, first + len(stripped)
        start = end


def _cut(text: str, start: int, end: int, code: Sequence[tuple[int, int]]) -> int:
    """Where a passage ends: at a paragraph, a line, a sentence, a word, or anywhere.

    Code that fits stays whole, and code and items of a list stay with the line that announces them.
    """
    if end - start <= MAX_PASSAGE_CHARS:
        return end
    latest = start + MAX_PASSAGE_CHARS
    earliest = start + MAX_PASSAGE_CHARS // 4
    while (place := text.rfind("\n\n", earliest, latest)) >= 0:
        if not is_inside(place, code) and not _GOES_ON.match(text, place):
            return place + 2
        latest = place
    latest = start + MAX_PASSAGE_CHARS
    for mark in _BREAKS:
        place = text.rfind(mark, start + MAX_PASSAGE_CHARS // 2, latest)
        if place >= 0:
            return place + len(mark)
    return latest
