"""The vocabulary of the script: a planned call, a request with its plan, and the subject of a question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Closing = Literal["full", "outline", "brief", "promise", "invented"]
Language = Literal["ko", "en"]


@dataclass(frozen=True, slots=True)
class FromResult:
    """An argument that is known only at run time: a value in the last result of a tool.

    Attributes
    ----------
    path : tuple of str or int
        Keys and indexes that lead to the value.
    """

    tool: str
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A planned tool call.

    Attributes
    ----------
    recovery : PlannedStep or None
        The call to make if this call raises; without it the agent gives up.
    override : Mapping or None
        ``overrides`` for a second call if the result has an extreme flag.
    """

    tool: str
    args: Mapping[str, object]
    duration_ms: int = 0
    recovery: "PlannedStep | None" = None
    override: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A question and the agent's plan for it.

    Attributes
    ----------
    offset_min : int
        Minutes since the start of the thirty days; requests come in this order.
    stock_code : str or None
        The company's code, if the question is about a company of the table.
    closing : str
        The part of the results that the answer gives, and whether it adds an unsupported sentence.
    outage : str or None
        An error of the model after the last call; then there is no answer.
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
    """The subject of a question.

    Attributes
    ----------
    nouns : Mapping[str, object]
        Values for the question and the arguments of its calls, by the name in braces.
    stock_code : str or None
        The same as in `DemoRequest`.
    """

    nouns: Mapping[str, object]
    stock_code: str | None = None
