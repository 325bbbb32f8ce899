"""The entries of a day's files: what was found, its evidence, and its text or why there is none.

A statement is a line about one tool, a candidate a sequence that works, a counterexample what fails. Each has
its line (`text`), `evidence` in words, `said` and `questions`; it can be `shared` if its names are declared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, Literal, Self, TypeVar

import msgspec

from coreloop.base.git.trailers import SECTIONS
from coreloop.base.messages import number_of
from coreloop.base.records import is_category
from coreloop.base.untrusted import with_untrusted
from coreloop.descriptions.texts import named
from coreloop.learn.line import Step, parse_advice

if TYPE_CHECKING:
    from coreloop.base.project.tools import Tool
    from coreloop.learn.mine.window import Window
    from coreloop.learn.proposals.allowed_lines import Vocabulary

Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
GUIDE: Final = SECTIONS["R"]
CAVEATS: Final = SECTIONS["F"]
"""The docstring's section of candidates, and that of statements and counterexamples."""
MAX_EXAMPLES: Final = 5
"""Questions, or failing requests, that an entry shows."""
MAX_Q: Final = 0.05
"""Limit of the q value: the expected share of false statements in a run."""
MIN_CASES: Final = 3
"""Cases that each side needs: with two, no order of four rates is rarer than one in six."""
StatementKind = Literal["presence", "value", "state", "shape", "precondition", "source"]


