"""An answer as callers get it."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.offline import notice
from coreloop.answer.repair.case import Attempt, Case, case_of
from coreloop.answer.research.answer import DEGRADED, AnswerSource, ResearchUsage, answer_source, usage_of
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.runs.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the answer needed, as records and replays have it."""

    name: str
    args: dict[str, Any]
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a question got.

    Attributes
    ----------
    answer : str
        Sentences with citations such as ``[2]``; `NO_EVIDENCE` if no source answers the question.
    citations : tuple of AnswerSource
        The sources that the answer cites.
    confidence : float
        0–1; 0 without an answer.
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
    tool_calls : tuple of ToolCall
        Searches, the same as in the record.
    usage : ResearchUsage
        What the answer used.
    """

    answer: str
    citations: tuple[AnswerSource, ...]
    confidence: float
    intent: str
    degraded: bool
    supported: bool
    signals: tuple[str, ...]
    repairs: int
    run_id: str
    session_id: str
    model: str
    tool_calls: tuple[ToolCall, ...]
    usage: ResearchUsage


_NO_ATTEMPT: Final = Attempt(number=0, model="")


def answer_of(state: State) -> Answer:
    """Return the answer that a run of the kind ``ask`` has; until it has one, that there is no evidence."""
    case = case_of(state)
    last = case.attempts[-1] if case.attempts else _NO_ATTEMPT
    return Answer(
        answer=_text(last, state.question),
        citations=tuple(map(answer_source, last.cited)),
        confidence=last.confidence,
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


def tool_calls(question: str, case: Case) -> list[ToolCall]:
    """Return the searches of each attempt."""
    return [
        ToolCall(
            name="retrieve",
            args={"question": question, "attempt": attempt.number},
            ok=bool(attempt.sentences),
        )
        for attempt in case.attempts
    ]


def _text(attempt: Attempt, question: str) -> str:
    closing = [DEGRADED, f"({attempt.problem})"] if attempt.problem else []
    if not attempt.sentences:
        return "\n".join([NO_EVIDENCE, *closing])
    opening = [notice(question)] if attempt.model == OFFLINE else []
    return "\n".join([*opening, *attempt.sentences, *closing])
