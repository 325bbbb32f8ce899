"""The keywords that a tool is used for: their requests call it much more often than other requests do."""

from typing import Any

from coreloop.pattern.lift import Lift, find_lifts, use_for
from coreloop.proposals.advice import parse_advice
from logs import call
from rows import each_row
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
    return [(lift, 0.01) for lift in lifts if lift.is_worth_saying()]


def test_a_tool_is_for_the_keyword_whose_requests_use_it():
    sample = sample_of(_made())
    statements = use_for(_sure(find_lifts(sample)), sample)
    assert sorted((statement.tool, statement.line) for statement in statements) == [
        ("exchange", "- Use for: exchange"),
        ("refund", "- Use for: refund"),
    ]
    assert {str(statement.sides) for statement in statements} == {"60 of 60, otherwise 0 of 60"}


def test_a_keyword_belongs_to_the_tool_with_the_greatest_lift():
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
    assert [(statement.tool, statement.line) for statement in use_for(_sure(find_lifts(sample)), sample)] == [
        ("refund", "- Use for: refund")
    ]


def test_failed_requests_are_no_evidence_of_use():
    assert find_lifts(sample_of(_made(ok=False))) == []


def test_a_tool_that_all_requests_use_is_for_no_keyword():
    made = [
        asked(n, call("look"), question=f"{'refund' if n // 10 % 2 else 'exchange'} {'x' * n}")
        for n in range(120)
    ]
    assert _sure(find_lifts(sample_of(made))) == []


@each_row(("count", "tested"), [(40, True), (30, False)])
def test_each_side_needs_twenty_requests_of_all_days(count: int, tested: bool):
    assert bool(find_lifts(sample_of(_made(count)))) == tested


def test_each_side_needs_five_questions():
    made = [request | {"question": request["question"].split()[0]} for request in _made()]
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


@each_row("strange", ["<axis>", "x" * 60, "a\nb", "*bold*", 'say "hi"'], ids=repr)
def test_a_keyword_that_is_not_a_plain_word_is_skipped(strange: str):
    made = [
        request | {"question": f"{request['question']} {strange}"} if n // 10 % 2 else request
        for n, request in enumerate(_made())
    ]
    sample = sample_of(made, keywords=("refund", "exchange", strange))
    assert any(strange.split("\n", maxsplit=1)[0] in request.keywords for request in sample.requests)
    statements = use_for(_sure(find_lifts(sample)), sample)
    assert {statement.tool for statement in statements} == {"refund", "exchange"}
    assert all(parse_advice(statement.line) for statement in statements)


def test_a_line_has_at_most_five_keywords():
    words = tuple(f"wish{letter}" for letter in "abcdefgh")
    made = [
        request | {"question": f"{request['question']} {' '.join(words)}"} if n // 10 % 2 else request
        for n, request in enumerate(_made())
    ]
    sample = sample_of(made, keywords=words)
    (statement,) = use_for(_sure(find_lifts(sample)), sample)
    assert statement.line == "- Use for: wisha, wishb, wishc, wishd, wishe"


def test_of_tools_with_infinite_lift_a_keyword_belongs_to_the_most_used():
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
    assert {statement.tool for statement in use_for(_sure(find_lifts(sample)), sample)} == {"move"}
