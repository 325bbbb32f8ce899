"""Which rules become causes: the simplest rules that separate failed calls from the others."""

from random import Random
from typing import Any

from coreloop.learn.mine.cases import Cases, bits_of, stratify
from coreloop.learn.mine.statistics import combined_p, fisher_exact
from coreloop.learn.proposals.advice import condition
from coreloop.learn.refine.causes import MIN_CALLS, CauseSearch, find_causes
from coreloop.learn.refine.features import Feature
from rows import each_row

N = 200


def _cases(bad: Any, *, held: Any = (), questions: int = N, strata: Any = None) -> Cases:
    good = set(range(N)) - set(bad)
    keys = strata or [0] * N
    return Cases(
        N, bits_of(good, N), bits_of(held, N), [place % questions for place in range(N)], stratify(keys)
    )


def _feature(name: str, calls: Any, *, rank: int = 0, within: Any = range(N)) -> Feature:
    return Feature(condition("without", arguments=name), bits_of(calls, N), bits_of(within, N), rank)


def _lines(search: CauseSearch) -> list[str]:
    return [" and ".join(str(feature.condition) for feature in cause.features) for cause in search.causes]


HELD = range(0, N, 3)
"""A third of the calls, spread."""


def test_the_rule_that_separates_best_is_the_cause():
    search = find_causes(_cases(range(40), held=HELD), [_feature("a", range(60)), _feature("b", range(40))])
    assert _lines(search) == ["without b"]


def test_correlated_conditions_come_out_as_one_sentence():
    features = [
        _feature(name, range(start, 40 + start), rank=1) for name, start in (("a", 0), ("b", 1), ("c", 2))
    ]
    assert len(find_causes(_cases(range(40), held=HELD), features).causes) == 1


def test_of_equivalent_rules_the_better_reason_is_chosen():
    features = [_feature("coincides", range(40), rank=3), _feature("reason", range(41), rank=1)]
    assert _lines(find_causes(_cases(range(40), held=HELD), features)) == ["without reason"]


def test_two_causes_are_two_sentences():
    features = [_feature("a", range(40)), _feature("b", range(60, 90))]
    search = find_causes(_cases([*range(40), *range(60, 90)], held=HELD), features)
    assert sorted(_lines(search)) == ["without a", "without b"]


def test_arguments_that_are_missing_together_are_one_rule():
    search = find_causes(_cases(range(40), held=HELD), [_feature("a", range(40)), _feature("b", range(40))])
    (cause,) = search.causes
    assert len(cause.features) == 2


def test_two_conditions_are_combined_if_each_alone_explains_little():
    over = Feature(
        condition("over", argument="amount", number="150"), bits_of(range(100), N), bits_of(range(N), N), 1
    )
    missing = _feature("reason", range(0, N, 2))
    bad = [place for place in range(100) if place % 2 == 0]
    search = find_causes(_cases(bad, held=HELD), [over, missing])
    assert {feature.condition.form for feature in search.causes[0].features} == {"over", "without"}


def test_a_second_condition_that_adds_nothing_is_left_out():
    search = find_causes(_cases(range(40), held=HELD), [_feature("a", range(40)), _feature("b", range(120))])
    assert len(search.causes[0].features) == 1


@each_row(("n", "expected"), [(MIN_CALLS, True), (MIN_CALLS - 1, False)])
def test_each_side_needs_eight_calls_of_all_days(n: int, expected: bool):
    held = range(100, N, 2)
    calls = [*range(n - 2), *held[:2]]
    assert bool(find_causes(_cases(calls, held=held), [_feature("a", calls)]).causes) == expected


@each_row(("questions", "expected"), [(5, True), (4, False)])
def test_each_side_needs_five_questions(questions: int, expected: bool):
    search = find_causes(_cases(range(60), held=HELD, questions=questions), [_feature("a", range(60))])
    assert bool(search.causes) == expected


@each_row(("failures", "expected"), [(40, True), (39, False)])
def test_less_than_20_points_are_not_worth_a_line(failures: int, expected: bool):
    """A side of 100 with 20 failures, and one of 100 with 40: in floating point a little less than 0.2."""
    spread = [*range(100), *range(100, N)]
    bad = [*spread[:failures], *range(100, 120)]
    held = [place for place in range(N) if place % 5 == 0]
    assert bool(find_causes(_cases(bad, held=held), [_feature("a", range(100))]).causes) == expected


def test_a_rule_that_reverses_on_the_held_out_days_is_no_cause():
    held = [*range(30), *range(100, 130)]
    bad = [*range(30, 80), *range(100, 125)]  # on the last days the others fail
    assert find_causes(_cases(bad, held=held), [_feature("a", range(100))]).causes == ()


def test_without_held_out_days_there_is_no_cause():
    assert find_causes(_cases(range(40)), [_feature("a", range(40))]).causes == ()


def test_a_difference_that_a_category_explains_is_no_cause():
    """The hard category fails in 80 % of calls and lacks the argument in 80 %; the argument does nothing."""
    rng = Random(4)
    hard = [place % 2 for place in range(N)]
    lacks = [place for place in range(N) if rng.random() < (0.8 if hard[place] else 0.2)]
    bad = [place for place in range(N) if rng.random() < (0.8 if hard[place] else 0.2)]
    feature = _feature("a", lacks)
    assert find_causes(_cases(bad, held=HELD), [feature]).causes
    assert find_causes(_cases(bad, held=HELD, strata=hard), [feature]).causes == ()


def test_a_cause_in_a_single_category_is_found():
    """Records cannot tell the category from the rule as the cause; the rule holds in any case."""
    hard = [int(place < 40) for place in range(N)]
    assert find_causes(_cases(range(40), held=HELD, strata=hard), [_feature("a", range(40))]).causes


@each_row("bad", [range(N), ()], ids=["only failures", "only successes"])
def test_calls_with_the_same_outcome_have_no_cause(bad: Any):
    assert find_causes(_cases(bad, held=HELD), [_feature("a", range(80))]).causes == ()


def test_the_held_out_days_confirm_causes_but_do_not_choose_them():
    held = [place for place in range(N) if place % 5 == 0]
    (cause,) = find_causes(_cases(range(40), held=held), [_feature("a", range(60))]).causes
    assert 0 < cause.combined_p < cause.p_value / 100
    assert cause.p_value == fisher_exact(16, 48, 112, 112)


def test_held_out_days_that_contradict_a_rule_count_as_p_one():
    held = [place for place in range(N) if place % 5 == 0]
    bad = [*(place for place in range(40) if place % 5), *range(100, N, 5)]
    search = find_causes(_cases(bad, held=held), [_feature("a", range(60))])
    assert search.p_values == (combined_p(fisher_exact(16, 48, 112, 112), 1.0),)


def test_every_test_counts_for_the_correction():
    rng = Random(1)
    features = [_feature(f"a{n}", [place for place in range(N) if rng.random() < 0.5]) for n in range(30)]
    bad = [place for place in range(N) if rng.random() < 0.3]
    assert len(find_causes(_cases(bad, held=HELD), features).p_values) >= 30
