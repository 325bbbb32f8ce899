"""The wordings of a line, and the proposals that each stands for."""

import pytest

from coreloop.learn.proposals.equal_wordings import keys_of, wordings_of
from coreloop.learn.proposals.statement_lines import parse_advice, statement_key


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
        ("- limit over 20 fails", ("- limit: at most 20", "- limit 20 초과 실패")),
        ("- without reason fails (invalid_argument)", ("- reason 없음 실패 (invalid_argument)",)),
    ],
)
def test_the_lines_own_wording_comes_first(line: str, wordings: tuple[str, ...]) -> None:
    assert wordings_of(line) == (line, *wordings)
    assert all(parse_advice(wording) is not None for wording in wordings)


def test_each_wording_stands_for_the_same_proposals() -> None:
    own = "- Always pass reason"
    key = statement_key("refund", own, "Caveats")
    for wording in wordings_of(own):
        assert own in wordings_of(wording)
        assert key in keys_of("refund", wording, "Caveats")
        assert key in keys_of("refund", wording)
        assert key not in keys_of("refund", wording, "Guide")
    for other in ("- Always pass note", "- without reason fails (invalid_argument)", "- Leave out reason"):
        assert key not in keys_of("refund", other)
