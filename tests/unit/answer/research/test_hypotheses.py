"""Hypotheses: each piece of evidence counts once, and the priority is the documented formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.answer.research.hypotheses import (
    MAX_ACTIVE,
    Hypothesis,
    Weight,
    density,
    priority,
    ranked,
    with_evidence,
)

NEW = Hypothesis(id="h1", statement="s", last_updated_iteration=1)


def weight(summary: str, iteration: int = 1) -> Weight:
    return Weight(source="docs/a.md", summary=summary, confidence=0.6, iteration=iteration)


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["supports", "contradicts", "neutral"]))))
def test_confidence_density_and_priority_stay_between_0_and_1(pieces: list[tuple[int, str]]):
    hypothesis = NEW
    for number, stance in pieces:
        hypothesis = with_evidence(hypothesis, weight(str(number), number), stance)
    counted = hypothesis.supporting_evidence + hypothesis.contradicting_evidence
    assert len(set(counted)) == len(counted)
    assert 0 <= hypothesis.confidence <= 1
    assert 0 <= density(hypothesis) <= 1
    assert 0 <= priority(hypothesis, iteration=31) <= 1


def test_density_counts_support_against_half_of_the_contradictions():
    hypothesis = Hypothesis(
        id="h1",
        statement="s",
        supporting_evidence=tuple(map(weight, "abc")),
        contradicting_evidence=tuple(map(weight, "de")),
    )
    assert density(hypothesis) == pytest.approx(0.2)


def test_the_likeliest_come_first_and_five_are_active():
    many = [
        Hypothesis(id=f"h{number}", statement="s", confidence=number / 10, last_updated_iteration=1)
        for number in range(8)
    ]
    assert [one.id for one in ranked(many, iteration=1)[:MAX_ACTIVE]] == ["h7", "h6", "h5", "h4", "h3"]
