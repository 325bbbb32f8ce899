from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from coreloop.answer.search.index.snippet import SNIPPET_CHARS, Snippet, cut_snippet
from coreloop.answer.search.source import Source


def source(text: str, start: int = 0) -> Source:
    return Source(
        title="t", location="l", type="text", text=text, start=start, retrieved_at=datetime.now(UTC)
    )


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_the_words_of_the_query_are_marked_with_their_endings():
    snippet = cut_snippet(source("A run is stopped. 반도체는 오른다."), "stop 반도체의")
    assert marked(snippet) == ["stopped", "반도체"]


def test_the_part_with_most_words_is_shown():
    text = "revenue " + "filler " * 100 + "the revenue of the third quarter fell " + "filler " * 100
    snippet = cut_snippet(source(text, start=1_000), "third quarter revenue")
    assert marked(snippet) == ["revenue", "third", "quarter"]
    assert text[snippet.start - 1_000 :].startswith(snippet.text)


def test_without_words_the_beginning_is_shown():
    assert cut_snippet(source("x" * 500), "?!") == Snippet("x" * SNIPPET_CHARS, 0, ())


@given(st.text(), st.text())
def test_marks_lie_in_the_snippet_in_order(text: str, query: str):
    snippet = cut_snippet(source(text), query)
    places = [place for mark in snippet.marks for place in mark]
    assert places == sorted(places)
    assert len(snippet.text) <= SNIPPET_CHARS
    assert all(0 <= place <= len(snippet.text) for place in places)
