"""Near-duplicate questions, against comparing every pair."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.sequences import distinct_questions
from logs import word
from rows import each_row

WORDS = ["가", "나", "다", "라", "마", "바", "사", "아", "자", "차"]


def _all_pairs(questions: list[str]) -> list[int]:
    distinct: list[int] = []
    for index, question in enumerate(questions):
        words = _words(question)
        if not any(_jaccard(words, _words(questions[other])) >= 0.8 for other in distinct):
            distinct.append(index)
    return distinct


def _words(question: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", question).lower()
    plain = "".join(char for char in folded if char.isalnum() or char.isspace())
    return set(re.sub(r"[0-9a-z]*[0-9][0-9a-z]*", "0", plain).split())


def _jaccard(words: set[str], other: set[str]) -> float:
    return len(words & other) / len(words | other) if words | other else 1.0


def _n(count: int) -> str:
    return " ".join(WORDS[:count])


@each_row(
    ("questions", "distinct"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["가 나", "가 나"], [0], id="the same"),
        pytest.param(["가 나", "나 가 가!"], [0], id="order, repeats and signs say nothing"),
        pytest.param(["ROE of X", "ｒｏｅ OF x"], [0], id="case and width say nothing"),
        pytest.param([_n(4), _n(5)], [0], id="four of five is 0.8: near"),
        pytest.param([_n(3), _n(4)], [0, 1], id="three of four is 0.75: different"),
        pytest.param([_n(8), _n(10)], [0], id="eight of ten is 0.8: near"),
        pytest.param([_n(7), _n(9)], [0, 1], id="seven of nine is 0.78: different"),
        pytest.param(["", "!?", " "], [0], id="without a word all are the same"),
        pytest.param(["", "가"], [0, 1], id="without a word is not with one"),
        pytest.param([_n(4), _n(5), _n(6)], [0, 2], id="near to one that was dropped is not near"),
        pytest.param([_n(6), _n(5), _n(4)], [0, 2], id="the order decides"),
        pytest.param(["where is order A1000", "where is order #A1001?"], [0], id="ids say nothing"),
        pytest.param(["A1000은 어디에", "B77은 어디에"], [0], id="an id before a particle says nothing"),
        pytest.param(
            ["up 3.5 % on 2026-04-25", "up 12 % on 2025/1/2"], [0], id="numbers and days say nothing"
        ),
        pytest.param(["2026년 매출", "2025년 매출"], [0], id="a year says nothing"),
        pytest.param(["매출 2026", "매출"], [0, 1], id="that there is a number does"),
    ],
)
def test_near_questions_count_once(questions: list[str], distinct: list[int]):
    assert distinct_questions(questions) == distinct


QUESTIONS = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
NEAR = st.lists(st.sets(st.integers(0, 11), max_size=2), max_size=25).map(
    lambda gaps: [" ".join(f"w{chr(97 + n)}" for n in range(12) if n not in gap) for gap in gaps]
)


@given(
    questions=st.one_of(st.lists(QUESTIONS, max_size=30), NEAR, st.lists(st.text(max_size=12), max_size=10))
)
def test_the_result_is_the_same_as_comparing_every_pair(questions: list[str]):
    assert distinct_questions(questions) == _all_pairs(questions)


def test_many_questions_that_share_a_word_are_still_told_apart():
    questions = [f"분석 회사{word(number)} 지표{word(number)}" for number in range(5000)]
    assert distinct_questions(questions + questions) == list(range(5000))
