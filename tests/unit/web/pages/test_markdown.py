"""Markdown of answers: rendered without anything that one could put on the page."""

from html.parser import HTMLParser

from coreloop.web.pages.markdown import MAX_CHARS, render_answer, render_line, render_marked
from rows import each_row

TEXT = {"p", "ul", "ol", "li", "blockquote", "em", "strong"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
ALLOWED = TEXT | TABLE | {"code", "pre", "br", "mark"}
HOSTILE = {
    "raw HTML": "<script>alert(1)</script> <img src=x onerror=alert(1)>",
    "a link": "[go](javascript:alert(1)) [out](https://evil.example)",
    "an image": "![seen](https://evil.example/pixel.png)",
    "an autolink": "<https://evil.example>",
    "a reference": "[a][b]\n\n[b]: https://evil.example 'title'",
    "a fence with a language": '```" onclick=alert(1)\nx\n```',
    "entities": "&lt;script&gt; &#60;b&#62;",
    "our own marks": "a \ue000b\ue001 c",
    "an invisible character": "a\u202eb",
}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.seen, self.attributes = list[str](), set[str](), list[tuple[str, str | None]]()
        self.is_nested = True
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.is_nested &= bool(self.open) and self.open.pop() == tag


@each_row("text", HOSTILE.values())
def test_an_answer_has_no_links_but_to_its_sources(text: str):
    html = render_answer(f"{text} [1] [2]", {1})
    tags = Tags(html)
    assert tags.seen <= ALLOWED | {"a"}
    assert set(tags.attributes) <= {("href", "#source-1")}
    assert "#source-1" in html or "```" in text


@each_row("text", HOSTILE.values())
def test_a_line_has_no_links_and_no_blocks(text: str):
    tags = Tags(render_line(text))
    assert tags.seen <= {"em", "strong", "code"}
    assert tags.attributes == []
    assert render_line("- `pause` is\n*late*") == "- <code>pause</code> is <em>late</em>"


@each_row("text", [*HOSTILE.values(), "| a | b |\n|---|---|\n| c | d |\n", "- a\n- b\n\n## c\n"])
def test_a_passage_has_its_marked_sentence_and_no_markup_of_its_own(text: str):
    for at in range(0, len(text), 7):
        tags = Tags(html := render_marked(text[:at], text[at : at + 9], text[at + 9 :]))
        assert tags.is_nested, html
        assert (tags.seen <= ALLOWED, tags.attributes) == (True, []), html
    assert "<li><mark>9 km</mark></li>" in render_marked("# Han\n\n", "- 9 km", "")


def test_an_endless_answer_is_left_as_text():
    assert render_answer("*a*" * MAX_CHARS, ()) == f"<pre>{'*a*' * MAX_CHARS}</pre>"
