"""The vocabulary of the script: a planned call, a request with its plan, and whom it is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from coreloop.demo.phrases import Language
from coreloop.demo.roster import Company

Closing = Literal["full", "outline", "brief", "advice", "invented"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """An argument that is known only at run time: the company at this place of the last scan."""

    place: int


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One planned tool call.

    Attributes
    ----------
    recovery : PlannedStep or None
        What is called instead when this call raises; without one the agent gives up.
    override : Mapping or None
        ``overrides`` for a second call when the result raises an extreme flag.
    """

    tool: str
    args: Mapping[str, object]
    duration_ms: int = 0
    recovery: "PlannedStep | None" = None
    override: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question and what the agent will do about it.

    Attributes
    ----------
    offset_min : int
        Minutes since the start of the thirty days; requests come in this order.
    stock_code : str or None
        The company's code, when the question is about one that is on file.
    closing : str
        How much of the results the answer gives, and whether it adds what it must not.
    outage : str or None
        The model's own failure after the last call; then there is no answer.
    """

    question: str
    language: Language
    session: str
    offset_min: int
    stock_code: str | None
    plan: tuple[PlannedStep, ...]
    closing: Closing = "full"
    outage: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a question is about: a company, another of its sector, and how many a screening asks for."""

    company: Company
    peer: Company
    count: int

    @property
    def name(self) -> str:
        """The company's name, as tools take it."""
        return self.company.name

    def nouns(self) -> dict[str, str]:
        """What a question about this subject may mention."""
        return {
            "company": self.company.name,
            "peer": self.peer.name,
            "sector": self.company.sector,
            "count": str(self.count),
        }
