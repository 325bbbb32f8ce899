"""What can be told of a tool's calls, and which calls it holds of."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.mine.cases import Cases, places_of
from coreloop.mine.values import EDGES, value_hash
from coreloop.refine.features import Feature, gather, tool_of
from logs import call, failed
from samples import asked, sample_of

DECLARED = {value_hash(text): text for text in ("refund", "shipping", "billing", "true", "false")}
Requests = Iterable[dict[str, Any]]


def _features(
    records: Requests, tool: str = "t", declared: Mapping[int, str] = DECLARED
) -> tuple[dict[str, Feature], Cases]:
    """Features of a tool's calls by how they are said."""
    sample = sample_of(records)
    (found,) = [one for one in gather(sample, min_failures=0) if one.tool == tool]
    cases = found.cases(sample)
    return {str(one.condition): one for one in found.features(cases, declared, sample.tools)}, cases


def _holds(records: Requests, said: str, **choices: Any) -> list[int]:
    """Places of the calls that a feature holds of; calls are made in the order of time."""
    return places_of(_features(records, **choices)[0][said].calls)


def _each(*made: dict[str, Any]) -> list[dict[str, Any]]:
    return [asked(number, one, days=1) for number, one in enumerate(made)]


def test_an_argument_is_given_or_missing():
    made = _each(call("t", {"a": 1}), call("t", {"a": 1, "b": 2}), call("t"), call("t", {"a": None}))
    assert _holds(made, "with a") == [0, 1]
    assert _holds(made, "without a") == [2, 3]


def test_only_a_declared_value_is_named():
    found, _ = _features(_each(call("t", {"topic": "refund"}), call("t", {"topic": "Kim's own words"})))
    assert 'topic="refund"' in found
    assert not any("Kim" in said for said in found)


def test_an_undeclared_value_is_described_by_those_that_work():
    made = _each(
        *(call("t", {"topic": "refund"}) for _ in range(6)),
        *(call("t", {"topic": "shipping"}) for _ in range(6)),
        *(failed("t", {"topic": word}) for word in ("faq", "legal")),
    )
    found, _ = _features(made)
    one = found['topic="…"']
    assert one.names == ("refund", "shipping")
    assert places_of(one.calls) == [12, 13]


def test_undeclared_values_that_work_as_well_are_not_described():
    made = _each(call("t", {"topic": "refund"}), *(call("t", {"topic": f"word{n}"}) for n in range(9)))
    assert 'topic="…"' not in _features(made)[0]


def test_a_number_is_over_a_bound_or_under_it():
    made = _each(*(call("t", {"amount": amount}) for amount in (10, 100, 150, 151, 900)), call("t"))
    found, _ = _features(made)
    assert places_of(found["amount over 150"].calls) == [3, 4]
    assert places_of(found["amount under 150"].calls) == [0, 1, 2]
    assert places_of(found["amount over 150"].within) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("amount", [2_000_000, 50_000_000, 0.002])
def test_bounds_of_great_and_small_numbers_are_written_out(amount: float):
    found, _ = _features(_each(call("t", {"amount": amount}), call("t", {"amount": amount * 5})))
    (said,) = [said for said in found if said.startswith("amount over")]
    assert "e" not in said.removeprefix("amount over")
    assert float(said.removeprefix("amount over ")) == pytest.approx(amount)


@given(st.lists(st.one_of(st.integers(-(10**14), 10**14), st.floats(-1e6, 1e6)), min_size=1, max_size=60))
def test_few_bounds_are_tested_and_each_divides_the_calls(numbers: list[float]):
    found, cases = _features(_each(*(call("t", {"amount": number}) for number in numbers)))
    over = [one for said, one in found.items() if " over " in said]
    assert len(over) <= 11
    for one in over:
        bound = dict(one.condition.slots)["number"][0]
        assert any(f"{edge:.4f}".rstrip("0").rstrip(".") == bound for edge in EDGES)
        assert one.calls
        assert one.within & ~one.calls
        assert one.within == cases.all


def test_a_value_from_no_result_is_told_from_one_that_was_not_looked_for():
    made = _each(
        call("t", {"id": 1}, args_from={"id": ["u.x"]}),
        call("t", {"id": 2}, args_from={"id": []}),
        call("t", {"id": 3}, args_from={"id": ["question"]}),
        call("t", {"id": 4}),
        call("u"),
    )
    found, _ = _features(made)
    assert places_of(found["id from no earlier result"].calls) == [1]
    assert places_of(found["id from no earlier result"].within) == [0, 1]


