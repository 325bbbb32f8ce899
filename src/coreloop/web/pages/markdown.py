"""Markdown of answers as HTML: a few tags, all text escaped, no links but to cited sources."""

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from markupsafe import escape as escape_html

from coreloop.web.pages.charts import escape

MAX_CHARS: Final = 10_000
"""Of an answer that is rendered; a longer one is shown as text."""
_BEGIN, _END = "\ue000", "\ue001"
"""Around a marked sentence while it is rendered; those of a text are escaped."""
_CITATION: Final = re.compile(r"<code>.*?</code>|\[([0-9]{1,9})\]", re.DOTALL)


def render_answer(text: str, numbers: Collection[int]) -> Markup:
    """Render an answer, whose lines stay lines, with links to its sources; as text if it is too long."""
    if len(text) > MAX_CHARS:
        return Markup("<pre>{}</pre>").format(escape(text))
    return _linked(_written(_parser().parse(escape(text)), breaks=True), numbers)


def render_line(text: str, numbers: Collection[int] = ()) -> Markup:
    """Render one line, such as a finding: code, emphasis, links to sources, and else text."""
    line = escape(" ".join(text.split())[:MAX_CHARS])
    return _linked(_written(_parser().parseInline(line), breaks=False), numbers)


def render_marked(before: str, marked: str, after: str) -> Markup:
    """Render a passage with its marked sentence, "" for none; as text if it is too long."""
    bare = marked.lstrip(" \t\r\n|#>*+-")
    lead, sentence = marked[: len(marked) - len(bare)], bare.rstrip(" \n|")
    tail = marked[len(lead) + len(sentence) :]
    parts = [*map(escape, (before + lead, sentence, tail + after))]
    if sum(map(len, parts)) > MAX_CHARS:
        return Markup("{}<mark>{}</mark>{}").format(*parts)
    text = f"{parts[0]}{_BEGIN}{parts[1]}{_END}{parts[2]}" if sentence else "".join(parts)
    html = _written(_parser().parse(text), breaks=True)
    start, end = html.find(_BEGIN), html.find(_END)
    if 0 <= start < end:
        inner = re.sub(r"((?:<[^<>]*>\s*)+)", r"</mark>\1<mark>", html[start + 1 : end])
        html = f"{html[:start]}<mark>{inner}</mark>{html[end + 1 :]}"
    return Markup(re.sub(f"[{_BEGIN}{_END}]", "", html))


def _linked(html: str, numbers: Collection[int]) -> Markup:
    def link(match: re.Match[str]) -> str:
        is_cited = match[1] is not None and int(match[1]) in numbers
        return f'<a href="#source-{int(match[1])}">{match[0]}</a>' if is_cited else match[0]

    return Markup(_CITATION.sub(link, html))


def _written(tokens: list[Token], *, breaks: bool) -> str:
    for token in tokens:
        token.info = ""
        for part in (token, *(token.children or ())):
            part.attrs = {}  # no addresses, styles or classes of others
    html = _parser().renderer.render(tokens, _parser().options, {"breaks": breaks})
    return str(html)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable("table").disable("reference")  # "[1]: a text" would vanish
    for name, html in {
        "heading_open": "<p><strong>",
        "heading_close": "</strong></p>\n",
        "link_open": "",
        "link_close": "",
    }.items():
        parser.add_render_rule(name, lambda *_, html=html: html)
    parser.add_render_rule("image", lambda _, tokens, at, *__: str(escape_html(tokens[at].content)))
    parser.add_render_rule("softbreak", lambda *given: "<br>\n" if given[-1]["breaks"] else "\n")
    return parser
