"""An agent's report of an iteration: read from untrusted JSON, checked, and turned into events."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec

from coreloop.base.errors import UsageError
from coreloop.base.text import printable
from coreloop.runs import events as happened
from coreloop.runs.amounts import Amount, microusd
from coreloop.runs.driver.spending import has_duplicate_keys
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Reported
from coreloop.runs.state import State

MAX_BYTES: Final = 1_000_000
HYPOTHESIS: Final = "hypothesis"
LEARNT: Final = "learnt"
"""Names of the events for the run's kind."""
_NOT_BLANK: Final = r"\S"
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000, pattern=_NOT_BLANK)]
_Label = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=_NOT_BLANK)]
_Source = Annotated[str, msgspec.Meta(max_length=2_000)]
_MANY: Final = msgspec.Meta(max_length=200)
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

    ``hypothesis`` is the id of one that ``runs next`` shows, and ``stance`` what the finding says of it.
    """

    text: _Text
    sources: Annotated[tuple[_Source, ...], _MANY]
    answers: _Text | Annotated[tuple[_Text, ...], _MANY] = ()
    hypothesis: _Label | None = None
    stance: Literal["supports", "contradicts", "neutral"] = "neutral"


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
    if len(data) > MAX_BYTES:
        raise _wrong("$", f"the report has more than {MAX_BYTES:,} bytes; shorten its texts")
    try:
        report = msgspec.json.decode(data.removeprefix(BOM_UTF8), type=AgentReport)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `")
        raise _wrong(place.rstrip("`") or "$", _in_words(text)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _wrong("$", f"not JSON ({error}); pipe one JSON object") from error
    if has_duplicate_keys(data.removeprefix(BOM_UTF8)):
        raise _wrong("$", "an object has a key twice, of which only one would count; leave one out")
    if msgspec.structs.replace(report, iteration=None, usage=ReportedUsage()) == _NOTHING:
        raise _wrong("$", "the report is empty; say what was done or found, or give next_actions")
    return report


def _in_words(text: str) -> str:
    if unknown := re.search(r"unknown field `(.*)`", text):
        return f"unknown field {unknown[1]}; leave it out"
    if missing := re.search(r"missing required field `(.*)`", text):
        return f"the field {missing[1]} is missing; add it"
    if "matching regex" in text:
        return "is blank; write a text"
    return text[:1].lower() + text[1:].replace("`", "")


def report_events(state: State, report: AgentReport, at: datetime) -> list[Reported]:
    """Turn a report into events.

    Parameters
    ----------
    state : State
        Of the run before the report.
    report : AgentReport
        Checked against the state.
    at : datetime
        The time of the events.

    Raises
    ------
    UsageError
        A finding or a waiver names a sub-question that the run does not have, or the iteration is not the
        run's next one.
    """
    if report.iteration not in {None, state.iteration + 1}:
        expected = f"expected {state.iteration + 1}; runs next shows the state"
        raise _wrong("$.iteration", f"iteration {report.iteration} is not the next one: {expected}")
    texts = tuple(part for part in report.sub_questions if isinstance(part, str))
    planned: list[Reported] = [happened.Planned(at=at, sub_questions=texts)] if texts else []
    return [
        *planned,
        *_waivers(state, report, at),
        *_actions(report, at),
        *_searches(state, report, at),
        *_findings(state, report, _ids(state, texts), at),
        *_notes(state, report, at),
        happened.Reflected(
            at=at, sufficient=False, confidence=state.confidence, next_actions=report.next_actions
        ),
    ]


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


def _findings(state: State, report: AgentReport, ids: dict[str, str], at: datetime) -> Iterator[Reported]:
    known = {(part.id, kept.text, kept.source) for part in state.sub_questions for kept in part.findings}
    read: dict[str, None] = {}
    for place, finding in enumerate(report.findings):
        named = (finding.answers,) if isinstance(finding.answers, str) else finding.answers
        if unknown := next((name for name in named if name not in ids), None):
            raise _unknown(f"$.findings[{place}].answers", unknown, set(ids.values()))
        sources = dict.fromkeys(source.strip() for source in finding.sources if source.strip())
        read |= sources
        for part in dict.fromkeys(ids[name] for name in named) or [""]:
            for source in sources or [""]:
                if (part, finding.text, source) not in known:
                    yield happened.FindingRecorded(at=at, sub_question=part, text=finding.text, source=source)
    yield from (happened.SourceRead(at=at, source=source) for source in read)


def _notes(state: State, report: AgentReport, at: datetime) -> Iterator[Reported]:
    """What the run's kind makes of hypotheses and findings."""
    number = state.iteration + 1
    for statement in report.hypotheses:
        yield happened.Noted(at=at, name=HYPOTHESIS, data={"statement": statement, "iteration": number})
    for finding in report.findings:
        data = msgspec.to_builtins(finding) | {"iteration": number}
        yield happened.Noted(at=at, name=LEARNT, data=data)


def _unknown(path: str, name: str, known: set[Any]) -> UsageError:
    names = ", ".join(sorted(known)) or "none yet; add it to sub_questions"
    return _wrong(path, f"no sub-question {name[:80]}; the run has {names}")


def _wrong(path: str, message: str) -> UsageError:
    return UsageError(printable(f"{path}: {message}; nothing was recorded"))
