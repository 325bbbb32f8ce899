"""What a question asks, and the words to search for."""

from coreloop.answer.models.question_parts import question_parts
from coreloop.answer.text.terms import search_words
from rows import each_row


@each_row(
    ("question", "parts"),
    [
        ("Why?", ("Why?",)),
        ("What is it? Who made it?", ("What is it?", "Who made it?")),
        ("What is it, and who made it?", ("What is it", "who made it?")),
        ("salt and pepper prices?", ("salt and pepper prices?",)),
        ("서울의 인구는 그리고 부산의 인구는?", ("서울의 인구는", "부산의 인구는?")),
        ("a? b? c? d? e? f? a?", ("a?", "b?", "c?", "d?", "e?")),
        ("  ", ()),
    ],
)
def test_a_question_is_split_into_its_parts(question: str, parts: tuple[str, ...]):
    assert question_parts(question) == parts


@each_row(
    ("question", "words"),
    [
        ("삼성전자의 2024년 영업이익은 왜 줄었나요?", "삼성전자 2024년 영업이익 줄었나요"),
        ("회의는 어디에서 하나요?", "회의"),
        ("What is the C++ API's rate limit in 2.5?", "C++ API rate limit 2.5"),
        ("JSON으로 저장", "JSON 저장"),
        ("", ""),
    ],
)
def test_words_to_search_are_the_questions_own(question: str, words: str):
    assert " ".join(search_words(question)) == words
