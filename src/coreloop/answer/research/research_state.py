"""What a research knows: its part of the run's state, and the events that change it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_type_hints

import msgspec

from coreloop.answer.models.contracts import Tier
from coreloop.answer.repair.actions import MAX_REPAIRS, Signal, signal_of
from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.answer.research.findings import MAX_ACTIVE, Contradiction, Finding, Hypothesis, citation_marks
from coreloop.answer.search.provider import Source
from coreloop.base.errors import UsageError
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.state import KindState, State

AT_ONCE: Final = 5  # queries of an iteration, which are executed at once
TOKEN_BUDGET: Final = 200_000  # of a run, unless another is set
_ANSWER_SHARE: Final = 0.2  # of time, tokens and money, for the answer
# Of `ask`: its first attempt, and one after each repair.
ASK_LIMITS: Final = Limits(max_iterations=1 + MAX_REPAIRS, tokens=60_000, deadline_s=120.0)


# Totals that a person asked for by their names, those of a tier; None for what the tier says.
Wishes = Mapping[str, int | float | None]
TIERS: Final[Mapping[Tier, Mapping[str, int]]] = {
    "simple": {"max_iters": 2, "max_queries": 3, "max_sources": 5, "max_execution_time_s": 60},
    "standard": {"max_iters": 5, "max_queries": 10, "max_sources": 15, "max_execution_time_s": 90},
    "deep": {"max_iters": 12, "max_queries": 40, "max_sources": 40, "max_execution_time_s": 120},
}
# What a person can ask for: iterations, executed queries, sources read, seconds of work, tokens.
NAMES: Final = (*TIERS["simple"], "token_budget")


def environment_wishes(environ: Mapping[str, str]) -> Wishes:
    """Read ``RESEARCH_MAX_ITERS`` and so on, `NAMES` in capitals.

    Raises
    ------
    UsageError
        A value is not a whole number of at least 1; names the variable.
    """
    return {name: _number(environ, f"RESEARCH_{name.upper()}") for name in NAMES}


def run_limits(tier: Tier, wishes: Wishes, *, exhaust: bool = False) -> Limits:
    """Build the limits of a run.

    Parameters
    ----------
    tier : str
        Whose totals apply where nothing was asked for.
    wishes : mapping of str to float
        What was asked for, by `NAMES`.
    exhaust : bool
        Only what was asked for, tokens, money and the default number of iterations limit the run.
    """
    default = Limits()
    totals: dict[str, Any] = {
        "max_iters": default.max_iterations,
        "token_budget": TOKEN_BUDGET,
        **({} if exhaust else TIERS[tier]),
        **{name: value for name, value in wishes.items() if value is not None},
    }
    seconds = totals.get("max_execution_time_s")
    return Limits(
        max_iterations=totals["max_iters"],
        queries=totals.get("max_queries"),
        sources=totals.get("max_sources"),
        deadline_s=seconds,
        tokens=totals["token_budget"],
        answer=AnswerReserve(
            usd=(default.usd or 0) * _ANSWER_SHARE,
            tokens=round(totals["token_budget"] * _ANSWER_SHARE),
            seconds=(seconds or 0) * _ANSWER_SHARE,
        ),
    )


def _number(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text[:40]!r}")
    return int(text)


Verdict = Literal["says so", "nothing said so"]
KIND: Final = "research"
# The intent of a query that looks for what speaks against the answer.
COUNTER_EVIDENCE: Final = "counter-evidence"
# The sub-question of an exhaustive run; it is not part of the prompts.
AGAINST: Final = "What speaks against the answer?"
ASK: Final = "ask"  # of the runs; what `ask` begins is a research of one iteration, which a repair repeats
PLANNED, FOUND, DROPPED, TESTED, REFLECTED = "queries", "finding", "dropped", "hypotheses", "reflection"
READ, FAILED, REWORDED, COMPACTED = "sources", "failed_queries", "rewordings", "compactions"
THOUGHT, ATTEMPTED, REPAIRED = "thoughts", "attempts", "repairs"
# Names of the events; most are those of the fields that they add to or set.
REQUESTED, CONTRADICTED, ANSWERED = "request", "contradictions_found", "answer"
NOTE, MENDED = "note", "mended_by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for beside the question; kept with the run, so that a resumed one does the same.

    Attributes
    ----------
    tier, wishes, second_check
        Of a research.
    session_id : str
        Of the conversation; the run's id if it belongs to none.
    may_repair : bool
        Whether a failed answer is repaired at once.
    mends : str
        The run whose answer a person rejected; "" for a first question.
    is_replay : bool
        Whether `verify` asks; its answers leave nothing behind but their run.
    """

    tier: Tier | None = None
    wishes: Wishes = field(default_factory=dict)
    second_check: bool = False
    session_id: str = ""
    may_repair: bool = True
    mends: str = ""
    is_replay: bool = False


