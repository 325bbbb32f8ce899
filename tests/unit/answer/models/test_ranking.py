"""Which sentence answers a question."""

from bounded import bounded
from coreloop.answer.models.ranking import ANSWER_AT, rank_sentences
from coreloop.answer.models.sentences import Sentence
from rows import each_row


def ranked(question: str, *texts: str) -> list[str]:
    return [one.sentence.text for one in rank_sentences(question, [Sentence(1, text) for text in texts])]


def test_the_sentence_with_the_questions_words_is_first():
    texts = ("서울은 수도이다.", "서울의 인구는 940만이다.", "부산의 인구는 330만이다.", "날씨가 좋다.")
    assert ranked("서울의 인구는 얼마인가요?", *texts)[0] == texts[1]
    assert texts[3] not in ranked("서울의 인구는 얼마인가요?", *texts)


def test_a_rare_word_counts_more_than_a_common_one():
    texts = ("Acme sells anvils.", "Acme was founded early.", "Acme is large.", "Anvils are heavy.")
    assert ranked("acme anvils heavy", *texts)[0] == texts[3]


def test_a_number_is_a_word():
    texts = ("Revenue in 2024 was 5.", "Revenue in 2025 was 4.")
    assert ranked("revenue in 2025", *texts)[0] == texts[1]


def test_a_korean_word_is_found_inside_a_longer_one():
    assert ranked("이익률", "영업이익률이 올랐다.") == ["영업이익률이 올랐다."]


def test_a_sentence_answers_in_a_synonym_of_the_asked_word():
    (best, *_) = rank_sentences(
        "How do I delete an account?",
        [Sentence(1, "An account has a name."), Sentence(1, "The button removes an account.")],
    )
    assert best.sentence.text == "The button removes an account."
    assert best.features["letters"] == 1.0


def test_a_question_without_words_ranks_nothing():
    assert ranked("?", "서울이다.") == []


def best_score(question: str, *texts: str) -> float:
    return max(
        (one.score for one in rank_sentences(question, [Sentence(1, text) for text in texts])), default=0
    )


PARAGRAPH = (
    "임종석은 1989년 3월 여의도 시위를 주도한 혐의로 지명수배되었다.",
    "경찰은 12월 18일 경희대학교 학생회관에서 그를 검거했다.",
    "임종석은 학생회장 선거에서 상대 후보를 이겼다.",
)


def test_a_question_about_something_else_stays_below_the_threshold():
    assert best_score("임종석이 여의도 시위를 주도한 혐의로 지명수배된 연도는?", *PARAGRAPH) >= ANSWER_AT
    assert best_score("아폴로 11호가 달에 착륙한 연도는?", *PARAGRAPH) < ANSWER_AT


@each_row(
    ("question", "texts", "kind"),
    [
        ("서울이 수도가 된 연도는?", ("서울은 수도이다.",), -1.0),
        ("서울이 수도가 된 연도는?", ("서울은 1394년에 수도가 되었다.",), 1.0),
        ("1394년에 서울이 수도가 된 것은 몇 월인가?", ("서울은 1394년에 수도가 되었다.",), -1.0),
        ("서울의 구는 몇 개인가?", ("서울에는 25개 구가 있다.",), 1.0),
        ("When did Seoul become the capital?", ("Seoul became the capital in 1394.",), 1.0),
        ("What changes when the capital moves?", ("The capital moves with the king.",), 0.0),
        ("서울의 시장은 누구인가?", ("서울의 시장은 홍길동이다.",), 0.0),
    ],
    ids=[
        "no date",
        "a date",
        "only the date of the question",
        "a count",
        "English",
        "a condition",
        "asks for neither",
    ],
)
def test_a_date_or_count_that_is_asked_for_counts(question: str, texts: tuple[str, ...], kind: float):
    (ranked_sentence,) = rank_sentences(question, [Sentence(1, text) for text in texts])
    assert ranked_sentence.features["kind"] == kind


@each_row(
    ("question", "text"),
    [
        ("When is the deadline of the pilot project?", "The deadline of the pilot project is Friday."),
        ("When does the kitchen close?", "The kitchen closes at noon."),
        ("How long does a refund take?", "A refund takes 5 working days."),
        ("마감은 언제입니까?", "마감은 금요일입니다."),
        ("행사는 언제 끝납니까?", "행사는 자정에 끝납니다."),
    ],
)
def test_a_day_of_the_week_a_time_of_the_day_or_a_span_answers_when(question: str, text: str):
    assert best_score(question, text) >= ANSWER_AT


@each_row(
    ("question", "text"),
    [
        ("How long does a refund take?", "A refund takes some effort."),
        ("How long is the Han river?", "The Han river is wide."),
    ],
)
def test_a_length_is_not_answered_by_something_else(question: str, text: str):
    assert best_score(question, text) < ANSWER_AT


def test_the_first_source_and_the_sentence_before_count():
    sentences = [
        Sentence(1, "한빛전자는 대전에 있다."),
        Sentence(1, "설립자는 김하늘이다."),
        Sentence(2, "설립자는 김하늘이다."),
    ]
    found = rank_sentences("한빛전자의 설립자는 누구인가?", sentences)
    ranks = {one.sentence: one.features for one in found}
    assert ranks[sentences[1]]["before"] > ranks[sentences[2]]["before"] == 0
    assert ranks[sentences[1]]["rank"] > ranks[sentences[2]]["rank"]


@each_row("unit", ["가", "a ", "1", "1,", "몇 ", "년"])
def test_ranking_is_linear_on_hostile_texts(unit: str):
    hostile = (unit * 100_000)[:100_000]
    with bounded():
        rank_sentences(hostile[:2_000], [Sentence(1, hostile)])
