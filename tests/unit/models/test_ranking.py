"""Which sentence answers a question."""

from coreloop.models.ranking import rank_sentences
from coreloop.models.sentences import Sentence


def ranked(question: str, *texts: str) -> list[str]:
    return [one.sentence.text for one in rank_sentences(question, [Sentence(1, text) for text in texts])]


def test_the_sentence_with_the_questions_words_is_first():
    texts = ("서울은 수도이다.", "서울의 인구는 940만이다.", "부산의 인구는 330만이다.", "날씨가 좋다.")
    assert ranked("서울의 인구는 얼마인가요?", *texts)[0] == texts[1]
    assert texts[3] not in ranked("서울의 인구는 얼마인가요?", *texts)


def test_a_rare_word_counts_more_than_a_common_one():
    texts = ("Acme sells anvils.", "Acme was founded early.", "Acme is large.", "Anvils are heavy.")
    assert ranked("anvils Acme heavy", *texts)[0] == texts[3]


def test_a_number_is_a_word():
    texts = ("Revenue in 2024 was 5.", "Revenue in 2025 was 4.")
    assert ranked("revenue in 2025", *texts)[0] == texts[1]


def test_a_korean_word_is_found_inside_a_longer_one():
    assert ranked("이익률", "영업이익률이 올랐다.") == ["영업이익률이 올랐다."]


def test_a_question_without_words_ranks_nothing():
    assert ranked("?", "서울이다.") == []
