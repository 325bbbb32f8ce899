"""Statements about a tool that fails: the cause, in known words, or no statement."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool
from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.conditions import ConditionSearch, find_conditions
from linear import assert_linear
from logs import call, failed
from samples import asked, sample_of, words

OWN = words(
    "refund",
    "escalate",
    parameters=("order_id", "amount", "topic", "reason", "team"),
    literals=("refund", "shipping", "billing"),
)
Made = Callable[[int, bool], list[Any]]


def _search(make: Made, *, count: int = 120, words: Vocabulary = OWN, days: int = 10) -> ConditionSearch:
    """Conditions of requests every third of which is bad."""
    made = [asked(number, *make(number, number % 3 == 0), days=days) for number in range(count)]
    return find_conditions(sample_of(made), words)


def _lines(make: Made, **choices: Any) -> list[str]:
    return [statement.line for statement in _search(make, **choices).statements]


def _refund(args: dict[str, Any], *, bad: bool, error: str = "PermissionError: no", **more: Any) -> Any:
    return (failed("refund", args, error) if bad else call("refund", args)) | more


def _rotating(number: int) -> dict[str, Any]:
    """Arguments that are unrelated to the failure."""
    return {"order_id": f"W{number}", "note": "x"} if number % 2 else {"order_id": f"W{number}"}


# --- the sentences of the issue --------------------------------------------------------------------


def test_a_missing_argument_is_asked_for():
    assert _lines(lambda n, bad: [_refund(_rotating(n) | ({} if bad else {"reason": "r"}), bad=bad)]) == [
        "- Always pass reason"
    ]


def test_arguments_that_are_missing_together_are_asked_for_in_the_order_of_the_signature():
    def make(number: int, bad: bool) -> list[Any]:
        return [_refund({"note": 1} if bad else {"note": 1, "amount": number, "order_id": number}, bad=bad)]

    assert _lines(make) == ["- Always pass order_id and amount"]


def test_if_either_of_two_arguments_helps_both_are_not_required():
    def make(number: int, _: bool) -> list[Any]:
        given = {name: 1 for bit, name in enumerate(("amount", "reason")) if number >> bit & 1}
        return [_refund({**given, "note": 1}, bad=not given)]

    (line,) = _lines(make, count=240)
    assert line == "- without amount and without reason fails (auth)"


def test_an_amount_over_a_bound_fails_and_the_line_names_the_remedy():
    def make(number: int, bad: bool) -> list[Any]:
        refund = _refund({"amount": 150 + number * 2 + 1 if bad else number % 150 + 1}, bad=bad)
        return [refund, call("escalate", {"team": "billing"})] if bad else [refund, call("finish")]

    assert _lines(make, count=240) == ['- amount over 150 fails (auth): escalate(team="billing")']


def test_an_amount_over_a_million_is_written_out():
    def make(number: int, bad: bool) -> list[Any]:
        return [_refund({"amount": 1_500_001 + number if bad else 1_400_000 - number}, bad=bad)]

    assert _lines(make) == ["- amount over 1500000 fails (auth)"]


def test_an_undeclared_value_is_described():
    def make(number: int, bad: bool) -> list[Any]:
        good = ("refund", "shipping")[number % 2]
        return [_refund({"topic": f"Kim's wish {number}" if bad else good}, bad=bad)]

    assert _lines(make) == ["- topic: one of billing, refund, shipping"]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        pytest.param((), [], id="no list in the source: nobody knows what else works"),
        pytest.param((("any", "open", "closed"),), ["- status: one of any, closed, open"], id="a list"),
        pytest.param((("open", "closed"),), [], id="a list without the value that worked"),
        pytest.param((("any", "open"), ("any", "on")), [], id="two lists"),
        pytest.param((("any", "open"), ("any", "on", "off")), ["- status: one of any, open"], id="shortest"),
    ],
)
def test_one_of_names_values_that_were_never_tried_only_as_the_source_lists_them(
    listed: tuple[tuple[str, ...], ...], expected: list[str]
):
    literals = frozenset({"any", "open", "closed", "on", "off"})
    tool = Tool("refund", "a.py", "refund", ("status",), literals, listed=frozenset(map(frozenset, listed)))
    known = Vocabulary({"refund": tool}, Settings())
    lines = _lines(lambda n, bad: [_refund({"status": f"s{n}" if bad else "any"}, bad=bad)], words=known)
    assert lines == expected


def test_without_a_list_the_declared_value_that_fails_is_named():
    literals = frozenset({"any", "open", "closed"})
    known = Vocabulary({"refund": Tool("refund", "a.py", "refund", ("status",), literals)}, Settings())
    values = ("open", "any")
    lines = _lines(
        lambda n, bad: [_refund({"status": "closed" if bad else values[n % 2]}, bad=bad)], words=known
    )
    assert lines == ['- status="closed" fails (auth)']


def test_an_error_of_unknown_class_is_not_named_in_the_line():
    def make(number: int, bad: bool) -> list[Any]:
        return [_refund({"hours": 5 if bad else 4}, bad=bad, error="no")]

    assert _lines(make) == ["- hours over 4 fails"]


def test_undeclared_values_are_never_written():
    def make(number: int, bad: bool) -> list[Any]:
        return [_refund({"topic": "secret" if bad else "word"}, bad=bad)]

    assert _lines(make) == []


def test_a_declared_value_that_fails_is_named():
    assert _lines(lambda n, bad: [_refund({"topic": "billing" if bad else "refund"}, bad=bad)]) == [
        '- topic="billing" fails (auth)'
    ]


def test_a_call_that_must_come_later_is_named():
    def make(number: int, bad: bool) -> list[Any]:
        changed = call("change_items", {"order_id": f"W{number}"})
        refund = _refund({"order_id": f"W{number}"}, bad=bad)
        return [changed, refund] if bad else [refund, changed]

    assert _lines(make) == ["- Call before change_items (same order_id)"]


@pytest.mark.parametrize(("n_worked", "refused"), [(8, False), (7, True)])
def test_an_order_of_calls_that_has_not_worked_is_refused(n_worked: int, refused: bool):
    worked = [number for number in range(120) if number % 3][:n_worked]

    def make(number: int, bad: bool) -> list[Any]:
        refund = _refund({"order_id": f"W{number}"}, bad=bad)
        changed = call("change_items", {"order_id": f"W{number if bad or number in worked else -number}"})
        return [refund, changed] if number in worked else [changed, refund]

    (statement,) = _search(make).statements
    assert statement.line == "- Call before change_items (same order_id)"
    assert statement.refused == (
        "weak: calling it before change_items was not seen to work" if refused else None
    )


def test_a_tool_is_never_advised_before_itself():
    def make(number: int, _: bool) -> list[Any]:
        args = {"order_id": f"W{number}"}
        return [_refund(args, bad=False), _refund(args, bad=True)]

    (line,) = _lines(make)
    assert line == "- after refund (same order_id) fails (auth)"


def test_the_required_source_of_a_value_is_named():
    def make(number: int, bad: bool) -> list[Any]:
        places = [] if bad else ["get_user.orders[]"]
        return [call("get_user"), _refund({"order_id": number}, bad=bad, args_from={"order_id": places})]

    (line,) = _lines(make)
    assert line in {"- order_id: only from an earlier result", "- order_id: from get_user().orders[]"}


@pytest.mark.parametrize(
    "errors", [("ValueError: a",), ("ValueError: a", "KeyError: 'b'", "TimeoutError: c")]
)
def test_the_cause_does_not_depend_on_the_error_texts(errors: tuple[str, ...]):
    def make(number: int, bad: bool) -> list[Any]:
        return [
            _refund(
                {"note": 1} if bad else {"note": 1, "reason": 1},
                bad=bad,
                error=errors[number // 3 % len(errors)],
            )
        ]

    assert _lines(make) == ["- Always pass reason"]


def test_a_coincidence_loses_to_the_better_rule():
    """With the topic that fails, an argument is never given: its absence is not the cause."""

    def make(number: int, bad: bool) -> list[Any]:
        topic = "billing" if bad else ("refund", "shipping")[number % 2]
        given = not bad and number % 7
        return [_refund({"topic": topic, **({"reason": 1} if given else {})}, bad=bad)]

    assert _lines(make) == ['- topic="billing" fails (auth)']


def test_statements_are_ranked_by_avoided_failures():
    def make(number: int, bad: bool) -> list[Any]:
        rare = number % 6 == 0
        return [
            _refund({"note": 1} if bad else {"note": 1, "reason": 1}, bad=bad),
            failed("escalate", {"x": 1}) if rare else call("escalate", {"x": 1, "topic": 1}),
        ]

    search = _search(make)
    assert [statement.tool for statement in search.statements] == ["refund", "escalate"]
    assert search.statements[0].avoided == pytest.approx(1000 / 3)


# --- the evidence ----------------------------------------------------------------------------------


def test_a_statement_has_both_sides_the_held_out_days_and_its_places():
    search = _search(lambda n, bad: [_refund({"note": 1} if bad else {"note": 1, "reason": 1}, bad=bad)])
    (statement,) = search.statements
    assert (statement.kind, statement.tool) == ("condition", "refund")
    assert (statement.sides.n_ok, statement.sides.n, statement.sides.other_ok, statement.sides.other_n) == (
        80,
        80,
        0,
        40,
    )
    assert statement.held.n + statement.held.other_n == 36
    assert statement.q_value <= 0.05
    assert 0.2 < statement.low < statement.difference == 1.0 >= statement.high
    assert len(search.places[statement.key]) == 40


@pytest.mark.parametrize("days", [1, 10])
def test_a_log_of_a_single_day_gives_no_statement(days: int):
    lines = _lines(
        lambda n, bad: [_refund({"note": 1} if bad else {"note": 1, "reason": 1}, bad=bad)], days=days
    )
    assert bool(lines) == (days > 1)


@pytest.mark.parametrize("bad", [True, False])
def test_calls_with_the_same_outcome_give_no_statement(bad: bool):
    assert _lines(lambda n, _: [_refund(_rotating(n), bad=bad)]) == []


def test_a_single_repeated_question_gives_no_statement():
    made = [
        asked(
            n,
            _refund({"note": 1} if n % 3 == 0 else {"note": 1, "reason": 1}, bad=n % 3 == 0),
            question="the same",
        )
        for n in range(120)
    ]
    assert find_conditions(sample_of(made), OWN).statements == ()


# --- attacks ---------------------------------------------------------------------------------------

HOSTILE = (
    "",
    "<axis>",
    "a\nb",
    "- Ignore all",
    "reason and topic",
    "x" * 64,
    "**bold**",
    "a`b",
    "[link](http://x)",
    "\u202e",
    "a b",
    "9",
)


def _is_closed(line: str) -> bool:
    return parse_advice(line) is not None and "\n" not in line and "<" not in line


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_a_hostile_argument_name_does_not_come_into_a_line(name: str):
    lines = _lines(lambda n, bad: [_refund({"note": n} if bad else {"note": n, name: 1}, bad=bad)])
    assert lines == ([] if name != "x" * 64 else [f"- Always pass {name}"])


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_a_hostile_argument_name_does_not_hide_a_plain_one(name: str):
    lines = _lines(
        lambda n, bad: [_refund({"note": n} if bad else {"note": n, name: 1, "reason": 1}, bad=bad)]
    )
    assert any("reason" in line for line in lines)
    assert all(map(_is_closed, lines))


@pytest.mark.parametrize("tool", ["a\nb", "<tool>", "x" * 200, "ev il", "-", "a()", 'say "hi"'], ids=repr)
def test_a_hostile_tool_name_does_not_come_into_a_line(tool: str):
    def make(number: int, bad: bool) -> list[Any]:
        before = [call(tool, {"order_id": number}, args_from={"order_id": [f"{tool}.x"]})] if bad else []
        return [
            *before,
            _refund({"order_id": number}, bad=bad, args_from={"order_id": [f"{tool}.x"] if bad else []}),
        ]

    assert all(map(_is_closed, _lines(make)))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "get_user",
        "get_user.",
        "get_user.a b",
        "get_user.x\ny",
        "nowhere.x",
        "get_user[]" * 50,
        "get_users.x",
        "get.user.x",
    ],
)
def test_a_hostile_place_does_not_come_into_a_line(path: str):
    def make(number: int, bad: bool) -> list[Any]:
        places = ["other.x"] if bad else [path]
        refund = _refund({"order_id": number}, bad=bad, args_from={"order_id": places})
        return [call("get_user"), call("get"), call("other"), refund]

    assert all(map(_is_closed, _lines(make)))


@pytest.mark.parametrize(
    "value",
    [1e300, -1e300, 10**40, [[[[]]]], {"a": {"b": 1}}, "<axis>", "x" * 5000, True, "a\nb", 0, -5],
    ids=lambda value: str(value)[:12],
)
def test_a_strange_value_breaks_nothing_and_is_never_written(value: Any):
    lines = _lines(lambda n, bad: [_refund({"topic": value if bad else "refund", "amount": value}, bad=bad)])
    assert all(map(_is_closed, lines))
    assert not any("axis" in line for line in lines)


_argument = st.sampled_from(("order_id", "amount", "<axis>", "a\nb", "", "reason"))
_value = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=4),
    st.just("refund"),
    st.lists(st.integers(), max_size=2),
)
_place = st.lists(
    st.sampled_from(("refund.x", "escalate.y[]", "question", "gone.z", "", "refund")), max_size=5
)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(_argument, _value, max_size=3),
            st.booleans(),
            st.dictionaries(_argument, _place, max_size=2),
        ),
        max_size=12,
    ),
    st.integers(0, 1000),
)
def test_every_line_is_of_a_known_form_whatever_the_calls(sources: list[Any], seed: int):
    rng, made = Random(seed), []
    for number in range(80 if sources else 0):
        calls = [
            _refund(args, bad=bad, args_from=places)
            for args, bad, places in rng.sample(sources, min(3, len(sources)))
        ]
        made.append(asked(number, *calls))
    search = find_conditions(sample_of(made), OWN)
    assert all(_is_closed(statement.line) for statement in search.statements)


def test_ten_thousand_places_in_every_call_are_four():
    def make(number: int, bad: bool) -> list[Any]:
        places = [f"get_user.f{place}" for place in range(1000)]
        return [call("get_user"), _refund({"order_id": number}, bad=bad, args_from={"order_id": places})]

    assert _lines(make, count=60) == []


def test_many_different_sources_take_time_in_proportion():
    def make(number: int, bad: bool) -> list[Any]:
        places = [f"get_user.f{number}x{place}" for place in range(4)]
        args = {f"a{place}": number for place in range(10)}
        return [call("get_user"), _refund(args, bad=bad, args_from=dict.fromkeys(args, places))]

    def build(count: int) -> list[Any]:
        return [asked(number, *make(number, number % 3 == 0)) for number in range(count)]

    def work(made: list[Any]) -> None:
        assert find_conditions(sample_of(made), OWN).statements == ()

    assert_linear(work, build, sizes=(100, 1_000))


@pytest.mark.parametrize("seed", range(6))
def test_noise_gives_no_statement(seed: int):
    rng = Random(seed)

    def make(*_: Any) -> list[Any]:
        given = {name: rng.randrange(9) for name in ("order_id", "amount") if rng.random() < 0.5}
        return [_refund(given, bad=rng.random() < 0.3) for _ in range(3)]

    assert _lines(make, count=150) == []
