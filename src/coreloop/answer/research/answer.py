"""The answer of a research, whole or partial, as callers get it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import msgspec

from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.research.asking import AGAINST
from coreloop.answer.research.contradictions import Contradiction, SourcedText
from coreloop.answer.research.ends import End, EndError, end_error, end_line
from coreloop.answer.research.findings import Finding
from coreloop.answer.research.knowledge import Knowledge, ReadSource, knowledge_of
from coreloop.answer.research.verify import NO_EVIDENCE, CheckedAnswer
from coreloop.base.text import counted
from coreloop.runs.state import State

NOT_ANSWERED: Final = "Not answered yet."
DEGRADED: Final = "Search capabilities were limited; answer is based on partial information."
UNUSABLE: Final = "The model's own answer could not be used; these are the findings."
_ADVICE: Final = "index more files, ask in other words, or choose a model (CORELOOP_MODEL)"
_QUOTED_OF_PART: Final = 2
_MAX_REASONS: Final = 3
_RAISE: Final[Mapping[str, str]] = {
    "max_iterations": "--max-iters",
    "queries": "--max-queries",
    "sources": "--max-sources",
    "deadline": "--max-time",
    "tokens": "--token-budget",
}
"""What to raise if a limit ended a research."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """A source that the answer cites.

    Attributes
    ----------
    id : str
        ``[3]``, as in the answer.
    title, location, type : str
        As it was retrieved.
    line : int or None
        Where the passage begins in a file.
    published : str or None
        ISO date, if known.
    """

    id: str
    title: str
    location: str
    type: str
    line: int | None = None
    published: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchUsage:
    """What the research used."""

    tokens: int
    usd: float
    calls: int
    queries: int
    elapsed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """What a research answers.

    Attributes
    ----------
    summary : str
        One line: the first sentence of the answer; both sides of a contradiction, if sources differ.
    final_answer : str
        Sentences with citations such as ``[2]``; `NO_EVIDENCE` if no source answers the question.
    sources : tuple of AnswerSource
        Those that the answer cites.
    iterations : int
        Committed ones.
    confidence : float
        0–1: of the best finding of each sub-question, on average; 0 for one without findings.
    degraded : bool
        Whether a search was blocked or failed.
    insufficient_termination : bool
        Whether the research stopped before it had enough.
    run_id : str
        Of the run.
    usage : ResearchUsage
        What it used.
    end : str
        ``answered``, ``nothing_said_so``, ``search_down`` or ``model_unusable``.
    reason : str
        One line that says why there is no answer; "" if there is one.
    error : EndError or None
        The same for programs, if the search or the model did not work.
    """

    summary: str
    final_answer: str
    sources: tuple[AnswerSource, ...]
    iterations: int
    confidence: float
    degraded: bool
    insufficient_termination: bool
    run_id: str
    usage: ResearchUsage
    end: End = "answered"
    reason: str = ""
    error: EndError | None = None


def respond(state: State) -> AgentResponse:
    """Return the answer that a run has, or a partial one from its findings if it has none yet."""
    knowledge = knowledge_of(state)
    if knowledge.answer is None:
        response = build_response(state, answer_from(state))
        has_any = response.final_answer != NO_EVIDENCE
        return response if has_any else replace(response, summary=NOT_ANSWERED, final_answer=NOT_ANSWERED)
    response = msgspec.convert(knowledge.answer, AgentResponse)
    return replace(response, usage=usage_of(state))


def ending(state: State) -> str:
    """Return why a research has no final answer, or what would give it more; "" if nothing is open."""
    run_id = state.run_id
    if state.status == "failed":
        error = state.error_log[-1]["error"] if state.error_log else "see runs show"
        return f"failed: {error.partition('Error: ')[2] or error}"
    if not state.is_terminal:
        return f"{state.status}; go on with: dartlab-coreloop research QUESTION --session {run_id}"
    option = _RAISE.get(state.stop_reason or "")
    if state.is_covered or state.sufficient or option is None:
        return ""
    if is_asked_out(state):
        return "nothing is left to ask offline: index more files, ask in other words, or choose a model"
    return f"stopped before it had enough; for more, raise {option}"


def is_asked_out(state: State) -> bool:
    """Whether an exhaustive run without a model has asked all that the question's own words can ask."""
    knowledge = knowledge_of(state)
    is_planned = any(query.iteration > state.iteration for query in knowledge.plan_queries)
    return state.mode == "exhaust" and knowledge.model == OFFLINE and not is_planned


def build_response(state: State, checked: CheckedAnswer, *, failure: str = "") -> AgentResponse:
    """Build the response of checked sentences.

    Parameters
    ----------
    state : State
        Of the run.
    checked : CheckedAnswer
        What the answer consists of.
    failure : str
        Why a model that was asked to write it could not be used; "" if it could, or none was asked.
    """
    knowledge = knowledge_of(state)
    end, why = _end(knowledge, checked, failure)
    cited = [*checked.cited, *_contradicting(knowledge)] if checked.sentences else []
    sources = [read for number in dict.fromkeys(cited) if (read := knowledge.source(number))]
    return AgentResponse(
        summary=_summary(knowledge, checked, end),
        final_answer="\n".join(_lines(knowledge, checked, end)),
        sources=tuple(map(answer_source, sources)),
        iterations=state.iteration,
        confidence=confidence_in(state) if checked.sentences else 0.0,
        degraded=knowledge.is_degraded,
        insufficient_termination=not (state.is_covered or state.sufficient),
        run_id=state.run_id,
        usage=usage_of(state),
        end=end,
        reason=end_line(end, why),
        error=end_error(end, why),
    )


