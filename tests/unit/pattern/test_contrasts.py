"""Contrasts between successful and other requests: order of calls, repeats, choice of tool."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from coreloop.pattern.contrasts import Contrast, find_contrasts, without_repeats
from logs import call, failed
from rows import each_row
from samples import asked, sample_of

Made = Callable[[int, bool], list[Any]]


def _find(make: Made, *, count: int = 120, **more: Any) -> list[Contrast]:
    """Contrasts of requests half of which have a property and succeed."""
    made = [asked(n, *make(n, n // 10 % 2 == 0), ok=n // 10 % 2 == 0, **more) for n in range(count)]
    return find_contrasts(sample_of(made))


def _sure(contrasts: list[Contrast]) -> dict[str, str]:
    """Kinds of the significant contrasts, by line."""
    return {
        str(contrast.advice): contrast.kind
        for contrast in contrasts
        if not contrast.n_missing and contrast.is_worth_saying()
    }


def test_a_step_before_a_call_is_compared_with_its_absence():
    contrasts = _sure(_find(lambda n, has: [*([call("look")] if has else []), call("pay")]))
    assert contrasts == {"- First: look": "order"}


def test_a_failed_step_does_not_count_as_first():
    assert _sure(_find(lambda n, has: [*([failed("look")] if has else []), call("pay")])) == {}


def test_a_step_after_the_call_does_not_count_as_first():
    assert "- First: look" not in _sure(_find(lambda n, has: [call("pay"), *([call("look")] if has else [])]))


def test_a_single_call_is_compared_with_many_and_saved_calls_are_counted():
    contrasts = _find(lambda n, has: [call("pay")] * (1 if has else 3))
    (contrast,) = [contrast for contrast in contrasts if contrast.kind == "once"]
    assert _sure(contrasts) == {"- Call once per request": "once"}
    assert contrast.n_saved == 120


@each_row(
    ("of_others", "refused"),
    [
        (60, "weak: in 60 of 60 requests no call repeats another's arguments; all may be needed"),
        (31, "weak: in 31 of 60 requests no call repeats another's arguments; all may be needed"),
        (30, None),
    ],
)
def test_repeats_with_other_arguments_may_be_needed(of_others: int, refused: str | None):
    left = iter([True] * of_others + [False] * (60 - of_others))

    def make(number: int, has: bool) -> list[Any]:
        once = call("pay", {"order_id": number})
        return [once] if has else [once, call("pay", {"order_id": -number - 1}) if next(left) else once]

    (contrast,) = [contrast for contrast in _find(make) if contrast.kind == "once"]
    assert contrast.is_worth_saying()
    assert contrast.refused == refused


def test_a_retry_after_a_failure_is_no_repetition():
    assert _find(lambda n, has: [*([] if has else [failed("pay")]), call("pay")]) == []


def test_of_two_tools_for_a_keyword_the_better_is_advised_in_the_other():
    contrasts = _find(lambda n, has: [call("change" if has else "modify")], question="")
    assert contrasts == []
    made = [
        asked(
            n,
            call("change" if n // 10 % 2 else "modify"),
            ok=bool(n // 10 % 2),
            question=f"exchange {'x' * n}",
        )
        for n in range(120)
    ]
    (contrast,) = find_contrasts(sample_of(made))
    assert (contrast.kind, contrast.tool, str(contrast.advice)) == (
        "choice",
        "modify",
        "- For exchange use change",
    )


def test_without_a_keyword_nothing_is_a_choice():
    assert _find(lambda n, has: [call("change" if has else "modify")]) == []


def test_two_tools_that_are_used_together_are_no_choice():
    rng = Random(3)
    made = []
    for number in range(240):
        used = [call("look"), *([call("change")] if rng.random() < 0.6 else [])]
        made.append(asked(number, *used, ok=rng.random() < 0.5, question=f"exchange {'x' * number}"))
    assert [contrast for contrast in find_contrasts(sample_of(made)) if contrast.kind == "choice"] == []


def _with_source(places: list[str]) -> Any:
    return call("pay", {"id": 1}) | {"args_from": {"id": places}}


def test_a_source_is_compared_with_other_sources():
    contrasts = _sure(
        _find(lambda n, has: [call("look"), call("other"), _with_source(["look.x"] if has else ["other.y"])])
    )
    assert contrasts == {"- id: from look().x": "order"}


def test_the_question_is_never_a_side_of_a_contrast():
    contrasts = _find(lambda n, has: [call("look"), _with_source(["look.x"] if has else ["question"])])
    assert contrasts == []
    contrasts = _find(lambda n, has: [call("look"), _with_source(["question"] if has else ["look.x"])])
    assert contrasts == []


@each_row(("count", "missing"), [(2, 0), (1, 10)])
def test_each_side_needs_twenty_requests_of_all_days(count: int, missing: int):
    made = [
        asked(n, *([call("look")] if n % 20 < 10 else []), call("pay"), ok=n % 20 < 10)
        for n in range(20 * count)
    ]
    contrasts = {str(contrast.advice): contrast.n_missing for contrast in find_contrasts(sample_of(made))}
    assert contrasts["- First: look"] == missing


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


@each_row("by", ["category_hash", "model"])
def test_a_difference_that_a_category_or_a_model_explains_is_not_stated(by: str):
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
    same = [request | {by: "RET-a"} for request in made]
    assert _sure(find_contrasts(sample_of(same))) == {"- First: look": "order"}


def test_a_difference_that_reverses_on_the_held_out_days_is_not_stated():
    made = []
    for number in range(400):
        has, is_late = number // 10 % 2 == 0, number % 10 >= 7
        made.append(asked(number, *([call("look")] if has else []), call("pay"), ok=has != is_late))
    assert _sure(find_contrasts(sample_of(made))) == {}


@each_row("ok", [True, False], ids=["only successes", "only failures"])
def test_requests_with_the_same_outcome_show_nothing(ok: bool):
    made = [asked(n, *([call("look")] if n // 10 % 2 else []), call("pay"), ok=ok) for n in range(120)]
    assert _sure(find_contrasts(sample_of(made))) == {}


def test_neutral_requests_are_on_no_side():
    contrasts = _find(
        lambda n, has: [
            *([call("look")] if has else []),
            call("pay"),
            failed("net", error="RateLimitError: 429 Too Many Requests"),
        ]
    )
    assert contrasts == []


def test_of_contrasts_of_the_same_requests_the_choice_is_stated():
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
    contrasts = [contrast for contrast in find_contrasts(sample_of(made)) if contrast.is_worth_saying()]
    assert {str(contrast.advice) for contrast in contrasts} == {
        "- First: change",
        "- For exchange use change",
    }
    (different,) = without_repeats((contrast, 0.01) for contrast in contrasts)
    assert different[0].kind == "choice"


def test_a_contrast_of_some_of_a_choices_requests_is_dropped():
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
    contrasts = [contrast for contrast in find_contrasts(sample_of(made)) if contrast.is_worth_saying()]
    assert {(str(contrast.advice), contrast.tool) for contrast in contrasts} == {
        ("- First: change", "finish"),
        ("- For exchange use change", "modify"),
    }
    (different,) = without_repeats((contrast, 0.01) for contrast in contrasts)
    assert different[0].kind == "choice"


def test_a_step_before_two_calls_is_stated_for_the_earlier_call():
    contrasts = [
        contrast
        for contrast in _find(
            lambda n, has: [*([call("look")] if has else []), call("pay"), call("a_thanks")]
        )
        if contrast.is_worth_saying()
    ]
    assert {contrast.tool for contrast in contrasts} == {"pay", "a_thanks"}
    (different,) = without_repeats((contrast, 0.01) for contrast in contrasts)
    assert different[0].tool == "pay"


@each_row("path", ["", "look", "look.x\ny", "nowhere.x", "look.<b>"])
def test_a_hostile_place_is_no_contrast_of_its_own(path: str):
    contrasts = _find(
        lambda n, has: [call("look"), call("other"), _with_source([path] if has else ["other.y"])]
    )
    assert all("\n" not in str(contrast.advice) and "<" not in str(contrast.advice) for contrast in contrasts)


def test_a_statement_has_the_counts_of_its_sides():
    made = [
        asked(
            n, *([call("look")] if n // 10 % 2 else []), call("pay"), ok=bool(n // 10 % 2), provider="openai"
        )
        for n in range(120)
    ]
    sample = sample_of(made)
    (contrast,) = [contrast for contrast in find_contrasts(sample) if str(contrast.advice) == "- First: look"]
    statement = contrast.statement(sample, q_value=0.01)
    assert (statement.sides.n_ok, statement.sides.n, statement.sides.other_ok, statement.sides.other_n) == (
        60,
        60,
        0,
        60,
    )
    assert (statement.held.n, statement.held.other_n, statement.n_questions) == (18, 18, 60)
    assert statement.avoided == pytest.approx(500)
    assert statement.providers == {"openai": 120}
    assert statement.low > 0.8


def test_strata_with_a_single_side_are_no_evidence():
    """In a category all have the property, in the other most, and only the rest of it fails."""
    made = [asked(n, call("look"), call("pay"), ok=True, category_hash="A-one") for n in range(60)] + [
        asked(n, *([call("look")] if n % 20 else []), call("pay"), ok=bool(n % 20), category_hash="B-two")
        for n in range(60, 120)
    ]
    assert "- First: look" not in {
        str(contrast.advice) for contrast in find_contrasts(sample_of(made)) if not contrast.n_missing
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
    (contrast,) = [contrast for contrast in find_contrasts(sample) if str(contrast.advice) == "- First: look"]
    statement = contrast.statement(sample, q_value=0.0)
    assert statement.sides.other_n == 60
    assert round(statement.avoided * len(made) / 1000) <= 30
