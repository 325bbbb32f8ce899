"""Which question is another one, and which open sub-question is searched for."""

from pathlib import Path

from coreloop.answer.agent.plan import _with_open_part
from coreloop.answer.research.same_question import _asks_otherwise
from rows import each_row
from walking import walk_in


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


def test_the_open_sub_question_that_is_ordered_is_searched_for(tmp_path: Path):
    from coreloop.answer.agent.plan import ProposedQuery

    with walk_in(tmp_path) as walk:
        walk.plan()
        kept = [ProposedQuery(f"other {n}", "web") for n in range(5)]
        own = ProposedQuery("length of the Han river", "web", part="q1")
        chosen = _with_open_part(walk.state, kept, [*kept, own])
    assert own in chosen
    assert len(chosen) == len(kept)
