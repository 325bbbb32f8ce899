"""A statement: a line about one tool, and the two sides that are its evidence."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from coreloop.base.text import counted
from coreloop.learn.proposals.entry import Count, Share, SuggestedAppend

MAX_Q: Final = 0.05
"""Limit of the q value: the expected share of false statements in a run."""
MAX_NEAREST: Final = 3
MIN_AVOIDED: Final = 0.05
"""Failures per 1,000 requests that a statement must avoid to be proposed: screens show fewer as 0.0."""
StatementKind = Literal["source", "condition", "order", "once", "choice"]
"""The last three stand in files of older versions only; they are not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Calls that a statement holds for, and all others.

    Attributes
    ----------
    n_ok, n : int
        Successes and number of those that follow the statement. For a source: values that occurred in the
        field, and all values of the argument in calls that succeeded.
    other_ok, other_n : int
        The same for all others; 0 for a source.
    """

    n_ok: Count = 0
    n: Count = 0
    other_ok: Count = 0
    other_n: Count = 0

    def __str__(self) -> str:
        rest = f", otherwise {self.other_ok} of {self.other_n}" if self.other_n else ""
        return f"{self.n_ok} of {self.n}{rest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One line about one tool, with its evidence; the draft adds ``id``, ``suggested_append``, ``refused``.

    Attributes
    ----------
    kind : str
        ``source``: where an argument comes from. ``condition``: what distinguishes a tool's failed calls.
    sides : Sides
        In the whole window.
    held : Sides
        In the last 30 % of the days, which the search did not see.
    n_questions : int
        Distinct questions of the side that has fewer.
    difference, low, high : float
        Difference of the two sides' success rates, stratified by category and model, and its 95 % interval;
        for a source the share and its interval.
    q_value : float
        Corrected for all tests of the run (Benjamini and Hochberg); 0.0 for a source, which is not tested.
    avoided : float
        Failures avoided per 1,000 requests if the worse side did as well as the better.
    """

    id: str = ""
    key: str
    kind: StatementKind
    tool: str
    line: str
    sides: Sides
    held: Sides
    n_questions: Count
    difference: float
    low: float
    high: float
    q_value: Share = 0.0
    avoided: float = 0.0
    first_seen: datetime
    last_seen: datetime
    providers: dict[str, int] = field(default_factory=dict)
    example_questions: tuple[str, ...] = ()
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None

    @property
    def n_behind(self) -> int:
        """Calls of the smaller side; entries with few are not listed in a shared file."""
        return min(self.sides.n, self.sides.other_n or self.sides.n)


@dataclass(frozen=True, slots=True)
class NearStatement:
    """A statement that did not pass, and why. Shown locally only."""

    tool: str
    line: str
    reason: str


def q_text(q_value: float) -> str:
    """``q 0.012``, or ``q < 0.001``."""
    return f"q {q_value:.3f}" if q_value >= 0.001 else "q < 0.001"


def not_sure(q_value: float) -> str:
    """Why a tested statement did not pass."""
    return f"{q_text(q_value)}, above the limit of {MAX_Q}"


def too_few(n_missing: int, noun: str) -> str:
    """Why a statement was not tested: how many more ``noun`` it needs."""
    return f"needs {counted(n_missing, f'more {noun}')}"
