"""HTML: the visible text, a section per heading.

A scanner of one pass: the standard library's parser takes quadratic time for hostile pages.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from coreloop.answer.search.extract.decode import clean_text, decode_text
from coreloop.answer.search.extract.document import MAX_SECTIONS, Document, Section, Unreadable

_UNSEEN: Final = frozenset({"template", "noscript", "svg", "math", "nav", "footer", "form"})
_RAW: Final = {name: re.compile(f"</{name}\\b", re.IGNORECASE) for name in ("script", "style", "textarea")}
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span"}
    | {"strong", "sub", "sup", "time", "u", "var", "wbr"}
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_HEADING: Final = 200
# <p class="a > b">, </p>, <!doctype html>; a quoted value is bounded, so that an open quote stays cheap
_TAG: Final = re.compile(
    r"""
    <(?P<closes>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*+) (?: [^<>"'] | "[^"]{0,2000}" | '[^']{0,2000}' | ["'] )*+ >
    | <[!?/][^<>]*>""",
    re.VERBOSE,
)
_LONG_NUMBER: Final = re.compile(r"&#[0-9]{8,}")  # beyond Unicode, and int() refuses thousands of digits


def extract_html(data: bytes) -> Document | Unreadable:
    """Read an HTML page; offsets are those of its visible text."""
    page = decode_text(data)
    if isinstance(page, Unreadable):
        return page
    collector = _Collector()
    for place, name, closes, text in _events(page):
        if name:
            collector.add_tag(name, closes=closes, line=collector.line_of(page, place))
        else:
            collector.add_text(text)
    return collector.document()


def _events(page: str) -> Iterator[tuple[int, str, bool, str]]:
    """Yield offset, tag name, whether it is an end tag, and text; either name or text is empty."""
    place = 0
    while place < len(page):
        start = page.find("<", place)
        start = len(page) if start < 0 else start
        if start > place:
            yield place, "", False, page[place:start]
        tag = _TAG.match(page, start)
        if page.startswith("<!--", start):
            end = page.find("-->", start)
            place = len(page) if end < 0 else end + 3
        elif tag is None:
            yield start, "", False, page[start : start + 1]
            place = start + 1
        else:
            name = (tag["name"] or "").lower()
            yield start, name, bool(tag["closes"]), ""
            closing = _RAW[name].search(page, tag.end()) if name in _RAW and not tag["closes"] else tag
            place = len(page) if closing is None else closing.end() if closing is tag else closing.start()


class _Collector:
    """Collects the visible text; a block element begins a line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._unseen = ""
        self._depth = 0
        self._inside = ""
        self._title: list[str] = []
        self._starts: list[tuple[int, int]] = [(0, 1)]
        self._headings: list[list[str]] = [[]]
        self._line, self._counted = 1, 0

    def line_of(self, page: str, place: int) -> int:
        """The line of an offset; offsets come in order."""
        self._line += page.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def add_tag(self, name: str, *, closes: bool, line: int) -> None:
        if self._unseen:
            self._depth += (name == self._unseen) * (-1 if closes else 1)
            self._unseen = self._unseen if self._depth else ""
        elif closes:
            self._inside = "" if name == self._inside else self._inside
            self._break(name)
        elif name in _UNSEEN:
            self._unseen, self._depth = name, 1
        else:
            self._break(name)
            self._open(name, line)

    def _open(self, name: str, line: int) -> None:
        if name in _HEADINGS and len(self._starts) < MAX_SECTIONS:
            self._starts.append((self._length, line))
            self._headings.append([])
        if name in _HEADINGS or name == "title":
            self._inside = name

    def _break(self, name: str) -> None:
        if name not in _INLINE and name != "title":
            self._append("\n\n" if name == "p" or name in _HEADINGS else "\n")

    def add_text(self, text: str) -> None:
        if self._unseen:
            return
        seen = re.sub(r"\s+", " ", clean_text(html.unescape(_LONG_NUMBER.sub("", text))))
        if self._inside == "title":
            self._title.append(seen)
            return
        if self._inside:
            self._headings[-1].append(seen)
        self._append(seen)

    def _append(self, text: str) -> None:
        last = self._parts[-1] if self._parts else "\n\n"
        if text.isspace() and last.isspace() and len(last) >= len(text):
            return
        self._parts.append(text)
        self._length += len(text)

    def document(self) -> Document:
        ends = [*(start for start, _ in self._starts[1:]), self._length]
        headings = [_shown(parts) for parts in self._headings]
        sections = tuple(
            Section(start, end, line, heading)
            for (start, line), end, heading in zip(self._starts, ends, headings, strict=True)
            if end > start
        )
        return Document(
            type="html",
            text="".join(self._parts),
            title=_shown(self._title) or next(filter(None, headings), ""),
            sections=sections,
            has_own_lines=False,
        )


def _shown(parts: list[str]) -> str:
    return " ".join("".join(parts).split())[:_MAX_HEADING]
