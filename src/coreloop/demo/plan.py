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
    """One planned tool call.

    Attributes
    ----------
    recovery : PlannedStep or None
        What is called instead when this call raises; without it the agent gives up.
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
    """What a question is about.

    Attributes
    ----------
    nouns : Mapping[str, object]
        What the question and the arguments of its calls may mention, by the name in braces.
    stock_code : str or None
        As in `Request`.
    """

    nouns: Mapping[str, object]
    stock_code: str | None = None
