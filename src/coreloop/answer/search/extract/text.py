"""Text: Markdown and reStructuredText with a section per heading, any other text as one section.

Lines decide, not a parser: offsets stay those of the file.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from coreloop.answer.search.extract.document import MAX_SECTIONS, Document, Section
from coreloop.answer.search.extract.file_date import date_in_name

SEPARATOR: Final = " › "
FENCED: Final = re.compile(
    r"^\ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^\ {0,3}\1[^\n]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)  # a fence, and all before the fence that closes it
_MARKDOWN: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S[^\n]*)", re.MULTILINE)
_UNDERLINED: Final = re.compile(
    r"^(?=[^\s.])(?P<title>[^\n]+)\n(?P<mark>[=\-~^\"'*+#`.:_])(?P=mark){2,}[ \t]*$", re.MULTILINE
)  # Title, and below it as many ====
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_MAX_HEADING: Final = 200
_FRONT: Final = re.compile(r"\A---\n(?P<fields>(?:[^\n]*\n){0,50}?)---\s*\n")
# Names in front matter, the one that says most of the text as it is first.
_DATED: Final = ("updated", "last_updated", "lastmod", "modified", "date", "published", "created")
Heading = tuple[int, int, str]  # offset, level and text


def plain_document(text: str) -> Document:
    """Return a text as a document of one section."""
    return Document(type="text", text=text, sections=(Section(0, len(text)),))


def extract_markdown(text: str) -> Document:
    """Read a Markdown file; the title is of its front matter or its first heading."""
    end = text.rfind("-->") + 3  # a comment without an end is none; white space keeps offsets and lines
    text = _COMMENT.sub(lambda match: re.sub(r"\S", " ", match[0]), text[:end]) + text[end:]
    front = _FRONT.match(text)
    fields = dict(line.partition(":")[::2] for line in front["fields"].splitlines()) if front else {}
    dates = (date_in_name(fields.get(name, "")) for name in _DATED)
    document = _document("markdown", text, _markdown_headings(text), fields.get("title", "").strip(" \t\"'"))
    return replace(document, published=next(filter(None, dates), None))


def extract_rst(text: str) -> Document:
    """Read a reStructuredText file; the marks below its titles are levels in their order."""
    return _document("text", text, _underlined_headings(text))


def _document(kind: str, text: str, headings: Iterable[Heading], title: str = "") -> Document:
    sections = tuple(_sections(text, headings))
    title = title or next((part.heading for part in sections if part.heading), "").split(SEPARATOR)[0]
    return Document(type=kind, text=text, title=title[:_MAX_HEADING], sections=sections)


def _sections(text: str, headings: Iterable[Heading]) -> Iterator[Section]:
    start, path = 0, list[tuple[int, str]]()
    for offset, level, title in islice(headings, MAX_SECTIONS):
        if offset > start:
            yield Section(start, offset, None, SEPARATOR.join(name for _, name in path))
        start, path = offset, [*(above for above in path if above[0] < level), (level, title[:_MAX_HEADING])]
    if start < len(text):
        yield Section(start, len(text), None, SEPARATOR.join(name for _, name in path))


def _markdown_headings(text: str) -> Iterator[Heading]:
    """Yield the headings outside of fenced code."""
    fences = [fence.span() for fence in FENCED.finditer(text)]
    for match in _MARKDOWN.finditer(text):
        if not is_inside(match.start(), fences):
            yield match.start(), len(match[1]), match[2].rstrip().rstrip("#").rstrip()


def is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of some spans, which are in order."""
    before = bisect_right(spans, (place, place)) - 1
    return before >= 0 and spans[before][0] <= place < spans[before][1]


def _underlined_headings(text: str) -> Iterator[Heading]:
    levels: dict[str, int] = {}
    for match in _UNDERLINED.finditer(text):
        title = match["title"].rstrip()
        if match.end() - match.end("title") - 1 >= len(title):
            yield match.start(), levels.setdefault(match["mark"], len(levels)), title
