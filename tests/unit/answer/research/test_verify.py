"""Verification: a sentence stays if a source that exists says so, whatever the model or a page wrote."""

import pytest

from bounded import bounded
from coreloop.answer.research.research_state import Attempt, ReadSource
from coreloop.answer.research.verify import Grounds, check_answer
from researching import source
from rows import each_row

TEXTS = (
    "The Han river is 494 kilometres long. It flows through Seoul.",
    "Seoul had 9.4 million inhabitants in 2023.",
    "Ulm is far. A return is open for 14 days. Fresh food closes earlier. We drive to shops, not by night.",
    "| town | keeper |\n|---|---|\n| Busan | Oh |\n| Ulsan | Han |\n",
)
KNOWN = [ReadSource(n, source(text), "one.example", "q", 1) for n, text in enumerate(TEXTS, 1)]


def checked_answer(text: str) -> Attempt:
    return check_answer(Attempt(number=1, model="m"), text, Grounds("", KNOWN))


@each_row(
    ("answer", "sentences"),
    [
        ("The Han river is 494 kilometres long [1].", ["The Han river is 494 kilometres long. [1]"]),
        ("The Han river is 494 kilometres long. [1]", ["The Han river is 494 kilometres long. [1]"]),
        ("- The Han river is 494 kilometres long [1, 2].", ["The Han river is 494 kilometres long. [1]"]),
        ("It flows through Seoul. [1] It is old. [1]", ["It flows through Seoul. [1]"]),
        ("The Han river is 494 kilometres long [99].", []),
        ("The Han river is 494 kilometres long.", []),
        ("The Han river is 514 kilometres long [1].", []),
        ("The Han river is not 494 kilometres long [1].", []),
        ("In 2023 Busan had 9.4 million inhabitants [2].", []),
        ("Seoul had 9.4 million inhabitants in 2019 [2].", []),
        ("Fresh food has a return of 14 days [3].", []),
        ("We drive to shops in Ulm [3].", []),
        ("The keeper of Ulsan is Han [4].", ["The keeper of Ulsan is Han. [4]"]),
        ("The keeper of Ulsan is Oh [4].", []),
    ],
    ids=[
        *("before the end", "behind the end", "a list", "one of two", "no such source", "uncited"),
        *("another number", "negation", "another name", "another date"),
        *("a number of something else", "a place of something else", "a row", "another row"),
    ],
)
def test_only_sentences_that_their_source_says_stay(answer: str, sentences: list[str]):
    checked = checked_answer(answer)
    assert list(checked.sentences) == sentences
    assert len(checked.dropped) >= (not sentences)


@pytest.mark.slow
@each_row(
    "text",
    [" " * 9**6, "[1" * 9**6, "[1, " * 9**5, "." * 9**6, '."' * 9**5, "a. [1] " * 9**5, "\n" * 9**6],
    ids=["spaces", "brackets", "commas", "dots", "quotes", "sentences", "lines"],
)
def test_an_answer_of_any_length_is_checked_in_bounded_time(text: str):
    with bounded():
        checked_answer(text)
