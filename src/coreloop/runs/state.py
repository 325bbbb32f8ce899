"""The state of a run, as `coreloop.runs.fold` computes it, and its JSON."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from coreloop.base.validation import fields_of
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.duplicates import Search
from coreloop.runs.events import Caller, Ended, Status, Turned
from coreloop.runs.limits import Limits, Mode

AGENT: Final = "agent"
"""The kind of the runs that an agent drives itself."""
TERMINAL: Final[frozenset[Status]] = frozenset(
    {"completed", "stopped_by_user", "budget_exceeded", "stopped", "failed"}
)
RESUMABLE: Final[frozenset[Status]] = frozenset({"paused", "failed"})
"""A run that an error of its program ended can go on when the cause is gone."""
_BEFORE: Final = datetime.fromtimestamp(0, UTC)
_NOT_ENDED: Final = Ended(at=_BEFORE, status="running")


@dataclass(slots=True)
class RunFinding:
    """A sentence, its source ("" without one) and the iteration that recorded it.

    ``is_claimed``: an agent says so in a report; coreloop has not read the source.
    """

    text: str
    source: str
    iteration: int
    is_claimed: bool = False


@dataclass(slots=True)
class SubQuestion:
    """A part of the question. It is answered by a finding that has a source.

    ``is_settled`` counts for the end of the run: no claim of an agent settles anything. ``waiver`` is why
    an agent thinks that it falls away; ``is_waived`` says that a person agreed. An agent's (``is_reported``)
    that is not about the question is a note (``is_note``), which counts for nothing.
    """

    id: str
    text: str
    findings: list[RunFinding] = field(default_factory=list)
    waiver: str = ""
    is_waived: bool = False
    is_reported: bool = False
    is_note: bool = False

    @property
    def is_answered(self) -> bool:
        return any(finding.source for finding in self.findings)

    @property
    def is_open(self) -> bool:
        return not (self.is_answered or self.is_waived or self.is_note)

    @property
    def is_settled(self) -> bool:
        return self.is_waived or any(finding.source and not finding.is_claimed for finding in self.findings)


@dataclass(slots=True)
class IterationProgress:
    """What has happened since the last committed iteration, or in that one.

    ``orders`` are what drift demanded, ``strategy`` is that of the last action, and ``dropped`` are the
    queries that were not executed, with the earlier ones that asked the same. ``reports`` counts the agent's
    reports; ``claimed`` is what it says it used since a call was settled.
    """

    reports: int = 0
    claimed: Amount = NOTHING
    has_steps: bool = False
    orders: list[Turned] = field(default_factory=list)
    strategy: tuple[str, ...] = ()
    queries: int = 0
    queries_dropped: int = 0
    dropped: list[tuple[str, str]] = field(default_factory=list)
    has_searched: bool = False
    has_new_information: bool = False


@dataclass(slots=True)
class KindState:
    """What a kind of runs adds to the state; its fields are keys of ``state.json``. This one adds nothing."""


@dataclass(slots=True)
class State:
    """What a run's events add up to. Only `coreloop.runs.fold` changes it.

    Attributes
    ----------
    ended_by : str
        Who stopped or completed it, if a limit did not.
    clock : datetime
        The time of the last event of the process that works on the run.
    elapsed_s : float
        Seconds of work until `clock`.
    iteration : int
        Committed iterations.
    spent, reserved : Amount
        Settled, and set aside for calls under way.
    reservations : dict of str to Amount
        Calls under way, and what they may cost.
    parent : str
        The run whose command started this run, "" if none did; it pays, too.
    origin : str
        The run that this run answers again, "" for none.
    calls : int
        Steps that were done, failed ones included.
    failures_in_row : int
        Failed steps since the last committed step.
    last_strategy : tuple of str
        Of the last action, or what drift turned it into.
    turns : int
        How often drift was seen.
    order : Turned or None
        What drift demands; None once another action was taken.
    last_order : Turned or None
        The newest demand of drift, also after another action was taken.
    last_progress : IterationProgress
        What happened in the newest committed iteration.
    consecutive_same_action : int
        How often the last action was taken in a row.
    no_new_info_count : int
        Committed iterations in a row without new information.
    search_history : list of Search
        Executed queries in order.
    read_sources, found_sources : set of str
        Sources that were read, and sources that a finding has.
    failure : Ended
        How the controller ended a failed run.
    trace_id : str
        32 hexadecimal digits: of the request that began the run, or the run's own.
    of_kind : KindState
        What the run's kind adds.
    """

    run_id: str = ""
    kind: str = ""
    question: str = ""
    mode: Mode = "bounded"
    limits: Limits = field(default_factory=Limits)
    searches: bool = True
    status: Status = "running"
    stop_reason: str | None = None
    ended_by: Caller = "unknown"
    owner: str = ""
    clock: datetime = _BEFORE
    elapsed_s: float = 0.0
    iteration: int = 0
    progress: IterationProgress = field(default_factory=IterationProgress)
    spent: Amount = NOTHING
    reserved: Amount = NOTHING
    reservations: dict[str, Amount] = field(default_factory=dict)
    parent: str = ""
    origin: str = ""
    calls: int = 0
    failures_in_row: int = 0
    error_log: list[dict[str, Any]] = field(default_factory=list)
    last_action_hash: str | None = None
    last_strategy: tuple[str, ...] = ()
    turns: int = 0
    order: Turned | None = None
    last_order: Turned | None = None
    last_progress: IterationProgress = field(default_factory=IterationProgress)
    consecutive_same_action: int = 0
    no_new_info_count: int = 0
    search_history: list[Search] = field(default_factory=list)
    read_sources: set[str] = field(default_factory=set)
    found_sources: set[str] = field(default_factory=set)
    is_until_met: bool = False
    sufficient: bool = False
    is_exhausted: bool = False
    confidence: float = 0.0
    sub_questions: list[SubQuestion] = field(default_factory=list)
    next_actions: tuple[str, ...] = ()
    failure: Ended = _NOT_ENDED
    trace_id: str = ""
    of_kind: KindState = field(default_factory=KindState)

    @property
    def drives_itself(self) -> bool:
        """Whether an agent drives the run, so that no process of coreloop works on it between iterations."""
        return self.kind == AGENT

    @property
    def queries(self) -> int:
        """How many queries were executed."""
        return len(self.search_history)

    @property
    def is_terminal(self) -> bool:
        """Whether nothing more can happen to the run."""
        return self.status in TERMINAL

    @property
    def counted(self) -> list[SubQuestion]:
        """The sub-questions that are no notes."""
        return [part for part in self.sub_questions if not part.is_note]

    @property
    def is_covered(self) -> bool:
        """Whether a sub-question counts, and each is settled: by coreloop's own finding, or by a person."""
        return bool(self.counted) and all(part.is_settled for part in self.counted)


