"""Markdown of sources and answers as HTML: a few tags, all text escaped, no links but to cited sources."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from markupsafe import escape as escape_html

from coreloop.web.pages.formats import escape

MAX_CHARS: Final = 10_000
"""Of a passage or an answer that is rendered; a longer one is shown as text."""
_START, _END = "\ue000", "\ue001"
"""Private characters around the cited sentence while it is parsed; the source's own are taken out."""
_SPLIT: Final = re.compile(f"([{_START}{_END}])")
_CITATION: Final = re.compile(r"\[([0-9]{1,9})\]")
_BLOCK: Final = re.compile(r"(?:[ \t]*(?:[-*+>]|\d{1,9}[.)]|#{1,6})[ \t]+)*")  # "- ", "> 1. ", "## "
_TAGS: Final = frozenset(
    {"p", "ul", "ol", "li", "blockquote", "em", "strong", "table", "thead", "tbody", "tr", "th", "td"}
)
_HEADING: Final = {1: "<p><strong>", -1: "</strong></p>"}


def is_markdown(location: str) -> bool:
    """Whether a source's address is that of a Markdown file."""
    return location.lower().endswith((".md", ".markdown"))


def render_markdown(before: str, sentence: str, after: str) -> Markup | None:
    """Render a passage with its cited sentence marked; None if it is too long.

    Links and images are their text, raw HTML is shown as text, headings are bold paragraphs: the page's own
    outline and policy stay as they are.
    """
    if len(before) + len(sentence) + len(after) > MAX_CHARS:
        return None
    before, sentence, after = (_SPLIT.sub("", text) for text in (before, sentence, after))
    begin = _BLOCK.match(sentence)
    at = begin.end() if begin is not None and not before.rpartition("\n")[2].strip() else 0
    marked = f"{sentence[:at]}{_START}{sentence[at:]}{_END}" if sentence else ""
    tokens = _parser().parse(f"{before}{marked}{after}")
    return Markup("".join(_Writer().write(tokens)))


def render_answer(text: str, numbers: Collection[int]) -> Markup | None:
    """Render an answer, whose lines stay lines, with links to its sources; None if it is too long."""
    if len(text) > MAX_CHARS:
        return None
    tokens = _parser().parse(_SPLIT.sub("", text))
    return Markup("".join(_Writer(numbers=numbers, newline="<br>").write(tokens)))


def render_line(text: str) -> Markup:
    """Render one line, such as a finding: code, emphasis, and else text."""
    line = " ".join(_SPLIT.sub("", text).split())
    return Markup("".join(_Writer().write(_parser().parseInline(line[:MAX_CHARS]))))


@cache
def _parser() -> MarkdownIt:
    commonmark = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    return commonmark.enable("table").disable("reference")  # "[1]: a text" would vanish


@dataclass(slots=True)
class _Writer:
    """Writes tokens; a mark never crosses a tag, since it is closed and opened around each text."""

    is_marked: bool = False
    numbers: Collection[int] = ()
    newline: str = "\n"

    def write(self, tokens: Sequence[Token]) -> Iterator[str]:
        for token in tokens:
            if token.type == "image":
                yield self._text(token.content)
            elif token.children:
                yield from self.write(token.children)
            else:
                yield self._one(token)

    def _one(self, token: Token) -> str:
        if token.type in {"softbreak", "hardbreak"}:
            return self.newline if token.type == "softbreak" else "<br>"
        if token.type in {"fence", "code_block"}:
            return f'<pre class="code"><code>{self._text(token.content)}</code></pre>'
        if token.type == "code_inline":
            return f"<code>{self._text(token.content)}</code>"
        if token.type in {"heading_open", "heading_close"}:
            return _HEADING[token.nesting]
        if token.nesting and token.tag in _TAGS:
            return "" if token.hidden else f"<{'/' * (token.nesting < 0)}{token.tag}>"
        return _CITATION.sub(self._citation, self._text(token.content))

    def _citation(self, match: re.Match[str]) -> str:
        number = int(match[1])
        return f'<a href="#source-{number}">{match[0]}</a>' if number in self.numbers else match[0]

    def _text(self, text: str) -> str:
        parts = []
        for part in _SPLIT.split(text):
            if part in {_START, _END}:
                self.is_marked = part == _START
            elif part:
                shown = escape_html(escape(part))
                parts.append(f"<mark>{shown}</mark>" if self.is_marked and part.strip() else str(shown))
        return "".join(parts)
