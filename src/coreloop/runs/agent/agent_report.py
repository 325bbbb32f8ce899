"""An agent's report of an iteration: read from untrusted JSON, checked, and turned into events."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec

from coreloop.base.errors import UsageError
from coreloop.base.language.words import content_words, is_hangul
from coreloop.runs import events as happened
from coreloop.runs.agent.json_input import read_json, wrong_field
from coreloop.runs.amounts import Amount, microusd
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Reported
from coreloop.runs.state import State

_NOT_BLANK: Final = r"\S"
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000, pattern=_NOT_BLANK)]
_Label = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=_NOT_BLANK)]
_Source = Annotated[str, msgspec.Meta(max_length=2_000)]
_MANY: Final = msgspec.Meta(max_length=200)
_ASKING: Final = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had"
    r"|how|what|when|where|which|who|why)\b"
)
_BEGINS: Final = re.compile(_ASKING, re.IGNORECASE)
_BETWEEN: Final = re.compile(
    rf"""[?？]+
      | (?:[^\w\s]|\b(?:and|or|but)\b)\s*+(?={_ASKING})
      | (?:(?<=[고며나만데까])|(?<=[는은인던]가))\s*+(?:[,;/]|그리고|또는)\s*+(?=[가-힣])
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Between two questions: "Why did it fail, and is water wet?"; not: "salts and metals"."""
_SHARED: Final = 2
"""Content words that a sub-question has of the question; of a question with at most as many, one."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)]
_Usd = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a report; unknown fields are refused, so that a misspelt one is not lost."""


class ReportedAction(_Part, frozen=True):
    """A tool, and the strategy as labels: ``{"tool": "web", "strategy": ["English", "recent"]}``."""

    tool: _Label
    strategy: Annotated[tuple[_Label, ...], msgspec.Meta(max_length=20)] = ()


class Query(_Part, frozen=True):
    """An executed search; ``success`` is false after an error."""

    query: _Text
    results_count: _Count
    success: bool


class Learnt(_Part, frozen=True):
    """A finding, and the sub-questions (ids or texts) that it answers if it has a source.

    ``sources`` are numbers of ``runs read``, or addresses of what coreloop has not read. ``quote`` is what
    they say, word for word. ``hypothesis`` is the id of one that ``runs next`` shows, and ``stance`` what the
    finding says of it.
    """

    text: _Text
    sources: Annotated[tuple[int | _Source, ...], _MANY]
    answers: _Text | Annotated[tuple[_Text, ...], _MANY] = ()
    hypothesis: _Label | None = None
    stance: Literal["supports", "contradicts", "neutral"] = "neutral"
    quote: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """`answers` as a tuple."""
        return (self.answers,) if isinstance(self.answers, str) else self.answers

    @property
    def places(self) -> tuple[str, ...]:
        """`sources` as texts, without blank ones, each once."""
        texts = (str(source).strip() for source in self.sources)
        return tuple(dict.fromkeys(filter(None, texts)))


class Doubt(_Part, frozen=True):
    """What is not known, and the evidence that would settle it."""

    text: _Text
    needs: _Text


class ThoughtPaths(_Part, frozen=True):
    """Three ways to an answer: the usual one, another one, the opposite; and where they meet or collide."""

    a: _Text
    b: _Text
    c: _Text
    cross_check: _Text


class Thought(_Part, frozen=True):
    """The layers of a reflection, in a sentence each; those that were not due may be left out."""

    situation: _Text | None = None
    direct: _Text | None = None
    roles: Annotated[dict[_Label, _Text], msgspec.Meta(max_length=5)] = {}
    outsider: _Text | None = None
    thesis: _Text | None = None
    antithesis: _Text | None = None
    synthesis: _Text | None = None
    self_check: _Text | None = None
    tool: _Text | None = None
    paths: ThoughtPaths | None = None
    missing: _Text | None = None
    is_stuck: bool = False


class Waiver(_Part, frozen=True):
    """Why a sub-question falls away: ``{"id": "q2", "falls_away": "…"}``."""

    id: _Label
    falls_away: _Text


class ReportedUsage(_Part, frozen=True):
    """What the agent says the iteration cost."""

    usd: _Usd = 0.0
    tokens: _Count = 0


class AgentReport(_Part, frozen=True):
    """What an agent pipes to ``runs record``; see the page on Claude Code."""

    actions: Annotated[tuple[_Label | ReportedAction, ...], _MANY] = ()
    queries: Annotated[tuple[Query, ...], _MANY] = ()
    findings: Annotated[tuple[Learnt, ...], _MANY] = ()
    sub_questions: Annotated[tuple[_Text | Waiver, ...], _MANY] = ()
    hypotheses: Annotated[tuple[_Text, ...], _MANY] = ()
    next_actions: Annotated[tuple[_Text, ...], _MANY] = ()
    uncertainties: Annotated[tuple[Doubt, ...], _MANY] = ()
    reflection: Thought = Thought()
    usage: ReportedUsage = ReportedUsage()
    iteration: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @property
    def used(self) -> Amount:
        """`usage` in exact numbers."""
        return Amount(microusd(self.usage.usd), self.usage.tokens)


_NOTHING: Final = AgentReport()


def read_report(data: bytes) -> AgentReport:
    """Read a report.

    Raises
    ------
    UsageError
        The message begins with the JSON path of the field, and says what would be right.
    """
    report = read_json(data, AgentReport, what="report")
    if msgspec.structs.replace(report, iteration=None, usage=ReportedUsage()) == _NOTHING:
        raise wrong_field("$", "the report is empty; say what was done or found, or give next_actions")
    return report


Believe = Callable[[State, AgentReport, Mapping[str, str], datetime], Iterable[Reported]]
"""Turns findings into events: the state before the report, ids of sub-questions by id and text, the time."""


def report_events(state: State, report: AgentReport, at: datetime, believe: Believe) -> list[Reported]:
    """Turn a report into events.

    Parameters
    ----------
    state : State
        Of the run before the report.
    report : AgentReport
        Checked against the state.
    at : datetime
        The time of the events.
    believe : callable
        Checks the findings.

    Raises
    ------
    UsageError
        A finding or a waiver names a sub-question that the run does not have, or the iteration is not the
        run's next one.
    """
    if report.iteration not in {None, state.iteration + 1}:
        raise wrong_field(
            "$.iteration",
            f"iteration {report.iteration} is not the next one: expected {state.iteration + 1}; "
            "runs next shows the state",
        )
    texts = tuple(part for part in report.sub_questions if isinstance(part, str))
    return [
        *added_parts(state, texts, at),
        *_waivers(state, report, at),
        *_actions(report, at),
        *_searches(state, report, at),
        *believe(state, report, _ids(state, texts), at),
        happened.Reflected(
            at=at, sufficient=False, confidence=state.confidence, next_actions=report.next_actions
        ),
    ]


def added_parts(state: State, texts: tuple[str, ...], at: datetime) -> Iterator[Reported]:
    """Yield that an agent adds sub-questions; those that are not about the question are notes.

    They are about it if each question that they ask has `_SHARED` content words of the run's question, and of
    sub-questions that no agent reported. Words of another language are not known to be about it.
    """
    own = [part.text for part in state.sub_questions if not part.is_reported]
    about = content_words("\n".join([state.question, *own]))
    if texts:
        notes = tuple(text for text in texts if not all(_shares(asked, about) for asked in _asked(text)))
        yield happened.Planned(at=at, sub_questions=texts, notes=notes)


def _asked(text: str) -> Iterator[str]:
    """Yield a sub-question, and each question in it."""
    yield text
    for part in map(str.strip, _BETWEEN.split(text)):
        if content_words(part) and (_BEGINS.match(part) or any(map(is_hangul, part))):
            yield part


def _shares(asked: str, about: Collection[str]) -> bool:
    shared = [word for word in content_words(asked) if any(_is_same(word, other) for other in about)]
    return len(shared) >= (_SHARED if len(about) > _SHARED else 1)


def _is_same(word: str, other: str) -> bool:
    """Whether two stems are the same, or one of a compound: 팔당 of 팔당댐."""
    short, long = sorted((word, other), key=len)
    return word == other or (len(short) > 1 and is_hangul(short) and short in long)


def _ids(state: State, texts: tuple[str, ...]) -> dict[str, str]:
    """Ids of sub-questions by id and by text, those of the new ones included."""
    known = {part.text: part.id for part in state.sub_questions}
    for text in texts:
        known.setdefault(text, f"q{len(known) + 1}")
    return known | {name: name for name in known.values()}


def _waivers(state: State, report: AgentReport, at: datetime) -> Iterator[Reported]:
    known = {part.id for part in state.sub_questions}
    for place, part in enumerate(report.sub_questions):
        if isinstance(part, Waiver):
            if part.id not in known:
                raise _unknown(f"$.sub_questions[{place}].id", part.id, known)
            yield happened.WaiverProposed(at=at, sub_question=part.id, reason=part.falls_away)


def _actions(report: AgentReport, at: datetime) -> Iterator[Reported]:
    """The actions of an iteration; one that it repeats is the same choice and counts once."""
    for action in dict.fromkeys(report.actions):
        if isinstance(action, ReportedAction):
            yield happened.ActionTaken(at=at, tool=action.tool, strategy=action.strategy)
        else:
            yield happened.ActionTaken(at=at, tool=action)


def _searches(state: State, report: AgentReport, at: datetime) -> Iterator[Reported]:
    history = QueryHistory(state.search_history)
    for query in report.queries:
        is_duplicate, similar = history.is_duplicate_query(query.query)
        if is_duplicate:
            yield happened.QueryDropped(at=at, query=query.query, similar=similar or "")
            continue
        outcome: happened.Outcome = "found" if query.results_count else "empty"
        yield happened.Searched(
            at=at,
            query=query.query,
            outcome=outcome if query.success else "failed",
            results_count=query.results_count,
        )
        history.add_query_to_history(query.query, state.iteration + 1, query.results_count, query.success)


def answered_parts(finding: Learnt, place: int, ids: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids of the sub-questions that a finding names.

    Raises
    ------
    UsageError
        The run has no such sub-question.
    """
    if unknown := next((name for name in finding.named if name not in ids), None):
        raise _unknown(f"$.findings[{place}].answers", unknown, set(ids.values()))
    return tuple(dict.fromkeys(ids[name] for name in finding.named))


def _unknown(path: str, name: str, known: set[Any]) -> UsageError:
    names = ", ".join(sorted(known)) or "none yet; add it to sub_questions"
    return wrong_field(path, f"no sub-question {name[:80]}; the run has {names}")