def test_question_is_never_half_of_a_condition():
    made = _each(
        *(call("t", {"id": n}, args_from={"id": ["u.x"]}) for n in range(6)),
        *(failed("t", {"id": n}) | {"args_from": {"id": ["question"]}} for n in range(6)),
        call("u"),
    )
    found, _ = _features([*made])
    assert not any("question" in said for said in found)
    assert "id not from u().x" not in found


def test_a_source_is_where_most_values_of_good_calls_stood():
    made = _each(
        *(call("t", {"id": n}, args_from={"id": ["u.x"]}) for n in range(6)),
        *(failed("t", {"id": n}) | {"args_from": {"id": ["v.y"]}} for n in range(4)),
        call("u"),
        call("v"),
    )
    assert _holds(made, "id not from u().x") == [6, 7, 8, 9]
    assert "id not from v().y" not in _features(made)[0]


def test_after_a_call_with_the_same_value_and_before_one():
    made = [
        asked(0, call("u", {"id": 1}), call("t", {"id": 1}), days=1),
        asked(1, call("u", {"id": 2}), call("t", {"id": 1}), days=1),
        asked(2, failed("u", {"id": 1}), call("t", {"id": 1}), days=1),
        asked(3, call("t", {"id": 1}), call("u", {"id": 1}), days=1),
        asked(4, call("u", {"key": 1}), call("t", {"id": 1}), days=1),
    ]
    assert _holds(made, "after u (same id)") == [0]
    assert _holds(made, "before u (same id)") == [1, 2, 3, 4]


def test_what_follows_a_failure_of_its_own_tool_is_no_feature():
    made = [asked(n, failed("t"), failed("t"), call("u"), call("t"), days=1) for n in range(3)]
    found, _ = _features(made)
    assert "right after t" not in found
    assert places_of(found["right after u"].calls) == [2, 5, 8]


def test_what_follows_right_after_on_the_same_value_is_told_by_the_value():
    made = [
        asked(0, call("u", {"id": 1}), call("t", {"id": 1}), days=1),
        asked(1, call("u", {"id": 2}), call("t", {"id": 1}), days=1),
        asked(2, call("t", {"id": 1}), days=1),
    ]
    found, _ = _features(made)
    assert places_of(found["right after u"].calls) == [1]
    assert places_of(found["right after u"].within) == [1, 2]


def test_of_two_fields_of_one_result_the_one_with_most_values_is_the_source():
    both = {"args_from": {"id": ["u.all[]", "u.delivered[]"]}}
    made = _each(
        *(call("t", {"id": n}) | both for n in range(6)),
        *(call("t", {"id": n}, args_from={"id": ["u.all[]"]}) for n in range(2)),
        *(failed("t", {"id": n}) | {"args_from": {"id": []}} for n in range(4)),
        call("u"),
    )
    assert _holds(made, "id not from u().all[]") == [8, 9, 10, 11]
    assert "id not from u().delivered[]" not in _features(made)[0]


@pytest.mark.parametrize(
    ("path", "tools", "tool"),
    [
        ("get_user.orders[]", {"get", "get_user"}, "get_user"),
        ("get.user.x", {"get", "get.user"}, "get.user"),
        ("gone.x", {"get"}, "gone.x"),
        ("get", {"get"}, "get"),
    ],
    ids=["prefix of another", "dots in a name", "unknown", "the whole result"],
)
def test_the_longest_tool_that_fits_is_the_one_of_a_place(path: str, tools: set[str], tool: str):
    assert tool_of(path, frozenset(tools)) == tool


def test_a_tool_is_gathered_once_it_failed_often_enough():
    sample = sample_of(_each(failed("a"), failed("a"), failed("b"), call("c")))
    assert [one.tool for one in gather(sample, min_failures=2)] == ["a"]


def test_strata_are_categories_and_models():
    made = [asked(n, call("t"), category_hash=f"C-{n % 2}", model=f"m{n % 3}", days=1) for n in range(12)]
    _, cases = _features(made)
    assert sorted(stratum.bit_count() for stratum in cases.strata) == [2] * 6