@dataclass(frozen=True, slots=True)
class SuggestedAppend:
    """The proposed text and its target; the target is null if the tool's definition is not known."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str

    @classmethod
    def of(cls, words: "Vocabulary", tool: str, section: str, lines: Iterable[str]) -> "SuggestedAppend":
        """The text for a tool: about one argument, for the description that the argument has."""
        target, texts = words.tool(tool), list(lines)
        arguments = {name for its in filter(None, map(parse_advice, texts)) for name in its.arguments}
        own = arguments & target.described.keys() if target is not None and len(arguments) == 1 else ()
        symbol = named(target.qualname, "".join(own)) if target is not None else None
        return cls(target.file if target is not None else None, symbol, section, "\n".join(texts))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What every entry has; the draft gives ``id``, ``suggested_append`` and ``refused``.

    Attributes
    ----------
    LOCAL : mapping
        Fields with text of users or models, and what a shared entry has instead.
    NAMES : tuple of str
        Fields with names of tools, arguments and values.
    """

    LOCAL: ClassVar[dict[str, Any]] = {"example_questions": ()}
    NAMES: ClassVar[tuple[str, ...]]
    id: str = ""
    key: str
    first_seen: datetime
    last_seen: datetime
    suggested_append: SuggestedAppend | None = None
    refused: str | None = None
    example_questions: tuple[str, ...] = ()

    @property
    def seen(self) -> str:
        """The first and the last day of its records."""
        return f"{self.first_seen:%Y-%m-%d} to {self.last_seen:%Y-%m-%d}"

    @property
    def said(self) -> tuple[str, ...]:
        """What only the records say, besides questions."""
        return ()

    def is_declared(self, words: "Vocabulary") -> bool:
        """Whether coreloop.yaml or the source declares all its names."""
        raise NotImplementedError

    def shared(self) -> Self:
        """Without text of users or models."""
        return replace(self, **self.LOCAL)

    def labelled(self, words: "Vocabulary") -> dict[str, object]:
        """The fields as JSON has them: text of others, and undeclared names, in fields ``untrusted_…``."""
        names = () if self.is_declared(words) else (*self.NAMES, "suggested_append")
        texts = (name for name in self.LOCAL if name != "key")
        return dict.fromkeys(names) | with_untrusted(self, *texts, *names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(_Found):
    """One line about one tool, with its evidence.

    Attributes
    ----------
    kind : str
        What the line is about, see `coreloop.learn.statements`; of joined clauses that of the first.
    sides : Sides
        In the whole window.
    held : Sides
        In the last third of the days.
    case : str
        What a case is: a session, a case by identifiers, a question or a request.
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
    n_undated : int
        Calls of both sides of which the date is unknown.
    bound : str
        Of a bound, the numbers next to it: ``45 worked, 50 failed``.
    failing, working : str
        The most frequent call that deviates and failed, and that follows and worked; shapes stand for values.
    """

    LOCAL: ClassVar[dict[str, Any]] = _Found.LOCAL | {"failing": "", "working": ""}
    NAMES: ClassVar[tuple[str, ...]] = ("tool", "line")
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
    n_undated: Count = 0
    bound: str = ""
    failing: str = ""
    working: str = ""

    @property
    def n_behind(self) -> int:
        """Calls of the smaller side; entries with few are not listed in a shared file."""
        return min(self.sides.n, self.sides.other_n)

    @property
    def text(self) -> str:
        """The tool and its line, not escaped: ``analysis: First: show``."""
        return f"{self.tool}: {self.line.removeprefix('- ')}"

    @property
    def seen(self) -> str:
        """The first and the last day of its records; times of files are no days of them."""
        if not self.n_undated:
            return super(Statement, self).seen
        n_calls = self.sides.n + self.sides.other_n
        return "dates unknown" if self.n_undated >= n_calls else f"dates unknown of {self.n_undated:,} calls"

    @property
    def evidence(self) -> tuple[str, ...]:
        """Both sides, the last third of the days, their difference, and what deviating calls cost."""
        held = f"the last third of the days: {sides_text(self, self.held)}"
        return (
            sides_text(self, self.sides),
            *([] if self.n_undated else [held]),
            f"{difference_text(self)} (95 %)",
            cost_text(self),
            f"at least {number_of(self.n_questions, 'distinct question')} on each side, {self.seen}",
        )

    def is_declared(self, words: "Vocabulary") -> bool:
        """Whether the line has one of our forms and declared names."""
        is_ours = self.refused is None or self.refused.startswith(("weak: ", "redundant: "))
        return is_ours and words.knows_line(self.tool, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(_Found):
    """A sequence of tools that passed the gates.

    Attributes
    ----------
    n_observed, n_begun : int
        Requests with exactly this sequence, and those of its category that began with its first step.
    rest_ok, rest_n : int
        Successes and number of the requests of its category that did not begin so.
    q_value : float or None
        Of the difference from these by cases (Mann–Whitney), corrected for all tests of the run.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("engine", "axis", "cat_hash", "tool_pattern")
    engine: str
    axis: str | None
    cat_hash: str
    seq_hash: str
    tool_pattern: tuple[Step, ...]
    n_observed: Count
    n_begun: Count
    n_unique_questions: Count
    n_sessions: Count
    success_rate: Share
    success_low: Share
    base_rate: Share
    rest_ok: Count = 0
    rest_n: Count = 0
    q_value: Share | None = None

    @property
    def tool(self) -> str:
        """The tool whose docstring gets its text."""
        return self.engine

    @property
    def n_succeeded(self) -> int:
        """Requests that had the sequence and succeeded."""
        return round(self.success_rate * self.n_observed)

    @property
    def n_behind(self) -> int:
        """Requests behind it; entries with few are not listed in a shared file."""
        return self.n_observed

    @property
    def text(self) -> str:
        """Its steps, not escaped."""
        return " > ".join(map(str, self.tool_pattern))

    @property
    def evidence(self) -> tuple[str, ...]:
        """Its requests, those of the rest of its category, and the rates."""
        requests = (
            f"{self.n_succeeded:,} of {number_of(self.n_begun, 'request')} that began it succeeded, from "
            f"{number_of(self.n_unique_questions, 'different question')} in "
            f"{number_of(self.n_sessions, 'session')}, {self.seen}"
        )
        rest = f"of other requests {self.rest_ok:,} of {self.rest_n:,}"
        rates = (
            f"success rate {self.success_rate:.2f}, lower bound {self.success_low:.2f}, "
            f"category {self.base_rate:.2f}"
        )
        return (requests, rest, rates) if self.rest_n else (requests, rates)

    def is_declared(self, words: "Vocabulary") -> bool:
        """Whether its steps are declared, and its category is a label."""
        return is_category(self.cat_hash) and all(map(words.knows_step, self.tool_pattern))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample(_Found):
    """A failure that repeats; it has no text of its own.

    Attributes
    ----------
    kind : str
        ``call``: calls of a tool with the same arguments. ``sequence``: requests with the same ``steps``; the
        counts are of requests.
    labels : tuple of str
        Of the failure taxonomy.
    n_failures, n_calls : int
        Failures of this class and template, of all calls of this shape.
    n_other_failures, n_other_calls : int
        The same of all other calls of the tool; none of a sequence.
    harm_low : float
        Lower bound (Wilson, 95 %) of the share of calls that fail.
    wasted_ms : float
        Time of the failed calls.
    error_template : str or None
        In local files only.
    """

    # its key covers the error's text
    LOCAL: ClassVar[dict[str, Any]] = _Found.LOCAL | {"key": "", "error_template": None}
    NAMES: ClassVar[tuple[str, ...]] = ("tool", "selectors", "arg_keys", "steps")
    refused: str | None = "a failing group has no text of its own; statements say when its tool fails"
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
    n_other_failures: Count = 0
    n_other_calls: Count = 0
    harm_low: Share
    wasted_ms: float

    @property
    def call(self) -> Step:
        """The call that fails, or the step that a failing sequence is about."""
        return Step(self.tool, self.selectors, self.arg_keys)

    @property
    def n_behind(self) -> int:
        """Failures behind it; entries with few are not listed in a shared file."""
        return self.n_failures

    @property
    def text(self) -> str:
        """The failing call or sequence in a line, not escaped."""
        if self.kind == "sequence":
            return " > ".join(map(str, self.steps))
        chosen = [f"{key}={value}" for key, value in self.selectors.items()]
        others = [key for key in self.arg_keys if key not in self.selectors]
        return f"{self.tool}({', '.join([*chosen, *others])})"

    @property
    def evidence(self) -> tuple[str, ...]:
        """How often it failed, and the tool's other calls."""
        error_class = f" ({self.error_class})" if self.error_class is not None else ""
        unit = "calls" if self.kind == "call" else "requests"
        failed = (
            f"{self.n_failures:,} of {self.n_calls:,} {unit} failed{error_class}, {self.seen}",
            f"lower bound of the failing share {self.harm_low:.2f}; {self.wasted_ms / 1000:.1f} s wasted",
        )
        otherwise = f"called otherwise: {self.n_other_failures} of {self.n_other_calls} failed"
        return (*failed, otherwise) if self.n_other_calls else failed

    @property
    def said(self) -> tuple[str, ...]:
        """What only the records say, besides questions: the error without values."""
        return (self.error_template,) if self.error_template else ()

    def is_declared(self, words: "Vocabulary") -> bool:
        """Whether its calls are declared."""
        return all(map(words.knows_step, (self.call, *self.steps)))


Entry = Statement | Candidate | Counterexample
_Entry = TypeVar("_Entry", bound=Entry)


@dataclass(frozen=True, slots=True)
class Search(Generic[_Entry]):
    """The entries of a window, best first, the groups that were examined, and how many each gate dropped."""

    entries: tuple[_Entry, ...]
    n_groups: int
    dropped: Mapping[str, int]


def with_questions(
    found: Iterable[tuple[_Entry, Iterable[tuple[int, int]]]], window: "Window"
) -> tuple[_Entry, ...]:
    """Entries with example questions of the first of some requests, by their places."""
    listed = [(entry, list(islice(places, MAX_EXAMPLES))) for entry, places in found]
    texts = window.question_texts(place for _, places in listed for place in places)
    return tuple(
        replace(entry, example_questions=tuple(filter(None, map(texts.get, places))))
        for entry, places in listed
    )


def sides_text(statement: Statement, sides: Sides) -> str:
    """``follows: 98 of 98 calls, 13 cases; does not: 0 of 13, 4 cases``, and a bound's numbers."""
    bound = f"; {statement.bound}" if statement.bound and sides is statement.sides else ""
    return (
        f"follows: {sides.n_ok:,} of {number_of(sides.n, 'call')}, "
        f"{number_of(sides.cases, statement.case)}; does not: {sides.other_ok:,} of "
        f"{sides.other_n:,}, {number_of(sides.other_cases, statement.case)}{bound}"
    )


def difference_text(statement: Statement) -> str:
    """The difference of the two sides' rates by case, its interval, and q."""
    interval = f"{statement.difference:.2f} ({statement.low:.2f} to {statement.high:.2f})"
    return f"difference {interval}, {q_text(statement.q_value)}"


def cost_text(statement: Statement) -> str:
    """The least calls wasted, and the requests that they may have cost, at most with other reasons."""
    low, high = statement.lost
    lost = f"{low:.1f} to {high:.1f} requests lost"
    return f"per 1,000 requests: at least {statement.wasted:.1f} calls wasted, {lost}"


def q_text(q_value: float) -> str:
    """``q 0.012``, or ``q < 0.001``."""
    return f"q {q_value:.3f}" if q_value >= 0.001 else "q < 0.001"


# --- The table of errors, and what a coding agent is asked to do about one, in the closed vocabulary alone.

Mender = Literal["merged", "text", "schema", "tool", "policy", "user", "unknown yet"]
_ASKED: Final[dict[Mender, str]] = {
    "schema": "Find the check that raises it, and let the parameter's schema say what is accepted.",
    "tool": "Find why the tool raises it, and mend the tool if its callers are not to blame.",
    "policy": "Find which permission is missing, and say in the error whom to ask.",
    "user": "Let the error say what the agent should ask the user for.",
    "unknown yet": "Find what raises it, and whether the tool or its callers are to blame.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """Failed calls of a tool whose errors differ in values only, or calls with an argument that it ignores.

    Attributes
    ----------
    error : str
        The text without values; or the argument, the nearest that the tool has, and a call.
    error_class : str
        ``ignored_argument`` if the calls worked, and answered another question: nothing is to be recovered.
    n_calls, n_cases : int
        Such calls, retries included, and the cases that they are from.
    n_requests, n_lost : int
        Requests with such a call, and how many of them failed as a whole.
    n_recovered, n_unknown : int
        Requests in which a later call of the tool worked, and those of which that is not known.
    mender : str
        Who can mend it. ``text``: a proposed line is about it; ``merged``: promoted lines explain most of it.
    merged : tuple of str
        The promoted lines that these calls deviate from, each with how many, and how many since the merge.
    task : str
        Of `task_of`.
    suggestion : str
        What a person could let the schema say; or what is missing to know who can mend it.
    """

    tool: str
    error: str
    error_class: str
    n_calls: Count
    n_cases: Count
    n_lost: Count
    n_recovered: Count
    mender: Mender
    merged: tuple[str, ...] = ()
    task: str = ""
    n_requests: Count = 0
    n_unknown: Count = 0
    suggestion: str = ""

    @property
    def recovered(self) -> str:
        """The requests that recovered: ``4/12``, ``4/12, 3 unknown``; ``–`` if there is nothing to."""
        unknown = f", {self.n_unknown:,} unknown" if self.n_unknown else ""
        share = f"{self.n_recovered:,}/{self.n_requests - self.n_unknown:,}{unknown}"
        return "–" if self.error_class == "ignored_argument" else share

    def labelled(self, words: "Vocabulary") -> dict[str, object]:
        """The fields as JSON has them; the error, and an undeclared tool, in fields ``untrusted_…``."""
        names = () if words.is_known(self.tool) else ("tool",)
        return dict.fromkeys(names) | with_untrusted(self, "error", *names)


def task_of(tool: "Tool | None", failure: ErrorRow) -> str:
    """A text for a coding agent, without a word of a user or a model.

    Empty if the project does not define the tool, if a text mends the cause, or if it failed once.
    """
    if tool is None or failure.mender not in _ASKED or failure.n_calls == 1:
        return ""
    return (
        f"The tool {tool.name} failed {failure.n_calls} times with one error (class {failure.error_class}); "
        f"{failure.n_lost} of these requests failed altogether. It is defined in {tool.file}, line "
        f"{tool.line}. {_ASKED[failure.mender]}"
    )
