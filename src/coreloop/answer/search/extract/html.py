"""HTML: the visible text, a section per heading.

A scanner of one pass: the parsers that we tried take quadratic time or worse for hostile pages.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from coreloop.answer.search.extract.decode import clean_text, decode_text
from coreloop.answer.search.extract.document import MAX_SECTIONS, Document, Section, Unreadable
from coreloop.answer.search.extract.file_date import date_in_name

_UNSEEN: Final = frozenset({"template", "noscript", "svg", "math", "nav", "footer", "aside", "form"})
_RAW: Final = {name: re.compile(f"</{name}\\b", re.IGNORECASE) for name in ("script", "style", "textarea")}
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span"}
    | {"strong", "sub", "sup", "time", "title", "u", "var", "wbr"}
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
# <meta property="article:published_time" content="2026-10-30T09:00:00+09:00">
_DATED: Final = re.compile(r"published|modified|date", re.IGNORECASE)
_CONTENT: Final = re.compile(r"\bcontent\s*+=\s*+[\"']?([^\"'<>]{4,40})", re.IGNORECASE)
_LONG_NUMBER: Final = re.compile(r"&#[0-9]{8,}")  # beyond Unicode, and int() refuses thousands of digits


def extract_html(data: bytes) -> Document | Unreadable:
    """Read an HTML page; offsets are those of its visible text."""
    page = decode_text(data)
    return page if isinstance(page, Unreadable) else read_page(page)


def read_page(page: str) -> Document:
    """Read a decoded HTML page."""
    collector, line, counted = _Collector(), 1, 0
    for place, text, tag in _events(page):
        if tag is None:
            collector.add_text(text)
            continue
        line, counted = line + page.count("\n", counted, place), place
        collector.add_tag(tag, line)
    return collector.document()


def _events(page: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Yield texts, and tags that have a name, with their offsets."""
    place = 0
    while place < len(page):
        start = page.find("<", place)
        start = len(page) if start < 0 else start
        if start > place:
            yield place, page[place:start], None
        tag = _TAG.match(page, start)
        if page.startswith("<!--", start):
            end = page.find("-->", start)
            place = len(page) if end < 0 else end + 3
        elif tag is None:
            yield start, page[start : start + 1], None
            place = start + 1
        else:
            if tag["name"]:
                yield start, "", tag
            raw = None if tag["closes"] else _RAW.get((tag["name"] or "").lower())
            closing = raw.search(page, tag.end()) if raw else None
            place = closing.start() if closing else len(page) if raw else tag.end()


class _Collector:
    """Collects the visible text; a block element begins a line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._unseen, self._depth = "", 0
        self._inside = ""
        self._title: list[str] = []
        self._date = ""
        self._starts: list[tuple[int, int, list[str]]] = [(0, 1, [])]
        """Where sections begin, their lines and headings."""

    def add_tag(self, tag: re.Match[str], line: int) -> None:
        name, closes = tag["name"].lower(), bool(tag["closes"])
        if self._unseen:
            self._depth += (name == self._unseen) * (-1 if closes else 1)
            self._unseen = self._unseen if self._depth else ""
        elif name in _UNSEEN and not closes:
            self._unseen, self._depth = name, 1
        else:
            self._open(name, closes, line, tag[0])

    def _open(self, name: str, closes: bool, line: int, tag: str) -> None:
        if name not in _INLINE:
            self._append("\n\n" if name == "p" or name in _HEADINGS else "\n")
        if closes:
            self._inside = "" if name == self._inside else self._inside
        elif name in _HEADINGS or name == "title":
            self._inside = name
            if name != "title" and len(self._starts) < MAX_SECTIONS:
                self._starts.append((self._length, line, []))
        elif name == "meta" and not self._date and _DATED.search(tag) and (content := _CONTENT.search(tag)):
            self._date = content[1]

    def add_text(self, text: str) -> None:
        if self._unseen:
            return
        seen = re.sub(r"\s+", " ", clean_text(html.unescape(_LONG_NUMBER.sub("", text))))
        if self._inside == "title":
            self._title.append(seen)
            return
        if self._inside:
            self._starts[-1][2].append(seen)
        self._append(seen)

    def _append(self, text: str) -> None:
        last = self._parts[-1] if self._parts else "\n\n"
        if not text.isspace() or not last.isspace() or len(last) < len(text):
            self._parts.append(text)
            self._length += len(text)

    def document(self) -> Document:
        ends = [*(start for start, _, _ in self._starts[1:]), self._length]
        sections = tuple(
            Section(start, end, line, _shown(heading))
            for (start, line, heading), end in zip(self._starts, ends, strict=True)
            if end > start
        )
        return Document(
            type="html",
            text="".join(self._parts),
            title=_shown(self._title) or next((part.heading for part in sections if part.heading), ""),
            published=date_in_name(self._date),
            sections=sections,
            has_own_lines=False,
        )


def _shown(parts: list[str]) -> str:
    return " ".join("".join(parts).split())[:_MAX_HEADING]
