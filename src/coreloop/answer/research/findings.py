"""Findings: sentences that sources say, how sure they are, the tag that says so, and two that differ."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

CONTRADICTED: Final = "⚠ CONTRADICTED"
VERIFIED: Final = "✓✓ VERIFIED"
HIGH: Final = "✓ HIGH"
LIKELY: Final = "~ LIKELY"
UNCERTAIN: Final = "? UNCERTAIN"
VERIFIED_AT: Final = 0.8  # two independent origins, see `_CONFIDENCE`
_CONFIDENCE: Final = (0.0, 0.6, 0.8, 0.95)
"""Of a finding with none, one, two, and three or more independent origins."""
PRIMARY: Final = frozenset({"paper", "filing"})
"""Types of sources that report first, or that peers have reviewed."""
ContradictionKind = Literal["number", "date", "negation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a source brings to a finding.

    Attributes
    ----------
    number : int
        Of the source.
    origin : str
        Who says so: copies of one article, and pages of one site, have the same origin.
    type : str
        Of the source.
    """

    number: int
    origin: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence that sources say.

    Attributes
    ----------
    text : str
        One sentence.
    sources : tuple of int
        Numbers of the sources whose text supports it.
    confidence : float
        0–1, by the number of independent origins.
    tag : str
        One of `CONTRADICTED`, `VERIFIED`, `HIGH`, `LIKELY` and `UNCERTAIN`.
    hypothesis_id : str or None
        The hypothesis that it is about.
    iteration : int
        In which it was first recorded.
    answers : tuple of str
        Ids of the sub-questions that it answers.
    """

    text: str
    sources: tuple[int, ...]
    confidence: float
    tag: str
    hypothesis_id: str | None
    iteration: int
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A sentence and where it was found.

    Attributes
    ----------
    text : str
    sources : tuple of int
        Numbers of the sources that say so.
    published : date or None
        Of the newest of them; None if unknown.
    heading : str
        Above it in its source.
    """

    text: str
    sources: tuple[int, ...]
    published: date | None = None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences that cannot both be true.

    Attributes
    ----------
    a, b : SourcedText
        The earlier one first, where both dates are known.
    about : str
        The words of ``a`` that both have.
    kind : str
        What differs: ``number``, ``date`` or ``negation``.
    is_superseded : bool
        ``b`` is later and says that something changed, or the heading of ``a`` says that it is out of date.
    """

    a: SourcedText
    b: SourcedText
    about: str
    kind: ContradictionKind
    is_superseded: bool

    @property
    def is_dated(self) -> bool:
        """Whether ``b`` is known to be later."""
        return (
            self.a.published is not None
            and self.b.published is not None
            and self.a.published < self.b.published
        )


def confidence_of(evidence: Iterable[Provenance]) -> float:
    """Return how sure a finding is: 0.6, 0.8 and 0.95 for one, two and more independent origins."""
    origins = {item.origin for item in evidence}
    return _CONFIDENCE[min(len(origins), len(_CONFIDENCE) - 1)]


def tag_of(evidence: Sequence[Provenance], *, is_contradicted: bool = False) -> str:
    """Return the first tag that applies."""
    if is_contradicted:
        return CONTRADICTED
    if confidence_of(evidence) >= VERIFIED_AT:
        return VERIFIED
    if any(item.type in PRIMARY for item in evidence):
        return HIGH
    return LIKELY if evidence else UNCERTAIN


def rated(finding: Finding, evidence: Sequence[Provenance], *, is_contradicted: bool = False) -> Finding:
    """Return a finding with the confidence and the tag that its evidence gives it."""
    tag = tag_of(evidence, is_contradicted=is_contradicted)
    return replace(finding, confidence=confidence_of(evidence), tag=tag)


def merged(known: Finding, new: Finding) -> Finding:
    """Combine two findings of the same text: the sources of both, still to be `rated`."""
    return replace(
        known,
        sources=tuple(dict.fromkeys(known.sources + new.sources)),
        answers=tuple(dict.fromkeys(known.answers + new.answers)),
        hypothesis_id=known.hypothesis_id or new.hypothesis_id,
    )
