"""Features of a tool's calls, and the calls that have them."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.facts.values import EDGES, texts_by_hash
from coreloop.learn.mine.cases import Cases, places_of
from coreloop.learn.refine.features import Feature, gather, tool_of
from logs import call, failed
from rows import each_row
from samples import asked, sample_of

DECLARED = texts_by_hash(("refund", "shipping", "billing", "true", "false"))
Requests = Iterable[dict[str, Any]]


def _features(
    records: Requests, tool: str = "t", declared: Mapping[int, str] = DECLARED
) -> tuple[dict[str, Feature], Cases]:
    """Features of a tool's calls by their wording."""
    sample = sample_of(records)
    (tool_calls,) = [tool_calls for tool_calls in gather(sample, min_failures=0) if tool_calls.tool == tool]
    cases = tool_calls.cases(sample)
    features = tool_calls.features(
        cases, declared, sample.tools, listed=lambda name: [frozenset({"refund", "shipping"})]
    )
    return {str(feature.condition): feature for feature in features}, cases


def _calls_with(records: Requests, condition: str, **choices: Any) -> list[int]:
    """Places of the calls that have a feature, in the order of time."""
    return places_of(_features(records, **choices)[0][condition].calls)


def _each(*made: dict[str, Any]) -> list[dict[str, Any]]:
    return [asked(number, made_call, days=1) for number, made_call in enumerate(made)]


def test_an_argument_is_given_or_missing():
    made = _each(call("t", {"a": 1}), call("t", {"a": 1, "b": 2}), call("t"), call("t", {"a": None}))
    assert _calls_with(made, "with a") == [0, 1]
    assert _calls_with(made, "without a") == [2, 3]


def test_only_declared_values_are_named():
    features, _ = _features(_each(call("t", {"topic": "refund"}), call("t", {"topic": "Kim's own words"})))
    assert 'topic="refund"' in features
    assert not any("Kim" in line for line in features)


def test_an_undeclared_value_is_described_by_those_that_work():
    made = _each(
        *(call("t", {"topic": "refund"}) for _ in range(6)),
        *(call("t", {"topic": "shipping"}) for _ in range(6)),
        *(failed("t", {"topic": word}) for word in ("faq", "legal")),
    )
    features, _ = _features(made)
    feature = features['topic="…"']
    assert feature.names == ("refund", "shipping")
    assert places_of(feature.calls) == [12, 13]


def test_undeclared_values_that_work_as_well_are_not_described():
    made = _each(call("t", {"topic": "refund"}), *(call("t", {"topic": f"word{n}"}) for n in range(9)))
    assert 'topic="…"' not in _features(made)[0]


def test_a_number_is_over_a_bound_or_under_it():
    made = _each(*(call("t", {"amount": amount}) for amount in (10, 100, 150, 151, 900)), call("t"))
    features, _ = _features(made)
    assert places_of(features["amount over 150"].calls) == [3, 4]
    assert places_of(features["amount under 150"].calls) == [0, 1, 2]
    assert places_of(features["amount over 150"].within) == [0, 1, 2, 3, 4]


@each_row("amount", [2_000_000, 50_000_000, 0.002])
def test_bounds_of_great_and_small_numbers_are_written_out(amount: float):
    features, _ = _features(_each(call("t", {"amount": amount}), call("t", {"amount": amount * 5})))
    (line,) = [line for line in features if line.startswith("amount over")]
    assert "e" not in line.removeprefix("amount over")
    assert float(line.removeprefix("amount over ")) == pytest.approx(amount)


@given(st.lists(st.one_of(st.integers(-(10**14), 10**14), st.floats(-1e6, 1e6)), min_size=1, max_size=60))
def test_few_bounds_are_tested_and_each_divides_the_calls(numbers: list[float]):
    features, cases = _features(_each(*(call("t", {"amount": number}) for number in numbers)))
    over = [feature for line, feature in features.items() if " over " in line]
    assert len(over) <= 11
    for feature in over:
        bound = dict(feature.condition.slots)["number"][0]
        assert any(f"{edge:.4f}".rstrip("0").rstrip(".") == bound for edge in EDGES)
        assert feature.calls
        assert feature.within & ~feature.calls
        assert feature.within == cases.all


