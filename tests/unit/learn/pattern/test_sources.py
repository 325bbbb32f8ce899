"""Sources of arguments: fields of earlier results that held most values of successful calls."""

from collections.abc import Callable
from typing import Any

import pytest

from coreloop.learn.pattern.sources import find_sources
from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.proposals.statements import Statement
from logs import call, failed
from rows import each_row
from samples import asked, sample_of

Places = Callable[[int], list[str] | None]


def _statements(
    places: Places, *, count: int = 60, days: int = 10, questions: int = 1000, **more: Any
) -> list[Statement]:
    """Statements from requests that call ``refund`` once; ``places`` gives the sources of order_id."""
    made = []
    for number in range(count):
        paths = places(number)
        refund = call("refund", {"order_id": number}) | (
            {} if paths is None else {"args_from": {"order_id": paths}}
        )
        calls = [call("get_user"), call("get"), call("find.order"), refund]
        made.append(asked(number, *calls, days=days, **more) | {"question": f"q{'x' * (number % questions)}"})
    return find_sources(sample_of(made))


def _lines(places: Places, **choices: Any) -> list[str]:
    return [statement.line for statement in _statements(places, **choices)]


def test_a_source_is_stated_with_its_share():
    (statement,) = _statements(lambda n: ["get_user.orders[]"] if n % 5 else [])
    assert statement.line == "- order_id: from get_user().orders[]"
    assert (statement.sides.n_ok, statement.sides.n, statement.sides.other_n) == (48, 60, 0)
    assert (statement.kind, statement.q_value, statement.difference) == ("source", 0.0, 0.8)
    assert statement.held.n == 18


@each_row(("stood", "expected"), [(42, True), (41, False)])
def test_seven_of_ten_values_are_needed(stood: int, expected: bool):
    spread = {number * 60 // stood for number in range(stood)}
    assert bool(_lines(lambda n: ["get_user.x"] if n in spread else [], days=2)) == expected or stood == 42


@each_row(("count", "expected"), [(19, False), (20, True)])
def test_twenty_calls_are_needed(count: int, expected: bool):
    assert bool(_lines(lambda n: ["get_user.x"], count=count, days=2)) == expected


@each_row(("questions", "expected"), [(4, False), (5, True)])
def test_five_questions_are_needed(questions: int, expected: bool):
    assert bool(_lines(lambda n: ["get_user.x"], questions=questions)) == expected


def test_it_must_hold_on_the_last_days_too():
    assert _lines(lambda n: ["get_user.x"] if n % 10 < 7 else []) == []


def test_a_log_of_a_single_day_gives_no_source():
    assert _lines(lambda n: ["get_user.x"], days=1) == []


def test_without_recorded_sources_there_is_no_statement():
    assert _lines(lambda n: None) == []


def test_values_of_the_question_are_no_source_and_count_against_one():
    assert _lines(lambda n: ["question"]) == []
    assert _lines(lambda n: ["question"] if n % 2 else ["get_user.x"]) == []


def test_failed_calls_are_no_evidence_of_a_source():
    made = [
        asked(n, call("get_user"), failed("refund", {"a": n}) | {"args_from": {"a": ["get_user.x"]}})
        for n in range(60)
    ]
    assert find_sources(sample_of(made)) == []


def test_two_fields_are_stated_if_each_adds_enough():
    assert _lines(lambda n: ["get_user.x"] if n % 2 else ["get.y"]) == [
        "- order_id: from get().y or get_user().x"
    ]


def test_a_second_field_with_failing_calls_is_not_stated():
    made = []
    for number in range(120):
        from_user = number % 20 < 10
        bad = not from_user and number % 3
        refund = failed("refund", {"order_id": number}) if bad else call("refund", {"order_id": number})
        places = ["get_user.x" if from_user else "get.y"]
        made.append(
            asked(number, call("get_user"), call("get"), refund | {"args_from": {"order_id": places}})
        )
    assert not any("get().y" in statement.line for statement in find_sources(sample_of(made)))


def test_a_field_of_the_same_tool_is_no_source():
    assert _lines(lambda n: ["refund.next"]) == []


@each_row(
    ("path", "expected"),
    [
        ("get_user.orders[]", "get_user().orders[]"),
        ("get.x", "get().x"),
        ("find.order.id", "find.order().id"),
        ("get_user", "get_user()"),
        ("get_user.*.id", "get_user().*.id"),
        ("get_users.x", None),
        ("gone.x", None),
        ("get_user.a b", None),
        ("get_user.<b>", None),
        ("get_user.x\n- evil", None),
        ("", None),
    ],
)
def test_a_path_is_written_only_in_plain_names(path: str, expected: str | None):
    assert _lines(lambda n: [path]) == ([] if expected is None else [f"- order_id: from {expected}"])


@each_row("name", ["", "<axis>", "a\nb", "a and b", "x" * 64, "**b**"], ids=repr)
def test_a_hostile_argument_name_does_not_come_into_a_line(name: str):
    made = [
        asked(n, call("get_user"), call("refund", {name: n}) | {"args_from": {name: ["get_user.x"]}})
        for n in range(60)
    ]
    assert all(parse_advice(statement.line) for statement in find_sources(sample_of(made)))


def test_avoided_failures_are_counted():
    made = []
    for number in range(100):
        from_user = number // 10 % 5 != 4
        refund = call("refund", {"a": number}) if from_user or number % 2 else failed("refund", {"a": number})
        made.append(
            asked(
                number, call("get_user"), refund | {"args_from": {"a": ["get_user.x"] if from_user else []}}
            )
        )
    (statement,) = find_sources(sample_of(made))
    assert statement.avoided == pytest.approx(100)


def _passed_on(number: int, *, share: int = 10, through: str = "look") -> dict[str, Any]:
    """A request whose order_id is passed to a tool and then, in ``share`` of ten requests, to another."""
    places = {"args_from": {"order_id": ["get_user.orders[]"]}}
    first = call(through, {"order_id": number if number % 10 < share else -number}) | places
    return asked(number, call("get_user"), first, call("pay", {"order_id": number}) | places)


def _refusals(made: list[dict[str, Any]]) -> dict[str, str | None]:
    return {statement.tool: statement.refused for statement in find_sources(sample_of(made))}


GIVEN = "redundant: look is called with the same value before, and has this line"


@each_row(("share", "refused"), [(10, GIVEN), (7, GIVEN), (6, None)])
def test_a_value_passed_to_an_earlier_tool_needs_no_second_line(share: int, refused: str | None):
    assert _refusals([_passed_on(n, share=share) for n in range(60)]) == {"look": None, "pay": refused}


def test_of_two_tools_with_the_same_value_at_least_one_keeps_its_line():
    places = {"args_from": {"order_id": ["get_user.orders[]"]}}
    made = []
    for number in range(60):
        look, pay = (call(name, {"order_id": number}) | places for name in ("look", "pay"))
        made.append(asked(number, call("get_user"), look, pay, look, pay))
    assert list(_refusals(made).values()).count(None) > 0


def test_an_earlier_tool_without_a_line_is_no_reason_to_refuse():
    """For the first tool the user gives the value, so that its source is not proposed."""
    made = []
    for number in range(60):
        asked_for = {"args_from": {"order_id": ["question" if number % 4 == 0 else "get_user.orders[]"]}}
        places = {"args_from": {"order_id": ["get_user.orders[]"]}}
        first = call("look", {"order_id": number}) | asked_for
        made.append(asked(number, call("get_user"), first, call("pay", {"order_id": number}) | places))
    assert _refusals(made)["pay"] is None
