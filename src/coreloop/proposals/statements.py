"""What is worth saying about one tool: a line, and the two sides that it stands on."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from coreloop.proposals.entry import Count, Share, SuggestedAppend
from coreloop.text import counted

MAX_Q: Final = 0.05
"""Of what may be said: at most so many of a run's statements are expected to be false."""
MAX_NEAREST: Final = 3
StatementKind = Literal["source", "order", "once", "choice", "condition"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Calls, or requests, of which a statement holds, and all others.

    Attributes
    ----------
    n_ok, n : int
        Of those that do what the statement says: how many succeeded, of how many. Of a source: values that
        stood in the field, of all values of the argument in calls that succeeded. Of a choice: successful
        requests that used the tool, of all whose question has a keyword.
    other_ok, other_n : int
        The same of the others; of a source both are 0.
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
    """One line about one tool, with its evidence. ``id``, ``suggested_append`` and ``refused`` come last.

    Attributes
    ----------
    kind : str
        ``source``: where an argument comes from. ``condition``: what sets a tool's failed calls apart.
        ``order``, ``once``, ``choice``: what went together with requests that succeeded; records alone cannot
        tell that from cause.
    sides : Sides
        All of the window.
    held : Sides
        Of these the last 30 % of the days, which the search did not see.
    n_questions : int
        Different questions behind the side that has fewer.
    difference, low, high : float
        Of the two sides' success rates, stratified by category and model, and its 95 % interval; of a source
        the share and its interval.
    q_value : float
        Of all that the run tested, by Benjamini and Hochberg; 0.0 of a source, which is no test.
    avoided, saved : float
        Failures that would be avoided, and calls that would be saved, per 1,000 requests, if all went as well
        as on the better side.
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
    saved: float = 0.0
    first_seen: datetime
    last_seen: datetime
    providers: dict[str, int] = field(default_factory=dict)
    example_questions: tuple[str, ...] = ()
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None

    @property
    def unit(self) -> Literal["calls", "requests"]:
        """What its counts are of."""
        return "calls" if self.kind in {"source", "condition"} else "requests"

    @property
    def n_behind(self) -> int:
        """Calls or requests behind it: few are not listed for others to read."""
        return min(self.sides.n, self.sides.other_n or self.sides.n)


@dataclass(frozen=True, slots=True)
class NearStatement:
    """A statement that fell, and why: for this machine only."""

    tool: str
    line: str
    reason: str


def q_told(q_value: float) -> str:
    """``q 0.012``, or ``q < 0.001``."""
    return f"q {q_value:.3f}" if q_value >= 0.001 else "q < 0.001"


def not_sure(q_value: float) -> str:
    """Why a statement fell that was tested."""
    return f"{q_told(q_value)}, not sure enough"


def too_few(n_missing: int, noun: str) -> str:
    """Why a statement fell that was not tested: how many more ``noun`` it needs."""
    return f"needs {counted(n_missing, f'more {noun}')}"