def test_a_value_without_a_source_differs_from_an_unrecorded_source():
    made = _each(
        call("t", {"id": 1}, args_from={"id": ["u.x"]}),
        call("t", {"id": 2}, args_from={"id": []}),
        call("t", {"id": 3}, args_from={"id": ["question"]}),
        call("t", {"id": 4}),
        call("u"),
    )
    features, _ = _features(made)
    assert places_of(features["id from no earlier result"].calls) == [1]
    assert places_of(features["id from no earlier result"].within) == [0, 1]


def test_the_question_is_never_a_side_of_a_condition():
    made = _each(
        *(call("t", {"id": n}, args_from={"id": ["u.x"]}) for n in range(6)),
        *(failed("t", {"id": n}) | {"args_from": {"id": ["question"]}} for n in range(6)),
        call("u"),
    )
    features, _ = _features([*made])
    assert not any("question" in line for line in features)
    assert "id not from u().x" not in features


def test_the_main_source_holds_most_values_of_successful_calls():
    made = _each(
        *(call("t", {"id": n}, args_from={"id": ["u.x"]}) for n in range(6)),
        *(failed("t", {"id": n}) | {"args_from": {"id": ["v.y"]}} for n in range(4)),
        call("u"),
        call("v"),
    )
    assert _calls_with(made, "id not from u().x") == [6, 7, 8, 9]
    assert "id not from v().y" not in _features(made)[0]


def test_after_a_call_with_the_same_value_and_before_one():
    made = [
        asked(0, call("u", {"id": 1}), call("t", {"id": 1}), days=1),
        asked(1, call("u", {"id": 2}), call("t", {"id": 1}), days=1),
        asked(2, failed("u", {"id": 1}), call("t", {"id": 1}), days=1),
        asked(3, call("t", {"id": 1}), call("u", {"id": 1}), days=1),
        asked(4, call("u", {"key": 1}), call("t", {"id": 1}), days=1),
    ]
    assert _calls_with(made, "after u (same id)") == [0]
    assert _calls_with(made, "before u (same id)") == [1, 2, 3, 4]


def test_the_call_before_is_no_feature():
    """After a failed call comes a retry: what stood before it is an effect, not a cause."""
    made = [asked(n, failed("t"), call("u"), call("t"), days=1) for n in range(3)]
    features, _ = _features(made)
    assert not [text for text in features if "right after" in text]


def test_of_two_fields_of_a_result_the_field_with_most_values_is_the_source():
    sources = {"args_from": {"id": ["u.all[]", "u.delivered[]"]}}
    made = _each(
        *(call("t", {"id": n}) | sources for n in range(6)),
        *(call("t", {"id": n}, args_from={"id": ["u.all[]"]}) for n in range(2)),
        *(failed("t", {"id": n}) | {"args_from": {"id": []}} for n in range(4)),
        call("u"),
    )
    assert _calls_with(made, "id not from u().all[]") == [8, 9, 10, 11]
    assert "id not from u().delivered[]" not in _features(made)[0]


@each_row(
    ("path", "tools", "tool"),
    [
        ("get_user.orders[]", {"get", "get_user"}, "get_user"),
        ("get.user.x", {"get", "get.user"}, "get.user"),
        ("gone.x", {"get"}, "gone.x"),
        ("get", {"get"}, "get"),
    ],
    ids=["prefix of another", "dots in a name", "unknown", "the whole result"],
)
def test_the_tool_of_a_path_is_the_longest_match(path: str, tools: set[str], tool: str):
    assert tool_of(path, frozenset(tools)) == tool


def test_only_tools_with_enough_failures_are_gathered():
    sample = sample_of(_each(failed("a"), failed("a"), failed("b"), call("c")))
    assert [tool_calls.tool for tool_calls in gather(sample, min_failures=2)] == ["a"]


def test_strata_are_categories_and_models():
    made = [asked(n, call("t"), category_hash=f"C-{n % 2}", model=f"m{n % 3}", days=1) for n in range(12)]
    _, cases = _features(made)
    assert sorted(stratum.bit_count() for stratum in cases.strata) == [2] * 6
