"""Findings: sentences that sources say, how sure they are, the tag that says so, and two that differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

CONTRADICTED: Final = "⚠ CONTRADICTED"
VERIFIED: Final = "✓✓ VERIFIED"
HIGH: Final = "✓ HIGH"
LIKELY: Final = "~ LIKELY"
UNCERTAIN: Final = "? UNCERTAIN"
ContradictionKind = Literal["number", "date", "negation"]


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
    iteration : int
        In which it was first recorded.
    answers : tuple of str
        Ids of the sub-questions that it answers.
    """

    text: str
    sources: tuple[int, ...]
    confidence: float = 0.0
    tag: str = UNCERTAIN
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
    kind : str
        What differs: ``number``, ``date`` or ``negation``.
    """

    a: SourcedText
    b: SourcedText
    kind: ContradictionKind

    @property
    def is_dated(self) -> bool:
        """Whether ``b`` is known to be later."""
        earlier, later = self.a.published, self.b.published
        return earlier is not None and later is not None and earlier < later

    @property
    def texts(self) -> frozenset[str]:
        return frozenset((self.a.text, self.b.text))

    @property
    def sources(self) -> tuple[int, ...]:
        return self.a.sources + self.b.sources


def citation_marks(numbers: Sequence[int]) -> str:
    """Return ``[1][3]``."""
    return "".join(f"[{number}]" for number in numbers)
