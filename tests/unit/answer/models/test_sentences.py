"""Where sentences end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.answer.models.sentences import MAX_CHARS, read_sentences, split_sentences
from rows import each_row


@each_row(
    ("text", "sentences"),
    [
        ("서울은 수도이다. 한강이 흐른다.", ["서울은 수도이다.", "한강이 흐른다."]),
        ('그는 "아니." 라고 했다! 왜?', ['그는 "아니."', "라고 했다!", "왜?"]),
        ("Dr. Kim, e.g. in No. 5, paid 3.5 USD. Why?", ["Dr. Kim, e.g. in No. 5, paid 3.5 USD.", "Why?"]),
        (
            "Founded in Jan. 2024 by Dr. Kim, the firm Zeta Inc. sells lamps. It is in Ohio.",
            ["Founded in Jan. 2024 by Dr. Kim, the firm Zeta Inc. sells lamps.", "It is in Ohio."],
        ),
        (
            "Lamps, bulbs, etc. of Ace Co. Ltd. cost more, see pp. 5, Mr. J. Kim vs. Lee. In 2025. Why?",
            [
                "Lamps, bulbs, etc. of Ace Co. Ltd. cost more, see pp. 5, Mr. J. Kim vs. Lee.",
                "In 2025.",
                "Why?",
            ],
        ),
        ("설립했다. 2023년에 옮겼다.", ["설립했다.", "2023년에 옮겼다."]),
        ("서울이다.[3][12] 부산이다.[4]한국이다.", ["서울이다.", "부산이다.", "한국이다."]),
        ("서울은[3] 수도이다. 부산이다.", ["서울은[3] 수도이다.", "부산이다."]),
        ("# Title\n- one\n- two\n1. three\n\nfour", ["# Title", "- one", "- two", "1. three", "four"]),
        (
            "A line that a program wrapped at\nsome width goes on here. Next.",
            ["A line that a program wrapped at", "some width goes on here.", "Next."],
        ),
        (
            "A longer line, wrapped by a program at\nsome width, goes on here. Next.",
            ["A longer line, wrapped by a program at\nsome width, goes on here.", "Next."],
        ),
        ("", []),
        (" \n \n", []),
    ],
    ids=[
        "Korean",
        "quote",
        "abbreviations",
        "months and companies",
        "more abbreviations",
        "a Korean sentence before a number",
        "footnotes",
        "footnote inside",
        "lists",
        "short line",
        "wrapped",
        "empty",
        "blank",
    ],
)
def test_a_text_is_split_into_its_sentences(text: str, sentences: list[str]):
    assert split_sentences(text) == sentences


@given(st.text(alphabet=st.sampled_from("가a .!?\n-\"'[1]()\t"), max_size=600))
def test_a_sentence_is_a_part_of_the_text(text: str):
    sentences = split_sentences(text)
    assert all(sentence in text and sentence.strip() and len(sentence) <= MAX_CHARS for sentence in sentences)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["가", ". ", "a.", '."', "[1]", ".[1]", "\n", "- ", "a\n", "e.g. ", " "])
def test_splitting_is_linear_on_hostile_texts(unit: str):
    with bounded():
        split_sentences((unit * 500_000)[:500_000])


@each_row(
    "text",
    [
        "Before it.\n\n```python\nrun = open_run()\n```\n\nAfter it.",
        "run = open_run()\nrun.start()\n```\n\nBefore it.\n\nAfter it.",
        "run = open_run()\n```\n\nBefore it.\n\n```\nother = run\n```\n\nAfter it.",
        "Before it.\n\n```\nrun = open_run()\n```\nAfter it.",
        "Before it.\nAfter it.\n```python\nrun = open_run()",
    ],
    ids=["whole", "its end", "its end and another", "no language", "its beginning"],
)
def test_code_is_no_sentence_wherever_a_passage_was_cut(text: str):
    assert [sentence.text for sentence in read_sentences(1, "", text)] == ["Before it.", "After it."]
