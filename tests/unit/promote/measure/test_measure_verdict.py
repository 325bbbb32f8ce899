"""Paired answers of a model, and what they say about a line."""

import random

import pytest

from coreloop.promote.measure.measurement import (
    MeasureVerdict,
    Pair,
    compare_pairs,
    judge_difference,
    judge_model,
)


def pairs(*counts: int, per_case: int = 1) -> list[Pair]:
    """Pairs by how many contexts were right: with both, only without the line, only with it, with neither."""
    shares = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    flat = [share for share, count in zip(shares, counts, strict=True) for _ in range(count)]
    return [Pair(f"case {number // per_case}", *share) for number, share in enumerate(flat)]


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((40, 0, 16, 24), MeasureVerdict.HELPS),
        ((40, 16, 0, 24), MeasureVerdict.HURTS),
        ((40, 0, 0, 40), MeasureVerdict.EQUIVALENT),
        ((30, 12, 12, 26), MeasureVerdict.NOT_KNOWN),
    ],
)
def test_a_verdict_follows_from_the_answers_that_changed(
    counts: tuple[int, ...], verdict: MeasureVerdict
) -> None:
    assert judge_difference(compare_pairs(pairs(*counts))) is verdict


def test_repeats_of_one_case_are_no_more_evidence_than_the_case() -> None:
    alone, repeated = compare_pairs(pairs(40, 0, 16, 24)), compare_pairs(pairs(40, 0, 16, 24, per_case=8))
    assert repeated.mean == alone.mean
    assert repeated.high - repeated.low > 2 * (alone.high - alone.low)
    assert judge_difference(repeated) is MeasureVerdict.NOT_KNOWN


def test_the_interval_covers_the_truth_in_95_percent() -> None:
    draw, covered = random.Random(3), 0
    for _ in range(600):
        found = compare_pairs(
            [
                Pair(f"{number}", float(draw.random() < 0.5), float(draw.random() < 0.6))
                for number in range(60)
            ]
        )
        covered += found.low <= 0.1 <= found.high
    assert 0.93 <= covered / 600 <= 0.98


def test_a_loss_is_not_excluded_where_there_is_nothing_to_lose() -> None:
    assert compare_pairs(pairs(40, 0, 0, 0)).excludes_harm
    assert not compare_pairs(pairs(0, 0, 0, 40)).excludes_harm
    assert not compare_pairs(pairs(8, 2, 0, 0)).excludes_harm


@pytest.mark.parametrize(
    ("base", "gold", "verdict"),
    [
        (20, 20, MeasureVerdict.NOTHING_TO_GAIN),
        (1, 2, MeasureVerdict.TOO_WEAK),
        (1, 6, None),
        (8, 20, None),
    ],
)
def test_a_model_must_have_something_to_gain_and_be_able_to(
    base: int, gold: int, verdict: MeasureVerdict | None
) -> None:
    assert judge_model([1.0] * base + [0.0] * (20 - base), [1.0] * gold + [0.0] * (20 - gold)) is verdict
    assert judge_model([0.0] * 20, []) is None
