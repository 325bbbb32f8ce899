"""A statement: a line about one tool, and the two sides that are its evidence."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from coreloop.base.messages import number_of
from coreloop.learn.proposals.entry import Count, Share, SuggestedAppend

MAX_Q: Final = 0.05
"""Limit of the q value: the expected share of false statements in a run."""
MAX_NEAREST: Final = 3
MIN_CASES: Final = 3
"""Cases that each side needs: with two, no order of four rates is rarer than one in six."""
StatementKind = Literal["presence", "value", "state", "shape", "precondition", "source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Calls that follow a statement, and those that do not.

    Attributes
    ----------
    n_ok, n, cases : int
        Successes and number of those that follow it, and the cases that they are from.
    other_ok, other_n, other_cases : int
        The same for those that do not.
    """

    n_ok: Count = 0
    n: Count = 0
    other_ok: Count = 0
    other_n: Count = 0
    cases: Count = 0
    other_cases: Count = 0

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The successes of both sides: ``98 of 98, otherwise 2 of 40``."""
        return (
            "{n_ok:,} of {n:,}, otherwise {other_ok:,} of {other_n:,}"
            if self.other_n
            else "{n_ok:,} of {n:,}"
        ).format(n_ok=self.n_ok, n=self.n, other_ok=self.other_ok, other_n=self.other_n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One line about one tool, with its evidence; the draft adds ``id``, ``suggested_append``, ``refused``.

    Attributes
    ----------
    kind : str
        What the line is about, see `coreloop.learn.statements`; of joined clauses that of the first.
    sides : Sides
        In the whole window.
    held : Sides
        In the last third of the days.
    case : str
        What a case is: a session, a customer (by identifiers), a question or a request.
    n_questions : int
        Distinct questions of the side that has fewer.
    difference, low, high : float
        Difference of the two sides' mean success rates by case, and its 95 % interval.
    q_value : float
        Corrected for all tests of the run (Benjamini and Hochberg).
    wasted : float
        Calls wasted per 1,000 requests: the lower bounds of the difference and of the share of calls that
        deviate.
    lost : tuple of float
        Failed requests per 1,000 with a failed call that deviates: those beyond the usual share, and all.
    """

    id: str = ""
    key: str
    kind: StatementKind
    tool: str
    line: str
    sides: Sides
    held: Sides
    case: str = "request"
    n_questions: Count
    difference: float
    low: float
    high: float
    q_value: Share = 0.0
    wasted: float = 0.0
    lost: tuple[float, float] = (0.0, 0.0)
    first_seen: datetime
    last_seen: datetime
    providers: dict[str, int] = field(default_factory=dict)
    example_questions: tuple[str, ...] = ()
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None

    @property
    def n_behind(self) -> int:
        """Calls of the smaller side; entries with few are not listed in a shared file."""
        return min(self.sides.n, self.sides.other_n)


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


def too_few(n_cases: int, case: str) -> str:
    """Why a statement was not tested: how many cases deviate from it."""
    cases = number_of(n_cases, case)
    return f"{MIN_CASES} cases a side needed: {cases} so far"
