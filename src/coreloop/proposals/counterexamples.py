"""``{day}-counterexamples.json``: what a counterexample is, and the file that holds those of a night."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal

from coreloop.days import Days
from coreloop.history.trailers import SECTIONS
from coreloop.proposals.entry import SCHEMA_VERSION, Count, Share, SuggestedAppend
from coreloop.proposals.statements import Statement
from coreloop.proposals.step import Step

SECTION: Final = SECTIONS["F"]
"""The section that counterexamples go to."""


@dataclass(frozen=True, slots=True)
class Without:
    """The same tool called otherwise: failures of calls, and what sets those calls apart.

    Attributes
    ----------
    arg_keys : tuple of str
        Arguments that all of them have.
    any_arg_keys : tuple of str
        Arguments that at least one of them has.
    """

    n_failures: Count
    n_calls: Count
    arg_keys: tuple[str, ...] = ()
    any_arg_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """Where a failing request is recorded, and what it asked: for this machine only."""

    file: str
    offset: int
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A failure that repeats. ``id``, ``suggested_append`` and ``refused`` come with the draft.

    Attributes
    ----------
    kind : str
        ``call``: one way of calling a tool. ``sequence``: one way of working; then ``steps`` says which, and
        the counts are of requests.
    labels : tuple of str
        Of the failure taxonomy.
    n_failures, n_calls : int
        Failures of this class and template, of all calls of this shape.
    harm_low : float
        Lower bound (Wilson, 95 %) of the share of calls that fail.
    wasted_ms : float
        Time of the failed calls.
    providers : dict of str to int
        Failed calls, of a sequence failed requests, by provider; none for records without one.
    error_template, examples
        Local only.
    """

    id: str = ""
    key: str
    kind: Literal["call", "sequence"]
    tool: str
    selectors: dict[str, str]
    arg_keys: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    cat_hash: str | None = None
    labels: tuple[str, ...]
    error_class: str | None
    error_template: str | None = None
    n_failures: Count
    n_calls: Count
    n_without: Without
    harm_low: Share
    wasted_ms: float
    first_seen: datetime
    last_seen: datetime
    providers: dict[str, int] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None

    @property
    def call(self) -> Step:
        """The call that fails, or the step that a failing sequence is about."""
        return Step(self.tool, self.selectors, self.arg_keys)

    @property
    def unit(self) -> Literal["calls", "requests"]:
        """What its counts are of: ``calls`` or ``requests``."""
        return "calls" if self.kind == "call" else "requests"

    @property
    def n_behind(self) -> int:
        """Failures behind it: few are not listed for others to read."""
        return self.n_failures


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterexamplesFile:
    """``counterexamples/{YYYY-MM-DD}-counterexamples.json``; the rest as in a candidates file."""

    schema_version: int = SCHEMA_VERSION
    generated_at: datetime
    window: Days
    counterexamples: tuple[Counterexample, ...]
    statements: tuple[Statement, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    n_folded: int = 0
    draft_sha256: str = ""

    @property
    def entries(self) -> tuple[Statement | Counterexample, ...]:
        """The statements, best first, then the counterexamples, worst first."""
        return (*self.statements, *self.counterexamples)


def counterexample_key(*parts: str) -> str:
    """The same on every night: 16 hex digits of SHA-256 of what makes the group, and of the section."""
    return sha256("\n".join((*parts, SECTION)).encode("utf-8", "replace")).hexdigest()[:16]