@dataclass(frozen=True, slots=True)
class PlanQuery:
    """A query of an iteration.

    Attributes
    ----------
    query, intent : str
        What to search for, and what for.
    iteration : int
        In which it is to be executed.
    strategy : tuple of str
        Labels beside the intent.
    part, against : str
        Of an agent's plan: ids of the sub-question and of the hypothesis that it is for and against.
    """

    query: str
    intent: str = ""
    iteration: int = 0
    strategy: tuple[str, ...] = ()
    part: str = ""
    against: str = ""

    @property
    def labels(self) -> frozenset[str]:
        """The labels of its strategy, its intent included."""
        return frozenset({self.intent, *self.strategy})


@dataclass(frozen=True, slots=True)
class FailedQuery:
    """A query whose search was blocked or failed, and why."""

    query: str
    outcome: str
    reason: str
    iteration: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a model wrote or an agent reported and no source supports, and why."""

    sentence: str
    reason: str
    sources: tuple[str, ...] = ()
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source with its number, in the order in which sources were retrieved.

    Attributes
    ----------
    number : int
        From 1; how answers cite it.
    source : Source
        As it was retrieved; never changed.
    origin : str
        Who says so; copies have the same origin.
    query : str
        The query that found it.
    iteration : int
        In which it was read.
    """

    number: int
    source: Source
    origin: str
    query: str
    iteration: int

    @property
    def type(self) -> str:
        """The type of the source."""
        return self.source.type


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A passage, and the sentence in its text that says most to the question.

    Attributes
    ----------
    number : int
        Of its source, from 1.
    start, end : int
        Of the sentence, in characters; equal if none is marked.
    """

    number: int
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An answer and what the critique left of it.

    Attributes
    ----------
    number : int
        From 1.
    model : str
        Names of the models that were asked.
    verdict : str
        Whether the sources say so.
    sentences : tuple of str
        With their citations; empty if the answer cannot stand.
    cited : tuple of ReadSource
        The sources that these cite, and those of the passages.
    passages : tuple of MarkedPassage
        What is shown beside the sentences; of an answer without a model, the best ones.
    quoted : tuple of str
        What was found without a model in place of an answer that could not be used, with citations.
    differing : tuple of Contradiction
        Sentences of the sources that answer differently.
    dropped : tuple of Dropped
        Sentences that no source supports.
    unsaid : tuple of str
        Parts of the question without an answer, if others have one.
    found : dict of str to int
        Sources that were retrieved, by where they come from: ``text``, ``symbol``, ``schema``, ``import``,
        ``injected``.
    problem : str
        Why a search failed; "" if none did.
    failure : str
        Why the model's answer could not be used; "" if it could.
    """

    number: int
    model: str = ""
    verdict: Verdict = "nothing said so"
    sentences: tuple[str, ...] = ()
    cited: tuple[ReadSource, ...] = ()
    passages: tuple[MarkedPassage, ...] = ()
    quoted: tuple[str, ...] = ()
    differing: tuple[Contradiction, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    unsaid: tuple[str, ...] = ()
    found: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    failure: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """What a person may reject: its sentences and both sides of what differs, with citations."""
        sides = (side for pair in self.differing for side in (pair.b, pair.a))
        cited = (f"{side.text} {citation_marks(side.sources)}" for side in sides)
        return tuple(dict.fromkeys((*self.sentences, *self.quoted, *cited)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a round of repair did.

    Attributes
    ----------
    attempt : int
        The attempt that failed before it; 0 for an answer that a person rejected.
    round : int
        1 or 2.
    actions : tuple of str
        See `coreloop.answer.repair.actions`.
    jobs : tuple of str
        What was done, a line each: ``index.file README.md: done``.
    """

    attempt: int
    round: int
    actions: tuple[str, ...]
    jobs: tuple[str, ...] = ()


@dataclass(slots=True)
class Knowledge(KindState):
    """What a research knows; its fields are keys of ``state.json``.

    Attributes
    ----------
    rewordings : list of dict
        A ``query`` that found little, what it ``becomes``, ``how``, and the ``iteration``.
    compactions : list of dict
        A time at which older sources left the prompts: the ``reason``, the ``iteration``, and the numbers of
        what was ``archived``.
    mended_by : str
        The run that answers again, since a person rejected this answer; "" for none.
    aims : list of dict
        What the last iterations aimed at: ``active_hypotheses`` and ``next_actions``.
    """

    request: Request = field(default_factory=Request)
    tier: str = ""
    model: str = ""
    active_hypotheses: list[str] = field(default_factory=list)
    all_hypotheses: list[Hypothesis] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    contradictions_found: list[Contradiction] = field(default_factory=list)
    plan_queries: list[PlanQuery] = field(default_factory=list)
    failed_queries: list[FailedQuery] = field(default_factory=list)
    rewordings: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    uncertainties: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    thoughts: list[dict[str, Any]] = field(default_factory=list)
    sources: list[ReadSource] = field(default_factory=list)
    compactions: list[dict[str, Any]] = field(default_factory=list)
    answer: dict[str, Any] | None = None
    note: str = ""
    mended_by: str = ""
    attempts: list[Attempt] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    repairs: list[Repaired] = field(default_factory=list)
    aims: list[dict[str, Any]] = field(default_factory=list)

    @property
    def focus(self) -> list[Hypothesis]:
        """The active hypotheses, the highest priority first."""
        return [hypothesis for hypothesis in self.all_hypotheses if hypothesis.id in self.active_hypotheses]

    @property
    def actions(self) -> frozenset[str]:
        """The actions of repairs that were taken."""
        return frozenset(action for repair in self.repairs for action in repair.actions)

    def source(self, number: int) -> ReadSource | None:
        """Return the source of a number, or None."""
        return self.sources[number - 1] if 1 <= number <= len(self.sources) else None

    def sources_of(self, numbers: Iterable[int]) -> list[ReadSource]:
        """Return the sources of some numbers, those that there are, each once."""
        return [read for number in dict.fromkeys(numbers) if (read := self.source(number))]


def knowledge_of(state: State) -> Knowledge:
    """Return what the run of a state knows; to be read only.

    What a later event replaces stays in it; to its lists, later events add.
    """
    assert isinstance(state.of_kind, Knowledge), state.kind
    return replace(state.of_kind)


_TYPES: Final = get_type_hints(Knowledge)
_ADDED: Final = {READ, FAILED, REWORDED, COMPACTED, THOUGHT, ATTEMPTED, REPAIRED}
_SET: Final = {REQUESTED, CONTRADICTED, ANSWERED, NOTE, MENDED}


def fold(known: Knowledge, name: str, data: Any) -> None:
    """Add an event of a research to what it knows; events of a newer version are ignored."""
    if name in _ADDED:
        getattr(known, name).extend(msgspec.convert([data], _TYPES[name]))
    elif name in _SET:
        setattr(known, name, msgspec.convert(data, _TYPES[name]))
    elif name == PLANNED:
        known.plan_queries += msgspec.convert(data["queries"], list[PlanQuery])
        known.tier = data.get("tier") or known.tier
    elif name == FOUND:
        put_finding(known.findings, msgspec.convert(data, Finding))
    elif name == DROPPED:
        claim = msgspec.convert(data, Dropped)
        known.dropped = [other for other in known.dropped if other.sentence != claim.sentence] + [claim]
    elif name == TESTED:
        known.all_hypotheses = msgspec.convert(data, list[Hypothesis])
        known.active_hypotheses = [hypothesis.id for hypothesis in known.all_hypotheses[:MAX_ACTIVE]]
    elif name == REFLECTED:
        for key in ("model", "gaps", "uncertainties", "missing"):
            setattr(known, key, data[key])
    elif name == SIGNALLED:
        known.signals.append(signal_of(data))


def put_finding(findings: list[Finding], finding: Finding) -> None:
    """Put a finding in the place of the one with the same text, or behind the others."""
    known = [place for place, other in enumerate(findings) if other.text == finding.text]
    place = known[0] if known else len(findings)
    findings[place : place + 1] = [finding]
