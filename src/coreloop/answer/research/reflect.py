"""Reflection: models say what the sources say and what is missing, and the next queries are chosen."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from coreloop.answer.models.contracts import ReflectionResponse, ReportedFinding
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import reflect_offline
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.asking import ask_or_do_without
from coreloop.answer.research.believe import Change, add_findings, noted, weigh
from coreloop.answer.research.best_passages import Grounds
from coreloop.answer.research.findings import Finding
from coreloop.answer.research.memory import Memory, material_of, notes_of, view
from coreloop.answer.research.next_queries import converge, diverge, is_stuck, new_queries
from coreloop.answer.research.research_state import (
    AGAINST,
    COUNTER_EVIDENCE,
    DROPPED,
    PLANNED,
    REFLECTED,
    THOUGHT,
    Dropped,
    Knowledge,
    PlanQuery,
    knowledge_of,
)
from coreloop.answer.research.verify import REJECTED, source_number, supporting, without_citations
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.state import State

TOOLS: Final = {
    "stuck": "first principles",
    "contradiction": "Bayes",
    "sure": "falsification",
    "overload": "Occam's razor",
    "innovation": "TRIZ",
    "new": "SCAMPER",
}
"""A situation, the most pressing first, and the tool of thought for it."""
_INVENTS: Final = re.compile(r"\b(?:invent|improve|innovat|redesign)|발명|개선|혁신", re.IGNORECASE)
SURE_OVER: Final = 0.8  # as the specification has it: above it a belief counts as sure
_OVERLOAD_SOURCES: Final = 30  # chosen: as many as the specification keeps findings
_MAX_FINDINGS: Final = 50
_MAX_HYPOTHESES: Final = 20
"""Of a reply."""
_THOUGHTS: Final = ("direct", "roles", "outsider", "thesis", "antithesis", "synthesis", "paths")


def reflect(run: Run, ladder: Ladder, rejected: Rejected) -> None:
    """Ask what the new sources say, keep what they do say, and plan the next iteration.

    Parameters
    ----------
    run : Run
        After the searches of an iteration.
    ladder : Ladder
        Asked once; twice in a ``deep`` or exhaustive run.
    rejected : Rejected
        What is no finding.

    Raises
    ------
    ModelError
        No model gave a usable reply.
    BudgetError
        A call could pass a limit.
    """
    memory = view(run)
    reply = _ask(run, ladder, "reflect", memory)
    _record(run, _believed(run.state, reply.findings, rejected))
    if run.state.mode == "exhaust" or knowledge_of(run.state).tier == "deep":
        reply = _challenged(run, ladder, reply, memory)
    _record(run, _weighed(run.state, reply))
    _look_ahead(run, reply, model=ladder.name)


def tool_for(state: State, knowledge: Knowledge) -> str:
    """Return the tool of thought that fits the situation."""
    if is_stuck(state, knowledge):
        return TOOLS["stuck"]
    if knowledge.contradictions_found:
        return TOOLS["contradiction"]
    if state.confidence > SURE_OVER:
        return TOOLS["sure"]
    if len(knowledge.sources) > _OVERLOAD_SOURCES:
        return TOOLS["overload"]
    return TOOLS["innovation"] if _INVENTS.search(state.question) else TOOLS["new"]


def _ask(run: Run, ladder: Ladder, prompt: str, memory: Memory, *notes: str) -> ReflectionResponse:
    material = material_of(run.state, memory, [*notes_of(knowledge_of(run.state), memory), *notes])
    return ask_or_do_without(run, ladder, prompt, material, ReflectionResponse, reflect_offline)


def _record(run: Run, changes: Iterable[Change]) -> None:
    for event_type, fields in changes:
        run.record(event_type, **fields)


def _believed(state: State, reported: Sequence[ReportedFinding], rejected: Rejected) -> Iterable[Change]:
    """Yield the findings that their sources support, and which others were dropped."""
    knowledge = knowledge_of(state)
    grounds, found = Grounds("", knowledge.sources, rejected), list[Finding]()
    for one in reported[:_MAX_FINDINGS]:
        claim = without_citations(one.text)
        numbers = [number for name in one.sources if (number := source_number(name)) is not None]
        sources, reason = supporting(claim, numbers, grounds)
        if sources:
            found.append(_finding(claim, tuple(sources), one, state, knowledge))
        else:
            yield noted(DROPPED, Dropped(claim, reason))
    yield from add_findings(replace(knowledge), found)


def _finding(
    claim: str, sources: tuple[int, ...], reported: ReportedFinding, state: State, knowledge: Knowledge
) -> Finding:
    """Build a finding; one from a search for counter-evidence answers that sub-question, too."""
    ids = {name: part.id for part in state.sub_questions for name in (part.text, part.id)}
    against = {query.query for query in knowledge.plan_queries if query.intent == COUNTER_EVIDENCE}
    is_against = any(read.query in against for read in knowledge.sources_of(sources))
    named = [name for name in (*reported.answers, AGAINST) if name in ids and (name != AGAINST or is_against)]
    return Finding(
        text=claim,
        sources=sources,
        iteration=state.iteration + 1,
        answers=tuple(dict.fromkeys(ids[name] for name in named)),
    )


def _challenged(run: Run, ladder: Ladder, reply: ReflectionResponse, memory: Memory) -> ReflectionResponse:
    """Ask the second time, keep its perspectives, dialectic and paths, and add what comes of it."""
    tool = f"tool: {tool_for(run.state, knowledge_of(run.state))}"
    more = _ask(run, ladder, "challenge", memory, tool)
    fields = msgspec.to_builtins(more)
    thought = {name: fields[name] for name in _THOUGHTS if fields.get(name)}
    if thought:
        run.record(events.Noted, name=THOUGHT, data={"iteration": run.state.iteration + 1, **thought})
    return msgspec.structs.replace(
        reply,
        new_queries=(*reply.new_queries, *more.new_queries),
        hypotheses=(*reply.hypotheses, *more.hypotheses),
        uncertainties=(*reply.uncertainties, *more.uncertainties),
        missing=(*reply.missing, *more.missing),
    )


def _weighed(state: State, reply: ReflectionResponse) -> Iterable[Change]:
    statements = [one.statement for one in reply.hypotheses[:_MAX_HYPOTHESES] if one.id is None]
    evidence = ((without_citations(one.text), one.hypothesis_id, one.stance) for one in reply.findings)
    return weigh(knowledge_of(state), statements, evidence, iteration=state.iteration + 1)


def _look_ahead(run: Run, reply: ReflectionResponse, *, model: str) -> None:
    """Record what is missing and what comes next; a model's opinion counts only with findings."""
    is_exhaustive, upcoming = run.state.mode == "exhaust", run.state.iteration + 2
    queries = new_queries(reply.new_queries, iteration=upcoming)
    if is_exhaustive:
        queries = _widened(run.state, queries, upcoming)
    data = {
        "model": model,
        "gaps": list(reply.gaps),
        "uncertainties": [f"{one.text} (needs {one.needs})" for one in reply.uncertainties[:3]],
        "missing": list(reply.missing[:3]),
    }
    run.record(events.Noted, name=REFLECTED, data=data)
    run.record(events.Noted, name=PLANNED, data={"queries": msgspec.to_builtins(queries)})
    run.record(
        events.Reflected,
        sufficient=reply.sufficient and not is_exhaustive and _has_kept_findings(run.state),
        confidence=_confidence(run.state),
        next_actions=tuple(query.query for query in queries),
    )


def _has_kept_findings(state: State) -> bool:
    """Whether there are findings, and none was dropped as rejected: what is left may not suffice."""
    known = knowledge_of(state)
    return bool(known.findings) and all(claim.reason != REJECTED for claim in known.dropped)


def _confidence(state: State) -> float:
    """Return the mean confidence of the best finding of each part of the question, 0 for one without."""
    findings = knowledge_of(state).findings
    best = [
        max((one.confidence for one in findings if part.id in (one.answers or [part.id])), default=0.0)
        for part in state.sub_questions
        if part.text != AGAINST
    ]
    return round(sum(best) / len(best), 2) if best else 0.0


def _widened(state: State, queries: Sequence[PlanQuery], iteration: int) -> list[PlanQuery]:
    """Widen and narrow the queries of a model."""
    searched = [search.query for search in state.search_history]
    parts = [part.text for part in state.sub_questions if part.text != AGAINST]
    wider = diverge([query.query for query in queries] or parts, searched, iteration=iteration)
    return converge([*queries, *wider], searched)
