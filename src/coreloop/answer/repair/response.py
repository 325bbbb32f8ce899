"""An answer as callers get it."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.answer.repair.case import Attempt, Case, case_of
from coreloop.answer.research.answer import (
    DEGRADED,
    AnswerSource,
    ResearchUsage,
    answer_source,
    contradiction_line,
    usage_of,
)
from coreloop.answer.research.ends import End, EndError, end_error, end_line
from coreloop.answer.research.knowledge import ReadSource
from coreloop.answer.research.passages import Passage, Verdict
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.runs.state import State

_ADVICE: Final = "index more files, ask in other words, or choose a model (CORELOOP_MODEL)"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededCall:
    """A call that the answer needed, as records and replays have it."""

    name: str
    args: dict[str, Any]
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPassage(AnswerSource):
    """A passage of an answer; ``start`` and ``end`` are those of its marked sentence, equal for none."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a question got.

    Attributes
    ----------
    answer : str
        Sentences with citations such as ``[2]``, and a line for each other answer of the sources;
        `NO_EVIDENCE` if no source answers the question.
    verdict : str
        ``says so``, ``may say so`` or ``nothing said so``.
    passages : tuple of AnswerPassage
        The best passages whole, of an answer without a model; the closest ones if nothing says so.
    citations : tuple of AnswerSource
        The sources that the answer cites.
    end : str
        ``answered``, ``nothing_said_so``, ``search_down`` or ``model_unusable``.
    reason : str
        One line that says why there is no answer, or what else to know; "" for nothing.
    error : EndError or None
        The same for programs, if the search or the model did not work.
    intent : str
        What the question wants, as the model says.
    degraded : bool
        Whether the search failed in the last attempt; the answer says so.
    supported : bool
        Whether there is an answer, every sentence of which a source says.
    signals : tuple of str
        What went wrong in the attempts, in their order.
    repairs : int
        Rounds of repair that were done, 0 to 2; one that is left to workers does not count.
    run_id, session_id : str
        Of the answer, and of the conversation.
    model : str
        Names of the models.
    tool_calls : tuple of NeededCall
        Searches, the same as in the record.
    usage : ResearchUsage
        What the answer used.
    """

    answer: str
    verdict: Verdict
    passages: tuple[AnswerPassage, ...]
    citations: tuple[AnswerSource, ...]
    end: End
    reason: str
    error: EndError | None
    intent: str
    degraded: bool
    supported: bool
    signals: tuple[str, ...]
    repairs: int
    run_id: str
    session_id: str
    model: str
    tool_calls: tuple[NeededCall, ...]
    usage: ResearchUsage


_NO_ATTEMPT: Final = Attempt(number=0, model="")


def answer_of(state: State) -> Answer:
    """Return the answer that a run of the kind ``ask`` has; until it has one, that nothing says so."""
    case = case_of(state)
    last = case.attempts[-1] if case.attempts else _NO_ATTEMPT
    end, why = _end(last)
    text = _text(last)
    return Answer(
        answer=text,
        verdict=last.verdict,
        passages=tuple(_passage(passage, last.cited) for passage in last.passages),
        citations=tuple(answer_source(read) for read in last.cited if f"[{read.number}]" in text),
        end=end,
        reason="; ".join(filter(None, (end_line(end, why), last.note))),
        error=end_error(end, why),
        intent=last.intent,
        degraded=bool(last.problem),
        supported=bool(last.sentences),
        signals=tuple(signal.reason for signal in case.signals),
        repairs=sum(bool(repair.actions) for repair in case.repairs if case.asked.may_repair),
        run_id=state.run_id,
        session_id=case.asked.session_id,
        model=last.model,
        tool_calls=tuple(tool_calls(state.question, case)),
        usage=usage_of(state),
    )


def tool_calls(question: str, case: Case) -> list[NeededCall]:
    """Return the searches of each attempt."""
    return [
        NeededCall(
            name="retrieve",
            args={"question": question, "attempt": attempt.number},
            ok=bool(attempt.sentences),
        )
        for attempt in case.attempts
    ]


def _end(attempt: Attempt) -> tuple[End, str]:
    if attempt.sentences:
        return "answered", ""
    if attempt.failure:
        return "model_unusable", attempt.failure
    if attempt.problem:
        return "search_down", attempt.problem
    return "nothing_said_so", _ADVICE


def _passage(passage: Passage, cited: tuple[ReadSource, ...]) -> AnswerPassage:
    read = next(read for read in cited if read.number == passage.number)
    source = answer_source(read)
    return AnswerPassage(
        id=source.id,
        title=source.title,
        location=source.location,
        type=source.type,
        line=source.line,
        published=source.published,
        text=read.source.text,
        start=passage.start,
        end=passage.end,
    )


def _text(attempt: Attempt) -> str:
    closing = [DEGRADED, f"({attempt.problem})"] if attempt.problem else []
    said = attempt.sentences or attempt.quoted
    if not said:
        return "\n".join([*([] if closing or attempt.failure else [NO_EVIDENCE]), *closing])
    return "\n".join([*said, *map(contradiction_line, attempt.differing), *closing])
