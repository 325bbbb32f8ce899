"""Each regular expression on a stranger's text takes time in proportion to it.

At 10 and 100 KB, weekly at 1,000.

Functions rather than expressions: what bounds a text first makes a slow expression harmless.
"""

from collections.abc import Callable
from typing import Any

import pytest

from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.dates import split_dates
from coreloop.answer.models.question_parts import question_parts, question_tier, search_words
from coreloop.answer.models.question_subject import read_asked
from coreloop.answer.models.ranking import rank_sentences, text_letters
from coreloop.answer.models.replies import MalformedReplyError, read_reply
from coreloop.answer.models.sentences import Sentence, read_sentences
from coreloop.answer.research.claim import read_statement
from coreloop.answer.research.quantities import read_spans, split_quantities
from coreloop.answer.research.research_state import Knowledge
from coreloop.answer.research.support import check_support
from coreloop.answer.research.verify import check_answer, cited_sentences, without_citations
from coreloop.answer.search.extract.ddl import read_columns
from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.docstring_items import read_docstring
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.markdown import extract_markdown
from coreloop.answer.search.extract.plain import extract_plain
from coreloop.answer.search.extract.python import extract_python
from coreloop.answer.search.extract.schemas import extract_schema
from coreloop.answer.search.index.terms import match_expression, passage_words, word_pattern
from coreloop.answer.search.page.robots import _with_few_groups
from coreloop.answer.search.web_results import date_in
from coreloop.base.categories import Categories
from coreloop.base.errors import CoreloopError
from coreloop.base.language.guards import read_guards
from coreloop.base.language.words import read_query
from coreloop.base.text import linked_markdown, printable, wrapped
from coreloop.observe.reading.error_texts import template
from coreloop.web.pages.frame import choose_language
from linear import assert_linear, cases, repeated

SAID = "The Han river is 494 kilometres long."
Work = Callable[[str], object]


def of_bytes(work: Callable[[bytes], object]) -> Work:
    return lambda text: work(text.encode())


def refusing(work: Work) -> Work:
    """Work that may refuse the text with an error of ours."""

    def refused(text: str) -> object:
        try:
            return work(text)
        except (CoreloopError, MalformedReplyError):
            return None

    return refused


_QUERY: Any = word_pattern("Han river a.b 강")
_CATEGORIES = Categories([("A", ("order refund", "delivery", "환불", "roe"))])
WORKS: dict[str, tuple[Work, tuple[str, ...]]] = {
    "parts of a question": (question_parts, ("\u2028", ", ", " and ", "그리고 ", "? ")),
    "tier of a question": (question_tier, (" and ", "a b ")),
    "words of a question": (search_words, ("a.", "a-", "C+")),
    "what a question names": (read_asked.__wrapped__, ("A B ", "a&", "1,", "2024-", "Mar 1, ")),
    "dates": (split_dates, ("2024-", "2024년 ", "Mar ", "1월 ")),
    "a question's kind": (lambda text: rank_sentences(text, [Sentence(1, SAID, SAID)]), ("when ", "몇 ")),
    "letters": (text_letters, ("a ", "1,")),
    "sentences": (lambda text: read_sentences(1, "", text), ("```\n", "`", "~", "a. ", "Dr. ", "- ", "\n\n")),
    "a reply": (refusing(lambda text: read_reply(text, PlanResponse)), ("```a\n", "{", '{"a":', "[")),
    "a query": (read_query, ("a b ", "안 ")),
    "a query's guards": (read_guards, ("십", "a:", '"', "지 ")),
    "a query's expression": (match_expression, ("a ", '"')),
    "a query's pattern": (word_pattern, ("a ", ".")),
    "a query's words in a text": (lambda text: list(_QUERY.finditer(text)), ("han ", "rivers", "강", "a.")),
    "a category's words": (
        lambda text: (_CATEGORIES.label(text), _CATEGORIES.keywords(text)),
        ("refund ", "refunded", "order refund", "환불", "deliver"),
    ),
    "a passage's words": (lambda text: passage_words(text[:50], text), ("a ", "가1")),
    "Markdown": (of_bytes(extract_markdown), ("<!--", "---\n", "# ", "```\n", "title:\n")),
    "HTML": (of_bytes(extract_html), ("<", "<a b=", "<!--", "</a", "<script>", "&#1")),
    "plain text": (of_bytes(extract_plain), ("\r", "\u2028")),
    "Python": (of_bytes(extract_python), ("#a\n", "a=1\n", "def a():\n 1\n")),
    "a schema": (of_bytes(extract_schema), ('{"a":', "a: 1\n", "CREATE TABLE a (")),
    "SQL": (
        lambda text: list(read_columns(text)),
        ("[", "a'", "a int ", "'", "/*", "CREATE TABLE a (b int,", "(a b,"),
    ),
    "an encoding": (of_bytes(decode_text), ("\u200b", "\r")),
    "a docstring": (read_docstring, ("Args:\n  a: ", "a (", "    a:\n", "Parameters\n----\n")),
    "robots.txt": (lambda text: list(_with_few_groups(text.splitlines())), ("user-agent ", "user ", "-")),
    "a page's date": (date_in, ("2024-", "-")),
    "quantities": (split_quantities, ("1,", "1 ", "천", "1억 ", "$ ", "- ")),
    "spans": (read_spans, ("1 to ", "1 ~ ", "about ", "약 1")),
    "a statement": (read_statement, ("ﬁ", "A of ", "not a ", "안 ", "없", "A ")),
    "support by a source": (lambda text: check_support(SAID, [text]), ("a ", "A B ", "1 ")),
    "a claim": (lambda text: check_support(text, [SAID]), ("a ", "A B ", "1 ")),
    "an answer": (lambda text: check_answer(text, Knowledge()), (" [1", "[1]", ". ", "a. [1] ", "- ")),
    "its sentences": (lambda text: list(cited_sentences(text)), (" [1", "[1,", ". [1", "…")),
    "its citations": (without_citations, (" [1", "[1 ,", "[1,")),
    "an error": (template, ("@", "a://", "/", "'", "_", "1")),
    "escapes": (printable, ("\u200b", "\x00")),
    "Markdown of ours": (linked_markdown, ("https://", "@", "http://a.")),
    "lines for a terminal": (lambda text: wrapped(printable(text), 80), ("a ", "한 ")),
    "a browser's languages": (choose_language, (",", "ko;q=", ";")),
}


@pytest.mark.parametrize("unit", [" ", "\n ", ", ", " and"])
def test_the_parts_of_a_question_are_found_in_linear_time(unit: str):
    assert_linear(question_parts, repeated(unit, end="x"), sizes=(10_000, 100_000))


def test_the_measurement_finds_quadratic_work():
    def read_all(text: str) -> int:
        return (text * (len(text) // 10)).count("b")

    with pytest.raises(AssertionError, match="a byte of 20,000 costs"):
        assert_linear(read_all, repeated("a"), sizes=(2_000, 20_000))


@pytest.mark.slow
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
@pytest.mark.parametrize(("name", "unit"), cases(WORKS))
def test_a_text_of_a_stranger_takes_time_in_proportion(name: str, unit: str):
    work: Any = WORKS[name][0]
    assert_linear(work, repeated(unit, end="x"))
