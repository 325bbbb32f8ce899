import pytest

from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.html import extract_html
from linear import assert_linear
from rows import each_row
from weekly import WEEKLY

PAGE = """<!doctype html><html><head><title>Report &amp; outlook</title>
<style>p { color: red }</style><script>var hidden = "1 < 2";</script></head>
<body><nav>Home | About</nav>
<h1>Third <em>quarter</em></h1><p>Revenue rose by<b> 8 %</b>.</p>
<h2><div>Costs</div></h2>
<table><tr><td>Wages</td><td>12</td></tr></table>
<footer>Imprint</footer></body></html>"""


def read(page: str) -> Document:
    document = extract_html(page)
    assert isinstance(document, Document)
    return document


def test_the_visible_text_is_read_by_heading():
    document = read(PAGE)
    assert document.title == "Report & outlook"
    assert [section.heading for section in document.sections][-2:] == [
        "Third quarter",
        "Third quarter › Costs",
    ]
    first, costs = (document.text[part.start : part.end].split() for part in document.sections[-2:])
    assert " ".join(first) == "# Third quarter Revenue rose by 8 %."
    assert " ".join(costs) == "## Costs | Wages | 12 |"


def test_what_readers_do_not_see_is_left_out():
    text = read(PAGE).text
    for word in ("hidden", "color", "Imprint", "About"):
        assert word not in text


HOSTILE = {
    "nested": "<div>" * 200_000 + "deep",
    "open": "<" * 300_000,
    "comments": "<!--" * 100_000,
    "tags": "<a " * 100_000,
    "quotes": "<a b='" * 50_000,
    "mixed quotes": "<a \"'" * 50_000,
    "entities": "&#x" * 100_000,
    "a long number": f"&#{'9' * 10_000};",
    "ends": "</" * 200_000,
    "scripts": "<script>" * 100_000,
    "headings": "<h1>" * 50_000,
    "marks": "<h1>&#0;&#1;&#xE000;\ue000</h1>" * 1_000,
}


def extract(page: str) -> None:
    assert isinstance(extract_html(page), Document)


@pytest.mark.slow
@each_row("page", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_take_linear_time(page: str):
    largest = [len(page)] if WEEKLY else []
    assert_linear(extract, lambda size: page[:size], sizes=(len(page) // 100, len(page) // 10, *largest))
