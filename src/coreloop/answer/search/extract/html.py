"""HTML: the visible text as Markdown, a section per heading.

One pass of expressions: the parsers that we tried take quadratic time or worse for hostile pages.
"""

import html
import re
from dataclasses import replace
from typing import Final

from coreloop.answer.search.extract.document import Document, clean_text
from coreloop.answer.search.extract.file_date import date_in_name
from coreloop.answer.search.extract.text import marked, without_lines

_UNSEEN: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)
      | <(?P<name>script|style|textarea|template|noscript|svg|math|nav|footer|aside|form|title)\b
        .*?(?:</(?P=name)\b[^>]*+>?|\Z)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span"}
    | {"strong", "sub", "sup", "time", "u", "var", "wbr"}
)
# <p class="a > b">, </p>, <!doctype html>; a quoted value is bounded, so that an open quote stays cheap
_PART: Final = re.compile(
    r"""
    <(?P<closes>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*+) (?: [^<>"'] | "[^"]{0,2000}" | '[^']{0,2000}' | ["'] )*+ >
    | (?P<other> <[!?/][^<>]*> ) | [^<]++ | <""",
    re.VERBOSE,
)
_TITLE: Final = re.compile(r"<title\b[^<>]*+>([^<]*+)", re.IGNORECASE)
# <meta property="article:published_time" content="2026-10-30T09:00:00+09:00">
_META: Final = re.compile(r"<meta\b(?=[^<>]{0,500}(?:published|modified|date))[^<>]{0,500}+>", re.IGNORECASE)
_LONG_NUMBER: Final = re.compile(r"&#[0-9]{8,}")  # beyond Unicode, and int() refuses thousands of digits


def extract_html(page: str) -> Document:
    """Read an HTML page; offsets are those of its visible text."""
    shown = "".join(map(_shown, _PART.finditer(_UNSEEN.sub(" ", page))))
    text = re.sub(r" ?\n[ \n]*+", lambda gap: "\n" * min(gap[0].count("\n"), 2), re.sub(" {2,}", " ", shown))
    text = re.sub(r"^(#{1,6})\n+(?=[^\n#])", r"\1 ", text, flags=re.MULTILINE)  # <h2><div>Title</div></h2>
    document, title = marked(text, "markdown"), _TITLE.search(page)
    named = " ".join(_plain(title[1]).split())[:200] if title else document.title
    dates = (date_in_name(tag[0]) for tag in _META.finditer(page))
    return replace(without_lines(document, "html"), title=named, published=next(filter(None, dates), ""))


def _shown(part: re.Match[str]) -> str:
    """Return what is seen of a text or a tag: a block begins a line, a heading and a paragraph two."""
    if part["name"] is None:
        return "" if part["other"] else re.sub(r"\s+", " ", _plain(part[0]))
    name = part["name"].lower()
    if name in {"h1", "h2", "h3", "h4", "h5", "h6"}:
        return "\n\n" if part["closes"] else f"\n\n{'#' * int(name[1])} "
    if name in {"td", "th"}:
        return " | " if part["closes"] else ""
    if name == "tr":
        return "" if part["closes"] else "\n| "
    if name == "pre":
        return "\n```\n"
    return "" if name in _INLINE else "\n\n" if name == "p" else "\n"


def _plain(text: str) -> str:
    return clean_text(html.unescape(_LONG_NUMBER.sub("", text)))
