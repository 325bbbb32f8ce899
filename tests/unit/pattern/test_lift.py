"""Which keywords a tool is for: those whose requests use it much more often than others do."""

from typing import Any

import pytest

from coreloop.pattern.lift import Lift, find_lifts, use_for
from coreloop.proposals.advice import parse_advice
from logs import call
from samples import asked, sample_of


def _made(
    count: int = 120, *, words: tuple[str, ...] = ("refund", "exchange"), **more: Any
) -> list[dict[str, Any]]:
    """Requests that ask for the first word use ``refund``, those for the second ``exchange``."""
    return [
        asked(
            n, call(("refund", "exchange")[n // 10 % 2]), question=f"{words[n // 10 % 2]} {'x' * n}", **more
        )
        for n in range(count)
    ]


def _sure(lifts: list[Lift]) -> list[tuple[Lift, float]]:
    return [(one, 0.01) for one in lifts if one.is_worth_saying()]


def test_a_tool_is_for_the_keyword_whose_requests_use_it():
    sample = sample_of(_made())
    said = use_for(_sure(find_lifts(sample)), sample)
    assert sorted((one.tool, one.line) for one in said) == [
        ("exchange", "- Use for: exchange"),
        ("refund", "- Use for: refund"),
    ]
    assert {str(one.sides) for one in said} == {"60 of 60, otherwise 0 of 60"}


def test_a_keyword_is_for_one_tool_that_with_the_greatest_lift():
    made = [
        asked(
            n,
            *([call("look")] if n // 10 % 2 or n % 3 == 0 else []),
            *([call("refund")] if n // 10 % 2 else []),
            question=f"{'refund' if n // 10 % 2 else 'y'} {'x' * n}",
        )
        for n in range(160)
    ]
    sample = sample_of(made)
    assert [(one.tool, one.line) for one in use_for(_sure(find_lifts(sample)), sample)] == [
        ("refund", "- Use for: refund")
    ]


def test_requests_that_failed_say_nothing_of_what_a_tool_is_for():
    assert find_lifts(sample_of(_made(ok=False))) == []


def test_a_tool_that_all_requests_use_is_for_no_keyword():
    made = [
        asked(n, call("look"), question=f"{'refund' if n // 10 % 2 else 'exchange'} {'x' * n}")
        for n in range(120)
    ]
    assert _sure(find_lifts(sample_of(made))) == []


@pytest.mark.parametrize(("count", "tested"), [(40, True), (30, False)])
def test_each_side_needs_twenty_requests_of_all_days(count: int, tested: bool):
    assert bool(find_lifts(sample_of(_made(count)))) == tested


def test_each_side_needs_five_questions():
    made = [one | {"question": one["question"].split()[0]} for one in _made()]
    assert find_lifts(sample_of(made)) == []


def test_it_must_hold_on_the_last_days():
    made = [
        asked(
            n,
            call("refund" if (n // 10 % 2 == 0) == (n % 10 < 7) else "exchange"),
            question=f"{('refund', 'exchange')[n // 10 % 2]} {'x' * n}",
        )
        for n in range(200)
    ]
    assert _sure(find_lifts(sample_of(made))) == []


def _with_words(words: str) -> list[dict[str, Any]]:
    """Every second ten of requests with some more words."""
    made = _made()
    more = [words if n // 10 % 2 else "" for n in range(len(made))]
    return [one | {"question": f"{one['question']} {words}"} for one, words in zip(made, more, strict=True)]


@pytest.mark.parametrize("strange", ["<axis>", "x" * 60, "a\nb", "*bold*", 'say "hi"'], ids=repr)
def test_a_keyword_that_is_no_plain_word_spoils_no_line(strange: str):
    made = [
        one | {"question": f"{one['question']} {strange}"} if n // 10 % 2 else one
        for n, one in enumerate(_made())
    ]
    sample = sample_of(made, keywords=("refund", "exchange", strange))
    assert any(strange.split("\n", maxsplit=1)[0] in request.keywords for request in sample.requests)
    said = use_for(_sure(find_lifts(sample)), sample)
    assert {one.tool for one in said} == {"refund", "exchange"}
    assert all(parse_advice(one.line) for one in said)


def test_at_most_five_keywords_are_said():
    words = tuple(f"wish{letter}" for letter in "abcdefgh")
    made = [
        one | {"question": f"{one['question']} {' '.join(words)}"} if n // 10 % 2 else one
        for n, one in enumerate(_made())
    ]
    sample = sample_of(made, keywords=words)
    (one,) = use_for(_sure(find_lifts(sample)), sample)
    assert one.line == "- Use for: wisha, wishb, wishc, wishd, wishe"


def test_of_tools_that_no_other_request_uses_the_one_used_most_is_what_a_keyword_is_for():
    made = [
        asked(
            n,
            *([call("move")] if n // 10 % 2 else []),
            *([call("hold")] if n // 10 % 2 and n % 3 else []),
            question=f"{'refund' if n // 10 % 2 else 'y'} {'x' * n}",
        )
        for n in range(160)
    ]
    sample = sample_of(made)
    assert {one.tool for one in use_for(_sure(find_lifts(sample)), sample)} == {"move"}