def kind_json(part: KindState) -> dict[str, Any]:
    """Build the keys that a run's kind adds to ``state.json``."""
    return {known.name: getattr(part, known.name) for known in fields(part)}


def state_json(state: State) -> dict[str, Any]:
    """Build the content of a run's ``state.json``, which other programs read.

    Returns
    -------
    dict
        The keys of the page on runs, then those of the run's kind.
    """
    return {
        **fields_of(state, "run_id", "kind", "mode", "status", "stop_reason"),
        "question": {"original": state.question},
        "iteration": {"current": state.iteration, "max": state.limits.max_iterations},
        "metrics": {
            "cost_estimate_usd": state.spent.usd,
            "reserved_usd": state.reserved.usd,
            "tokens": state.spent.tokens,
            "calls": state.calls,
            "elapsed_s": round(state.elapsed_s, 3),
        },
        "limits": msgspec.to_builtins(state.limits),
        "loop_drift": fields_of(state, "last_action_hash", "consecutive_same_action", "no_new_info_count"),
        **fields_of(state, "sufficient", "confidence"),
        "sub_questions": [
            {
                "id": part.id,
                "text": part.text,
                "findings": [
                    {"text": finding.text, "source": finding.source, "iteration": finding.iteration}
                    for finding in part.findings
                ],
                **({"waiver": part.waiver, "is_waived": part.is_waived} if part.waiver else {}),
                **({"is_note": True} if part.is_note else {}),
            }
            for part in state.sub_questions
        ],
        "next_actions": list(state.next_actions),
        "error_log": state.error_log,
        "token_budget": state.limits.tokens,
    } | kind_json(state.of_kind)
