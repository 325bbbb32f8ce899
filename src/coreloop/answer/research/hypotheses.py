"""Hypotheses: statements that evidence makes more or less likely, each piece of evidence once."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

Stance = Literal["supports", "contradicts", "neutral"]
START: Final = 0.5  # this and the next two as the specification has them
FOR: Final = 0.10  # see above
AGAINST: Final = -0.15  # see above
MAX_ACTIVE: Final = 5
_RECENT_ITERATIONS: Final = 2  # the specification: recent if last_updated >= current_iteration - 2
_MANY: Final = 10
"""Pieces of supporting evidence that make the density 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A piece of evidence for or against a hypothesis.

    Attributes
    ----------
    source : str
        Locations of the finding's sources.
    summary : str
        The finding.
    confidence : float
        Of the finding, 0–1.
    iteration : int
        In which it was counted.
    """

    source: str
    summary: str
    confidence: float
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A statement to test.

    Attributes
    ----------
    id : str
        ``h1``, ``h2``, …
    statement : str
        One sentence.
    confidence : float
        0–1, from `START`.
    priority_score : float
        0–1, see `priority`.
    supporting_evidence, contradicting_evidence : tuple of Weight
        Findings, each once.
    last_updated_iteration : int
        In which it was made, or got its last evidence.
    """

    id: str
    statement: str
    confidence: float = START
    priority_score: float = 0.0
    supporting_evidence: tuple[Weight, ...] = ()
    contradicting_evidence: tuple[Weight, ...] = ()
    last_updated_iteration: int = 0


def with_evidence(hypothesis: Hypothesis, evidence: Weight, stance: Stance) -> Hypothesis:
    """Count a piece of evidence; one that was counted already, or is neutral, changes nothing."""
    counted = hypothesis.supporting_evidence + hypothesis.contradicting_evidence
    if stance == "neutral" or evidence.summary in {known.summary for known in counted}:
        return hypothesis
    is_for = stance == "supports"
    confidence = _clamped(hypothesis.confidence + (FOR if is_for else AGAINST))
    changed = replace(hypothesis, confidence=round(confidence, 2), last_updated_iteration=evidence.iteration)
    if is_for:
        return replace(changed, supporting_evidence=(*changed.supporting_evidence, evidence))
    return replace(changed, contradicting_evidence=(*changed.contradicting_evidence, evidence))


def density(hypothesis: Hypothesis) -> float:
    """Return how much evidence there is, 0–1: (for − 0.5 against) / 10."""
    supporting, against = len(hypothesis.supporting_evidence), len(hypothesis.contradicting_evidence)
    return _clamped((supporting - 0.5 * against) / _MANY)


def priority(hypothesis: Hypothesis, *, iteration: int) -> float:
    """Return 0.5 confidence + 0.3 density + 0.2 recency.

    The recency is 1.0 if the last evidence is at most two iterations old, else 0.5.
    """
    is_recent = iteration - hypothesis.last_updated_iteration <= _RECENT_ITERATIONS
    recency = 1.0 if is_recent else 0.5
    return round(0.5 * hypothesis.confidence + 0.3 * density(hypothesis) + 0.2 * recency, 4)


def ranked(hypotheses: Iterable[Hypothesis], *, iteration: int) -> list[Hypothesis]:
    """Return the hypotheses with their priorities after an iteration, the highest first.

    The first `MAX_ACTIVE` are active, the others are kept for review.
    """
    scored = [
        replace(hypothesis, priority_score=priority(hypothesis, iteration=iteration))
        for hypothesis in hypotheses
    ]
    return sorted(scored, key=lambda hypothesis: (-hypothesis.priority_score, hypothesis.id))


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value))
