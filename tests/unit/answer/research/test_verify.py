"""Verification: a sentence stays if a source that exists says so, whatever the model or a page wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.answer.models.contracts import ReportedFinding
from coreloop.answer.research.research_state import Knowledge, ReadSource
from coreloop.answer.research.verify import check_answer, check_findings, cited_sentences
from coreloop.runs.state import SubQuestion
from researching import source
from rows import each_row

TEXTS = (
    "The Han river is 494 kilometres long. It flows through Seoul.",
    "Seoul had 9.4 million inhabitants in 2023.",
)
KNOWN = Knowledge(
    sources=[ReadSource(n, source(text), "one.example", "q", 1) for n, text in enumerate(TEXTS, 1)]
)
PARTS = [SubQuestion("q1", "How long is the Han river?"), SubQuestion("q2", "How many people live in Seoul?")]


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
    ],
    ids=[
        *("before the end", "behind the end", "a list", "one of two", "no such source", "uncited"),
        *("another number", "negation", "another name", "another date"),
    ],
)
def test_only_sentences_that_their_source_says_stay(answer: str, sentences: list[str]):
    checked = check_answer(answer, KNOWN)
    assert list(checked.sentences) == sentences
    assert len(checked.dropped) >= (not sentences)


@given(st.text(alphabet=st.sampled_from("The Han 494.[]1,29 \n-가다!\ue000\ue001"), max_size=80))
def test_no_answer_cites_what_does_not_exist(answer: str):
    checked = check_answer(answer, KNOWN)
    assert set(checked.cited) <= {1, 2}
    assert len(checked.sentences) <= len(list(cited_sentences(answer))) + len(answer.splitlines())


def test_findings_answer_what_they_name():
    reported = [
        ReportedFinding(text=TEXTS[1], sources=("[2]",), answers=("How many people live in Seoul?",)),
        ReportedFinding(text="It flows through Seoul.", sources=("1",), answers=("q1", "q9")),
        ReportedFinding(text="It is green.", sources=("[1]",)),
        ReportedFinding(text="It flows through Seoul.", sources=("https://one.example",)),
    ]
    found, dropped = check_findings(reported, KNOWN, PARTS, iteration=3)
    assert [(one.sources, one.answers) for one in found] == [((2,), ("q2",)), ((1,), ("q1",))]
    assert [one.reason for one in dropped][1] == "cites no source"


@pytest.mark.slow
@each_row(
    "text",
    [
        " " * 500_000,
        "[1" * 250_000,
        "[1, " * 100_000,
        "." * 500_000,
        '."' * 200_000,
        "a. [1] " * 60_000,
        "\n" * 500_000,
    ],
    ids=["spaces", "brackets", "commas", "dots", "quotes", "sentences", "lines"],
)
def test_an_answer_of_any_length_is_checked_in_bounded_time(text: str):
    with bounded():
        check_answer(text, KNOWN)
