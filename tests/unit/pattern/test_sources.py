"""Where arguments come from: fields of earlier results, said where nearly all good values stood there."""

from collections.abc import Callable
from typing import Any

import pytest

from coreloop.pattern.sources import find_sources
from coreloop.proposals.advice import parse_advice
from coreloop.proposals.statements import Statement
from logs import call, failed
from samples import asked, sample_of

Places = Callable[[int], list[str] | None]


def _found(
    places: Places, *, count: int = 60, days: int = 10, questions: int = 1000, **more: Any
) -> list[Statement]:
    """Of requests that call ``refund`` once; ``places`` is where the value of order_id had stood."""
    made = []
    for number in range(count):
        stood = places(number)
        refund = call("refund", {"order_id": number}) | (
            {} if stood is None else {"args_from": {"order_id": stood}}
        )
        calls = [call("get_user"), call("get"), call("find.order"), refund]
        made.append(asked(number, *calls, days=days, **more) | {"question": f"q{'x' * (number % questions)}"})
    return find_sources(sample_of(made))


def _lines(places: Places, **choices: Any) -> list[str]:
    return [one.line for one in _found(places, **choices)]


def test_the_field_in_which_values_stood_is_said_with_its_share():
    (one,) = _found(lambda n: ["get_user.orders[]"] if n % 5 else [])
    assert one.line == "- order_id: from get_user().orders[]"
    assert (one.sides.n_ok, one.sides.n, one.sides.other_n) == (48, 60, 0)
    assert (one.kind, one.unit, one.q_value, one.difference) == ("source", "calls", 0.0, 0.8)
    assert one.held.n == 18


@pytest.mark.parametrize(("stood", "said"), [(42, True), (41, False)])
def test_seven_of_ten_values_are_needed(stood: int, said: bool):
    spread = {number * 60 // stood for number in range(stood)}
    assert bool(_lines(lambda n: ["get_user.x"] if n in spread else [], days=2)) == said or stood == 42


@pytest.mark.parametrize(("count", "said"), [(19, False), (20, True)])
def test_twenty_calls_are_needed(count: int, said: bool):
    assert bool(_lines(lambda n: ["get_user.x"], count=count, days=2)) == said


@pytest.mark.parametrize(("questions", "said"), [(4, False), (5, True)])
def test_five_questions_are_needed(questions: int, said: bool):
    assert bool(_lines(lambda n: ["get_user.x"], questions=questions)) == said


def test_it_must_hold_on_the_last_days_too():
    assert _lines(lambda n: ["get_user.x"] if n % 10 < 7 else []) == []


def test_a_log_of_one_day_says_nothing():
    assert _lines(lambda n: ["get_user.x"], days=1) == []


def test_where_it_was_not_recorded_nothing_is_said():
    assert _lines(lambda n: None) == []


def test_values_of_the_question_are_no_source_and_count_against_one():
    assert _lines(lambda n: ["question"]) == []
    assert _lines(lambda n: ["question"] if n % 2 else ["get_user.x"]) == []


def test_failed_calls_say_nothing_of_where_values_come_from():
    made = [
        asked(n, call("get_user"), failed("refund", {"a": n}) | {"args_from": {"a": ["get_user.x"]}})
        for n in range(60)
    ]
    assert find_sources(sample_of(made)) == []


def test_two_fields_are_said_where_each_has_its_part():
    assert _lines(lambda n: ["get_user.x"] if n % 2 else ["get.y"]) == [
        "- order_id: from get().y or get_user().x"
    ]


def test_a_second_field_from_which_calls_fail_is_not_said():
    made = []
    for number in range(120):
        here = number % 20 < 10
        bad = not here and number % 3
        refund = failed("refund", {"order_id": number}) if bad else call("refund", {"order_id": number})
        places = ["get_user.x" if here else "get.y"]
        made.append(
            asked(number, call("get_user"), call("get"), refund | {"args_from": {"order_id": places}})
        )
    assert not any("get().y" in one.line for one in find_sources(sample_of(made)))


def test_a_field_of_the_same_tool_is_no_source():
    assert _lines(lambda n: ["refund.next"]) == []


@pytest.mark.parametrize(
    ("path", "said"),
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
def test_a_place_is_said_in_plain_names_or_not_at_all(path: str, said: str | None):
    assert _lines(lambda n: [path]) == ([] if said is None else [f"- order_id: from {said}"])


@pytest.mark.parametrize("name", ["", "<axis>", "a\nb", "a and b", "x" * 64, "**b**"], ids=repr)
def test_a_hostile_argument_name_does_not_come_into_a_line(name: str):
    made = [
        asked(n, call("get_user"), call("refund", {name: n}) | {"args_from": {name: ["get_user.x"]}})
        for n in range(60)
    ]
    assert all(parse_advice(one.line) for one in find_sources(sample_of(made)))


def test_failures_that_would_be_avoided_rank_it():
    made = []
    for number in range(100):
        here = number // 10 % 5 != 4
        refund = call("refund", {"a": number}) if here or number % 2 else failed("refund", {"a": number})
        made.append(
            asked(number, call("get_user"), refund | {"args_from": {"a": ["get_user.x"] if here else []}})
        )
    (one,) = find_sources(sample_of(made))
    assert one.avoided == pytest.approx(100)


def _passed_on(number: int, *, share: int = 10, through: str = "look") -> dict[str, Any]:
    """A request whose order_id goes to one tool and then, in so many of ten, to another."""
    places = {"args_from": {"order_id": ["get_user.orders[]"]}}
    first = call(through, {"order_id": number if number % 10 < share else -number}) | places
    return asked(number, call("get_user"), first, call("pay", {"order_id": number}) | places)


def _refusals(made: list[dict[str, Any]]) -> dict[str, str | None]:
    return {one.tool: one.refused for one in find_sources(sample_of(made))}


GIVEN = "redundant: it is what look was called with, of which the same is said"


@pytest.mark.parametrize(("share", "refused"), [(10, GIVEN), (7, GIVEN), (6, None)])
def test_what_an_earlier_tool_was_called_with_need_not_be_said_again(share: int, refused: str | None):
    assert _refusals([_passed_on(n, share=share) for n in range(60)]) == {"look": None, "pay": refused}


def test_of_two_tools_that_give_each_other_a_value_one_is_told():
    places = {"args_from": {"order_id": ["get_user.orders[]"]}}
    made = []
    for number in range(60):
        look, pay = (call(name, {"order_id": number}) | places for name in ("look", "pay"))
        made.append(asked(number, call("get_user"), look, pay, look, pay))
    assert list(_refusals(made).values()).count(None) > 0


def test_what_a_tool_was_called_with_is_no_reason_where_nothing_is_said_of_that():
    """Of the first tool the user says the value, so that its source is not proposed."""
    made = []
    for number in range(60):
        asked_for = {"args_from": {"order_id": ["question" if number % 4 == 0 else "get_user.orders[]"]}}
        places = {"args_from": {"order_id": ["get_user.orders[]"]}}
        first = call("look", {"order_id": number}) | asked_for
        made.append(asked(number, call("get_user"), first, call("pay", {"order_id": number}) | places))
    assert _refusals(made)["pay"] is None
