"""Findings: sentences that sources say, how sure they are, the tag that says so, and two that differ."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, Protocol

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


class Evidence(Protocol):
    """A source of a finding: ``origin`` is who says so, the same of copies and of pages of one site."""

    @property
    def origin(self) -> str: ...
    @property
    def type(self) -> str: ...


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
    confidence: float = 0.0
    tag: str = UNCERTAIN
    hypothesis_id: str | None = None
    iteration: int
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A sentence, the numbers of the sources that say so, and the date of the newest, None if unknown."""

    text: str
    sources: tuple[int, ...]
    published: date | None = None


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
    """

    a: SourcedText
    b: SourcedText
    about: str
    kind: ContradictionKind

    @property
    def is_dated(self) -> bool:
        """Whether ``b`` is known to be later."""
        return (
            self.a.published is not None
            and self.b.published is not None
            and self.a.published < self.b.published
        )

    @property
    def texts(self) -> frozenset[str]:
        return frozenset((self.a.text, self.b.text))

    @property
    def sources(self) -> tuple[int, ...]:
        return self.a.sources + self.b.sources


def confidence_of(evidence: Iterable[Evidence]) -> float:
    """Return how sure a finding is: 0.6, 0.8 and 0.95 for one, two and more independent origins."""
    origins = {item.origin for item in evidence}
    return _CONFIDENCE[min(len(origins), len(_CONFIDENCE) - 1)]


def tag_of(evidence: Sequence[Evidence], *, is_contradicted: bool = False) -> str:
    """Return the first tag that applies."""
    if is_contradicted:
        return CONTRADICTED
    if confidence_of(evidence) >= VERIFIED_AT:
        return VERIFIED
    if any(item.type in PRIMARY for item in evidence):
        return HIGH
    return LIKELY if evidence else UNCERTAIN


def citation_marks(numbers: Sequence[int]) -> str:
    """Return ``[1][3]``."""
    return "".join(f"[{number}]" for number in numbers)
