"""Wordings of a line, and contexts of which some choose one and the others judge it."""

import pytest

from coreloop.learn.proposals.advice import parse_advice
from coreloop.promote.measure.contexts import CallContext
from coreloop.promote.measure.wordings import halves, wordings_of


@pytest.mark.parametrize(
    ("line", "wordings"),
    [
        ("- limit: at most 20", ("- limit over 20 fails", "- limit: 최대 20")),
        ("- priority: never empty", ("- priority empty fails", "- priority: 비워 두지 않음")),
        ("- Always pass reason", ("- without reason fails", "- 항상 전달: reason")),
        ("- Leave out reason", ("- with reason fails", "- 전달하지 않음: reason")),
        ("- Always pass a and b", ("- 항상 전달: a, b",)),
        ("- priority: one of high, low", ("- priority: 다음 중 하나 high, low",)),
        ("- 항상 전달: reason", ("- reason 없음 실패", "- Always pass reason")),
    ],
)
def test_the_lines_own_wording_comes_first(line: str, wordings: tuple[str, ...]) -> None:
    assert wordings_of(line) == (line, *wordings)
    assert all(parse_advice(wording) is not None for wording in wordings)


def test_no_case_stands_in_both_halves() -> None:
    contexts = [
        CallContext(f"{number}", f"case {number // 3}", "q", (), "update", None, was_against=True)
        for number in range(60)
    ]
    first, second = halves(contexts)
    assert not {context.case for context in first} & {context.case for context in second}
    assert len(first) == len(second) == 30
    assert {*first, *second} == {*contexts}
