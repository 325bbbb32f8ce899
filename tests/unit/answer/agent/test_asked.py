"""What answers a question: what it asks for, of its time, from a document that still holds."""

from pathlib import Path

from coreloop.answer.agent.believed_findings import is_about
from coreloop.answer.agent.plan import _with_open_part
from coreloop.answer.research.same_question import _asks_otherwise
from rows import each_row
from walking import LENGTH, finding, walk_in


@each_row(
    ("question", "text", "heading", "expected"),
    [
        ("2025년 3분기 매출은 얼마인가?", "2025년 3분기 매출은 1,284억 원이다.", "", True),
        ("2025년 3분기 매출은 얼마인가?", "2025년 3분기 대출중개 취급액은 8,740억 원이다.", "", False),
        ("2025년 3분기 매출은 얼마인가?", "2024년 3분기 매출은 1,085억 원이었다.", "", False),
        ("가온페이의 대표는 누구인가?", "가온페이는 자기자본으로 직접 대출하지 않습니다.", "", False),
        ("결제 장애의 원인은?", "원인은 데이터베이스 인증서 만료였다.", "결제 장애 보고서", True),
        ("결제 장애의 원인은?", "97분 동안 결제가 실패했다.", "결제 장애 보고서", False),
        ("상장 계획은?", "회사는 코스닥 상장을 검토하고 있다.", "", True),
        ("수수료를 인상할 것인가?", "회사는 수수료를 올리지 않겠다고 약속했다.", "", True),
        ("What is the length of the Han river?", LENGTH, "", True),
        ("Who was the CEO in 2023?", "The CEO was Kim in 2021.", "", False),
    ],
)
def test_an_answer_has_what_is_asked_and_its_time(question: str, text: str, heading: str, expected: bool):
    assert is_about(question, text, heading) is expected


@each_row(
    ("one", "other", "expected"),
    [
        ("가온페이는 흑자인가?", "가온페이는 적자인가?", True),
        ("수수료를 올리는가?", "수수료를 올리지 않는가?", True),
        ("가온페이는 흑자인가?", "가온페이는 흑자인가? 그리고 투자자는?", True),
        ("Did revenue rise?", "Did revenue fall?", True),
        ("토스의 매출은 얼마인가?", "토스 매출이 얼마예요?", False),
    ],
)
def test_an_opposite_question_is_another_one(one: str, other: str, expected: bool):
    assert _asks_otherwise(one, other) is expected


def test_a_document_that_was_replaced_answers_nothing(tmp_path: Path):
    old = f"# Lengths\n\nThis page was superseded by lengths-2.\n\n{LENGTH}\n"
    with walk_in(tmp_path, {"docs/han.md": old}) as walk:
        walk.plan()
        walk.read("docs/han.md")
        recorded = walk.record(finding(LENGTH, 1, "q1"))
    assert "says itself that it was replaced" in recorded.unbelieved[0].reason
    assert not any(part.is_settled for part in recorded.state.sub_questions)


def test_the_open_sub_question_that_is_ordered_is_searched_for(tmp_path: Path):
    from coreloop.answer.agent.plan import ProposedQuery

    with walk_in(tmp_path) as walk:
        walk.plan()
        kept = [ProposedQuery(f"other {n}", "web") for n in range(5)]
        own = ProposedQuery("length of the Han river", "web", part="q1")
        chosen = _with_open_part(walk.state, kept, [*kept, own])
    assert own in chosen
    assert len(chosen) == len(kept)
