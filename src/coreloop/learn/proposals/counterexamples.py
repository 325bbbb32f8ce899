"""Counterexamples, and the file with those of a run: ``{day}-counterexamples.json``."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal

from coreloop.base.date_range import Days
from coreloop.base.git.trailers import SECTIONS
from coreloop.base.messages import number_of
from coreloop.learn.proposals.entry import SCHEMA_VERSION, Count, Share, SuggestedAppend
from coreloop.learn.proposals.statements import Statement
from coreloop.learn.proposals.step import Step

SECTION: Final = SECTIONS["F"]
"""Docstring section for counterexamples."""


@dataclass(frozen=True, slots=True)
class Without:
    """All other calls of the same tool: how many failed, and the arguments that they have.

    Attributes
    ----------
    arg_keys : tuple of str
        Arguments of every such call.
    any_arg_keys : tuple of str
        Arguments of at least one such call.
    """

    n_failures: Count
    n_calls: Count
    arg_keys: tuple[str, ...] = ()
    any_arg_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A failing request: the location of its record, and its question. Written to local files only."""

    file: str
    offset: int
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A failure that repeats. ``id``, ``suggested_append`` and ``refused`` come with the draft.

    Attributes
    ----------
    kind : str
        ``call``: calls of a tool with the same arguments. ``sequence``: requests with the same ``steps``; the
        counts are of requests.
    labels : tuple of str
        Of the failure taxonomy.
    n_failures, n_calls : int
        Failures of this class and template, of all calls of this shape.
    harm_low : float
        Lower bound (Wilson, 95 %) of the share of calls that fail.
    wasted_ms : float
        Time of the failed calls.
    providers : dict of str to int
        Failed calls, or failed requests of a sequence, by provider; records without a provider are left out.
    error_template, examples
        In local files only.
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
        """Unit of its counts."""
        return "calls" if self.kind == "call" else "requests"

    @property
    def n_behind(self) -> int:
        """Failures behind it; entries with few are not listed in a shared file."""
        return self.n_failures


Mender = Literal["merged", "text", "schema", "tool", "policy", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """Failed calls of a tool whose errors differ in values only.

    Attributes
    ----------
    error : str
        The text without values.
    n_calls, n_cases : int
        Failed calls, retries included, and the cases that they are from.
    n_lost : int
        Failed requests among those with such a call.
    n_recovered : int
        Calls after which a later call of the tool worked in the same request.
    n_repeated : int
        Calls that are the third or later of the tool in their request.
    mender : str
        Who can mend it. ``text``: a proposed line is about it; ``merged``: promoted lines explain most of it.
    merged : tuple of str
        The promoted lines that these calls deviate from, each with how many, and how many since the merge.
    n_documented : int
        Calls that follow a promoted line, and came after all of the tool's were merged.
    nearest : tuple of str
        The two lines, not proposed, that separate these calls best and explain most, each with its counts.
    """

    tool: str
    error: str
    error_class: str
    n_calls: Count
    n_cases: Count
    n_lost: Count
    n_recovered: Count
    n_repeated: Count
    mender: Mender
    merged: tuple[str, ...] = ()
    n_documented: Count = 0
    nearest: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """A text to hand to a coding agent, without anything of a user.

        Empty if a text mends the cause, or it failed once.
        """
        if self.mender in {"text", "merged"} or self.n_calls == 1:
            return ""
        seen = f" Its docstring explains: {'; '.join(self.merged)}." if self.merged else ""
        seen += f" Seen beside it: {'; '.join(self.nearest)}." if self.nearest else ""
        asked = _ASKED[self.mender]
        if self.mender == "tool" and self.n_documented:
            calls = number_of(self.n_documented, "call")
            asked = f"Find why the tool raises it although {calls} kept to its docstring, and mend the tool."
        return (
            f"The tool {self.tool} failed {self.n_calls} times with the error {self.error!r} (class "
            f"{self.error_class}); {self.n_lost} of these requests failed altogether.{seen} "
            f"{asked}"
        )


_ASKED: Final[dict[Mender, str]] = {
    "schema": "Find the check that raises it, and let the parameter's schema say what is accepted.",
    "tool": "Find why the tool raises it, and mend the tool if its callers are not to blame.",
    "policy": "Find which permission is missing, and say in the error whom to ask.",
    "user": "Let the error say what the agent should ask the user for.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterexamplesFile:
    """``counterexamples/{YYYY-MM-DD}-counterexamples.json``; the rest as in a candidates file.

    Attributes
    ----------
    errors : tuple of ErrorRow
        The table of errors; in local files only.
    """

    schema_version: int = SCHEMA_VERSION
    generated_at: datetime
    window: Days
    counterexamples: tuple[Counterexample, ...]
    statements: tuple[Statement, ...] = ()
    errors: tuple[ErrorRow, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    n_folded: int = 0
    draft_sha256: str = ""

    @property
    def entries(self) -> tuple[Statement | Counterexample, ...]:
        """The statements, best first, then the counterexamples, worst first."""
        return (*self.statements, *self.counterexamples)


def counterexample_key(*parts: str) -> str:
    """A key that is stable across runs: 16 hex digits of SHA-256 of the group's parts and the section."""
    return sha256("\n".join((*parts, SECTION)).encode("utf-8", "replace")).hexdigest()[:16]