def _end(knowledge: Knowledge, checked: CheckedAnswer, failure: str) -> tuple[End, str]:
    if failure:
        return "model_unusable", failure
    if checked.sentences:
        return "answered", ""
    if knowledge.is_degraded and not knowledge.sources:
        return "search_down", "; ".join(_failures(knowledge))
    return "nothing_said_so", _ADVICE


def _failures(knowledge: Knowledge) -> list[str]:
    return list(dict.fromkeys(failed.reason for failed in knowledge.failed_queries))[:_MAX_REASONS]


def _summary(knowledge: Knowledge, checked: CheckedAnswer, end: End) -> str:
    """The first sentence; if sources differ about it, both sides."""
    if not checked.sentences:
        return DEGRADED if end == "search_down" else NO_EVIDENCE
    first = checked.sentences[0]
    pairs = knowledge.contradictions_found
    pair = next((one for one in pairs if one.a.text in first or one.b.text in first), None)
    return contradiction_line(pair) if pair else first


def answer_from(state: State) -> CheckedAnswer:
    """Put the surest findings of each sub-question together, which are checked already; needs no model."""
    best = _best_findings(state, knowledge_of(state))
    sentences = [f"{finding.text} {''.join(f'[{number}]' for number in finding.sources)}" for finding in best]
    cited = dict.fromkeys(number for finding in best for number in finding.sources)
    return CheckedAnswer(tuple(sentences), tuple(cited))


def _best_findings(state: State, knowledge: Knowledge) -> list[Finding]:
    checked = (finding for finding in knowledge.findings if finding.confidence)
    sure = sorted(checked, key=lambda finding: -finding.confidence)
    of_parts = ([one for one in sure if part.id in one.answers] for part in state.sub_questions)
    best = {one.text: one for found in of_parts for one in found[:_QUOTED_OF_PART]}
    return list(best.values()) or sure[:_QUOTED_OF_PART]


def response_json(response: AgentResponse) -> dict[str, Any]:
    """Return a response as plain values."""
    return asdict(response)


def contradiction_line(pair: Contradiction) -> str:
    """Show both sides with their sources and dates; a later one that replaces the earlier one is said to."""
    a, b = _side(pair.a), _side(pair.b)
    return f"Superseded: {a}; now: {b}" if pair.is_superseded else f"⚠ Contradiction: {a}; but: {b}"


def _side(said: SourcedText) -> str:
    published = f" ({said.published})" if said.published else ""
    return f"{said.text} {''.join(f'[{number}]' for number in said.sources)}{published}"


def _contradicting(knowledge: Knowledge) -> list[int]:
    pairs = knowledge.contradictions_found
    return [number for pair in pairs for said in (pair.a, pair.b) for number in said.sources]


def _lines(knowledge: Knowledge, checked: CheckedAnswer, end: End) -> list[str]:
    lines = list(checked.sentences or ([] if end == "search_down" else [NO_EVIDENCE]))
    if checked.sentences:
        lines += map(contradiction_line, knowledge.contradictions_found)
    if checked.dropped:
        lines.append(f"({counted(len(checked.dropped), 'sentence')} left out: no source says so.)")
    if knowledge.is_degraded:
        lines += [DEGRADED, *(f"({reason})" for reason in _failures(knowledge))]
    lines += [
        f"The model's {one.what} could not be used; it was made without it." for one in knowledge.unusable
    ]
    return [*lines, *([UNUSABLE] if end == "model_unusable" else [])]


def confidence_in(state: State) -> float:
    """Return the mean confidence of the best finding of each part of the question, 0 for one without."""
    findings = knowledge_of(state).findings
    best = [
        max((one.confidence for one in findings if part.id in (one.answers or [part.id])), default=0.0)
        for part in state.sub_questions
        if part.text != AGAINST
    ]
    return round(sum(best) / len(best), 2) if best else 0.0


def answer_source(read: ReadSource) -> AnswerSource:
    """Return a source as callers get it."""
    source = read.source
    published = source.published.isoformat() if source.published else None
    return AnswerSource(
        id=f"[{read.number}]",
        title=source.title,
        location=source.location,
        type=source.type,
        line=source.line,
        published=published,
    )


def cited_sources(state: State) -> list[ReadSource]:
    """Return the sources that the answer or a finding cites, in their order."""
    knowledge = knowledge_of(state)
    wanted = {source.id for source in respond(state).sources}
    wanted |= {f"[{number}]" for finding in knowledge.findings for number in finding.sources}
    return [read for read in knowledge.sources if f"[{read.number}]" in wanted]


def usage_of(state: State) -> ResearchUsage:
    """Return what a run used."""
    return ResearchUsage(
        tokens=state.spent.tokens,
        usd=state.spent.usd,
        calls=state.calls,
        queries=state.queries,
        elapsed_s=round(state.elapsed_s, 3),
    )
