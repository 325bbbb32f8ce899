"""Queries in other words and from other angles."""

from coreloop.answer.research.next_queries import COUNTER_EVIDENCE, angled, reword
from rows import each_row


@each_row(
    ("query", "forms"),
    [
        (
            "causes of price increase",
            {"broader": "causes price", "other angle": "causes price increase definition"},
        ),
        ("price", {"synonyms": "cost", "other angle": "price definition"}),
        ("삼성전자 매출 감소", {"synonyms": "삼성전자 매출 하락", "broader": "삼성전자 매출"}),
    ],
)
def test_a_query_is_reworded_by_synonyms_fewer_words_or_another_angle(query: str, forms: dict[str, str]):
    made = {how: text for text, how in reword(query)}
    assert {how: made.get(how) for how in forms} == forms


def test_an_angle_takes_the_next_word_that_was_not_tried():
    first = angled("river length", (COUNTER_EVIDENCE,))
    assert first == "river length criticism"
    assert angled("river length", (COUNTER_EVIDENCE,), [first]) == "river length problem"
    assert angled("강의 길이는?", (COUNTER_EVIDENCE,)) == "강의 길이 반론"
