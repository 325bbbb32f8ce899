"""HTML: the visible text, a section per heading. Event by event, so nesting costs nothing."""

import re
from html.parser import HTMLParser
from typing import Final

from coreloop.search.extract.decode import clean_text, decode_text
from coreloop.search.extract.document import Document, Section, Unreadable

_UNSEEN: Final = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "nav", "footer", "form"}
)
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "q", "s", "small", "span"}
) | {*("strong", "sub", "sup", "u", "var", "font", "time", "wbr")}
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_HEADING: Final = 200


def extract_html(data: bytes) -> Document | Unreadable:
    """Read an HTML page; offsets are those of its visible text."""
    html = decode_text(data)
    if isinstance(html, Unreadable):
        return html
    parser = _TextParser()
    parser.feed(html)
    parser.close()
    return parser.document()


class _TextParser(HTMLParser):
    """Collects text; a block element starts a new line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._length = 0
        self._unseen = ""
        self._depth = 0
        self._collected: dict[str, list[str]] = {"title": []}
        self._inside = ""
        self._starts: list[tuple[int, int]] = [(0, 1)]
        self._headings: list[list[str]] = [[]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            self._depth += tag == self._unseen
        elif tag in _UNSEEN:
            self._unseen, self._depth = tag, 1
        elif tag in _HEADINGS:
            self._add("\n\n")
            self._starts.append((self._length, self.getpos()[0]))
            self._headings.append([])
            self._inside = tag
        elif tag == "title":
            self._inside = tag
        elif tag not in _INLINE:
            self._add("\n\n" if tag == "p" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._depth -= tag == self._unseen
            self._unseen = self._unseen if self._depth else ""
            return
        if tag == self._inside:
            self._inside = ""
        if tag not in _INLINE and tag != "title":
            self._add("\n")

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        text = re.sub(r"\s+", " ", clean_text(data))
        if self._inside == "title":
            self._collected["title"].append(text)
            return
        if self._inside:
            self._headings[-1].append(text)
        self._add(text)

    def _add(self, text: str) -> None:
        last = self._parts[-1] if self._parts else "\n\n"
        if text.isspace() and last.isspace() and len(last) >= len(text):
            return
        self._parts.append(text)
        self._length += len(text)

    def document(self) -> Document:
        ends = [*(start for start, _ in self._starts[1:]), self._length]
        headings = [" ".join("".join(parts).split())[:_MAX_HEADING] for parts in self._headings]
        sections = tuple(
            Section(start, end, line, heading)
            for (start, line), end, heading in zip(self._starts, ends, headings, strict=True)
            if end > start
        )
        title = " ".join("".join(self._collected["title"]).split()) or next(filter(None, headings), "")
        return Document(
            type="html",
            text="".join(self._parts),
            title=title[:_MAX_HEADING],
            sections=sections,
            has_own_lines=False,
        )
