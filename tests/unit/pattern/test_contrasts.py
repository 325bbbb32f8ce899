"""What went together with requests that succeeded: what came first, what was repeated, what was chosen."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from coreloop.pattern.contrasts import Contrast, find_contrasts, without_repeats
from logs import call, failed
from samples import asked, sample_of

Made = Callable[[int, bool], list[Any]]


def _found(make: Made, *, count: int = 120, **more: Any) -> list[Contrast]:
    """Of requests of which every second has something, and succeeds."""
    made = [asked(n, *make(n, n // 10 % 2 == 0), ok=n // 10 % 2 == 0, **more) for n in range(count)]
    return find_contrasts(sample_of(made))


def _sure(found: list[Contrast]) -> dict[str, str]:
    """Kind by line of what is worth saying."""
    return {str(one.advice): one.kind for one in found if not one.n_missing and one.is_worth_saying()}


def test_a_step_before_a_call_is_told_from_its_absence():
    found = _sure(_found(lambda n, has: [*([call("look")] if has else []), call("pay")]))
    assert found == {"- First: look": "order"}


def test_a_step_that_failed_came_not_first():
    assert _sure(_found(lambda n, has: [*([failed("look")] if has else []), call("pay")])) == {}


def test_a_step_after_the_call_came_not_first():
    assert "- First: look" not in _sure(
        _found(lambda n, has: [call("pay"), *([call("look")] if has else [])])
    )


def test_one_call_is_told_from_many_and_what_it_saves():
    found = _found(lambda n, has: [call("pay")] * (1 if has else 3))
    (one,) = [one for one in found if one.kind == "once"]
    assert _sure(found) == {"- Call once per request": "once"}
    assert one.n_saved == 120


@pytest.mark.parametrize(
    ("of_others", "refused"),
    [
        (60, "weak: in 60 of 60 requests no call repeats another's arguments; all may be needed"),
        (31, "weak: in 31 of 60 requests no call repeats another's arguments; all may be needed"),
        (30, None),
    ],
)
def test_repeats_that_are_about_something_else_may_be_needed(of_others: int, refused: str | None):
    left = iter([True] * of_others + [False] * (60 - of_others))

    def make(number: int, has: bool) -> list[Any]:
        once = call("pay", {"order_id": number})
        return [once] if has else [once, call("pay", {"order_id": -number - 1}) if next(left) else once]

    (found,) = [one for one in _found(make) if one.kind == "once"]
    assert found.is_worth_saying()
    assert found.refused == refused


def test_a_retry_after_a_failure_is_no_repetition():
    assert _found(lambda n, has: [*([] if has else [failed("pay")]), call("pay")]) == []


def test_of_two_tools_that_were_tried_for_a_keyword_the_better_is_said_of_the_other():
    found = _found(lambda n, has: [call("change" if has else "modify")], question="")
    assert found == []
    made = [
        asked(
            n,
            call("change" if n // 10 % 2 else "modify"),
            ok=bool(n // 10 % 2),
            question=f"exchange {'x' * n}",
        )
        for n in range(120)
    ]
    (one,) = find_contrasts(sample_of(made))
    assert (one.kind, one.tool, str(one.advice)) == ("choice", "modify", "- For exchange use change")


def test_without_a_keyword_nothing_is_a_choice():
    assert _found(lambda n, has: [call("change" if has else "modify")]) == []


def test_two_tools_that_are_used_together_are_no_choice():
    rng = Random(3)
    made = []
    for number in range(240):
        used = [call("look"), *([call("change")] if rng.random() < 0.6 else [])]
        made.append(asked(number, *used, ok=rng.random() < 0.5, question=f"exchange {'x' * number}"))
    assert [one for one in find_contrasts(sample_of(made)) if one.kind == "choice"] == []


def _with_source(places: list[str]) -> Any:
    return call("pay", {"id": 1}) | {"args_from": {"id": places}}


def test_where_a_value_came_from_is_told_from_elsewhere():
    found = _sure(
        _found(lambda n, has: [call("look"), call("other"), _with_source(["look.x"] if has else ["other.y"])])
    )
    assert found == {"- id: from look().x": "order"}


def test_question_is_never_half_of_a_contrast():
    found = _found(lambda n, has: [call("look"), _with_source(["look.x"] if has else ["question"])])
    assert found == []
    found = _found(lambda n, has: [call("look"), _with_source(["question"] if has else ["look.x"])])
    assert found == []


@pytest.mark.parametrize(("count", "missing"), [(2, 0), (1, 10)])
def test_each_side_needs_twenty_requests_of_all_days(count: int, missing: int):
    made = [
        asked(n, *([call("look")] if n % 20 < 10 else []), call("pay"), ok=n % 20 < 10)
        for n in range(20 * count)
    ]
    found = {str(one.advice): one.n_missing for one in find_contrasts(sample_of(made))}
    assert found["- First: look"] == missing


def test_each_side_needs_five_questions():
    made = [
        asked(
            n,
            *([call("look")] if n // 10 % 2 else []),
            call("pay"),
            ok=bool(n // 10 % 2),
            question=f"{'abcd'[n % 4]}",
        )
        for n in range(200)
    ]
    assert find_contrasts(sample_of(made)) == []


@pytest.mark.parametrize("by", ["category_hash", "model"])
def test_what_a_category_or_a_model_explains_is_not_said(by: str):
    rng, made = Random(5), []
    for number in range(600):
        easy = rng.random() < 0.5
        looked = rng.random() < (0.8 if easy else 0.2)
        calls = [*([call("look")] if looked else []), call("pay")]
        made.append(
            asked(
                number, *calls, ok=rng.random() < (0.9 if easy else 0.4), **{by: "RET-a" if easy else "RET-b"}
            )
        )
    assert _sure(find_contrasts(sample_of(made))) == {}
    alike = [one | {by: "RET-a"} for one in made]
    assert _sure(find_contrasts(sample_of(alike))) == {"- First: look": "order"}


def test_a_sign_that_turns_on_the_last_days_is_not_said():
    made = []
    for number in range(400):
        has, is_late = number // 10 % 2 == 0, number % 10 >= 7
        made.append(asked(number, *([call("look")] if has else []), call("pay"), ok=has != is_late))
    assert _sure(find_contrasts(sample_of(made))) == {}


@pytest.mark.parametrize("ok", [True, False], ids=["only successes", "only failures"])
def test_requests_that_all_end_alike_say_nothing(ok: bool):
    made = [asked(n, *([call("look")] if n // 10 % 2 else []), call("pay"), ok=ok) for n in range(120)]
    assert _sure(find_contrasts(sample_of(made))) == {}


def test_what_counts_neither_way_is_on_no_side():
    found = _found(
        lambda n, has: [
            *([call("look")] if has else []),
            call("pay"),
            failed("net", error="RateLimitError: 429 Too Many Requests"),
        ]
    )
    assert found == []


def test_contrasts_of_the_same_requests_are_one_and_the_choice_is_said():
    made = [
        asked(
            n,
            call("change" if n // 10 % 2 else "modify"),
            call("finish"),
            ok=bool(n // 10 % 2),
            question=f"exchange {'x' * n}",
        )
        for n in range(120)
    ]
    found = [one for one in find_contrasts(sample_of(made)) if one.is_worth_saying()]
    assert {str(one.advice) for one in found} == {"- First: change", "- For exchange use change"}
    (kept,) = without_repeats((one, 0.01) for one in found)
    assert kept[0].kind == "choice"


def test_a_contrast_of_some_of_a_choices_requests_says_nothing_more():
    made = [
        asked(
            n,
            call("change" if n // 10 % 2 else "modify"),
            *([call("finish")] if n % 3 else []),
            ok=bool(n // 10 % 2),
            question=f"exchange {'x' * n}",
        )
        for n in range(180)
    ]
    found = [one for one in find_contrasts(sample_of(made)) if one.is_worth_saying()]
    assert {(str(one.advice), one.tool) for one in found} == {
        ("- First: change", "finish"),
        ("- For exchange use change", "modify"),
    }
    (kept,) = without_repeats((one, 0.01) for one in found)
    assert kept[0].kind == "choice"


def test_a_step_before_two_calls_is_said_of_the_earlier_one():
    found = [
        one
        for one in _found(lambda n, has: [*([call("look")] if has else []), call("pay"), call("a_thanks")])
        if one.is_worth_saying()
    ]
    assert {one.tool for one in found} == {"pay", "a_thanks"}
    (kept,) = without_repeats((one, 0.01) for one in found)
    assert kept[0].tool == "pay"


@pytest.mark.parametrize("path", ["", "look", "look.x\ny", "nowhere.x", "look.<b>"])
def test_a_hostile_place_is_no_contrast_of_its_own(path: str):
    found = _found(lambda n, has: [call("look"), call("other"), _with_source([path] if has else ["other.y"])])
    assert all("\n" not in str(one.advice) and "<" not in str(one.advice) for one in found)


def test_a_statement_says_what_its_sides_are():
    made = [
        asked(
            n, *([call("look")] if n // 10 % 2 else []), call("pay"), ok=bool(n // 10 % 2), provider="openai"
        )
        for n in range(120)
    ]
    sample = sample_of(made)
    (one,) = [one for one in find_contrasts(sample) if str(one.advice) == "- First: look"]
    said = one.statement(sample, q_value=0.01)
    assert (said.sides.n_ok, said.sides.n, said.sides.other_ok, said.sides.other_n) == (60, 60, 0, 60)
    assert (said.held.n, said.held.other_n, said.n_questions) == (18, 18, 60)
    assert said.avoided == pytest.approx(500)
    assert said.providers == {"openai": 120}
    assert said.low > 0.8


def test_requests_that_nobody_is_compared_with_are_no_evidence():
    """Of one category all have it, of the other most, and only its few others fail."""
    made = [asked(n, call("look"), call("pay"), ok=True, category_hash="A-one") for n in range(60)] + [
        asked(n, *([call("look")] if n % 20 else []), call("pay"), ok=bool(n % 20), category_hash="B-two")
        for n in range(60, 120)
    ]
    assert "- First: look" not in {
        str(one.advice) for one in find_contrasts(sample_of(made)) if not one.n_missing
    }


def test_failures_that_would_be_avoided_are_no_more_than_there_were():
    made = [
        asked(
            n,
            *([call("look")] if n % 2 else []),
            call("pay"),
            ok=bool(n % 2) or n % 4 == 0,
            category_hash="B-two",
        )
        for n in range(120)
    ] + [asked(n, call("pay"), ok=True, category_hash="A-one") for n in range(120, 240)]
    sample = sample_of(made)
    (one,) = [one for one in find_contrasts(sample) if str(one.advice) == "- First: look"]
    statement = one.statement(sample, q_value=0.0)
    assert statement.sides.other_n == 60
    assert round(statement.avoided * len(made) / 1000) <= 30
