"""Reflection: what was found is checked, hypotheses get their evidence, and the next queries are chosen."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from coreloop.models.contracts import ReflectionResponse, ReportedFinding, ReportedHypothesis
from coreloop.models.ladder import Ladder
from coreloop.research.asking import AGAINST, ask, material_of, notes_of
from coreloop.research.contradictions import SourcedText, contradictions
from coreloop.research.findings import CONTRADICTED as TAG_CONTRADICTED
from coreloop.research.findings import Finding, merged, rated
from coreloop.research.hypotheses import Hypothesis, Stance, ranked, with_evidence
from coreloop.research.knowledge import (
    COMPACTED,
    CONTRADICTED,
    FOUND,
    PLANNED,
    REFLECTED,
    TESTED,
    Compaction,
    Knowledge,
    PlanQuery,
    knowledge_of,
)
from coreloop.research.memory import (
    MAX_VIEW_TOKENS,
    Memory,
    compacted,
    compaction_reason,
    remember,
)
from coreloop.research.plan import COUNTER_EVIDENCE, converge, diverge, is_stuck, new_queries
from coreloop.research.verify import check_findings, evidence_of
from coreloop.runs import events
from coreloop.runs.run import Run
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
_COMPARED: Final = 60
"""The newest findings, which are compared with each other."""
_CALL_TOKENS: Final = 10_000
"""Of a call beside what is in view: the prompt, the schema, the reply."""
_SURE_OVER: Final = 0.8
_OVERLOAD_SOURCES: Final = 30


@dataclass(frozen=True, slots=True)
class Reflection:
    """What an iteration's reflection found, for people.

    Attributes
    ----------
    found : tuple of Finding
        New, or with new sources.
    dropped : int
        Findings of the model that no source supports.
    """

    found: tuple[Finding, ...]
    dropped: int


def reflect(run: Run, ladder: Ladder, notes: Sequence[str] = ()) -> Reflection:
    """Ask what the new sources say, keep what they do say, and plan the next iteration.

    Parameters
    ----------
    run : Run
        After the searches of an iteration.
    ladder : Ladder
        Asked once; twice in a ``deep`` or exhaustive run.
    notes : sequence of str
        What the models should know beside findings and hypotheses.

    Raises
    ------
    ModelError
        No model gave a usable reply.
    BudgetError
        A call could pass a limit.
    """
    number = run.state.iteration + 1
    memory = view(run)
    material = material_of(run.state, memory, [*notes_of(knowledge_of(run.state), memory), *notes])
    said = ask(run, ladder, "reflect", material, ReflectionResponse, key=f"reflect-{number}")
    dropped = _add_findings(run, said.findings, number)
    _compare_findings(run)
    if is_thorough(run.state):
        said = _with_challenge(run, ladder, said, memory)
    _test_hypotheses(run, said, number)
    _look_ahead(run, said, number, model=ladder.name)
    found = tuple(one for one in knowledge_of(run.state).findings if one.iteration == number)
    return Reflection(found, dropped)


def is_thorough(state: State) -> bool:
    """Whether a run asks all layers of reflection."""
    return state.mode == "exhaust" or knowledge_of(state).tier == "deep"


def view(run: Run, *, is_answer: bool = False) -> Memory:
    """Return what is in view of the next prompt, compacted if it must be; says so in the run's events."""
    state, knowledge = run.state, knowledge_of(run.state)
    memory = remember(knowledge, iteration=state.iteration + 1)
    budget = state.limits.tokens
    kept = 0 if is_answer else state.limits.kept.tokens
    used = state.spent + state.reserved
    left = None if budget is None else max(0, budget - used.tokens - kept)
    reason = compaction_reason(memory, tokens_left=left, token_budget=budget)
    if not reason and not is_answer:
        return memory
    cited = [number for finding in knowledge.findings for number in finding.sources]
    room = MAX_VIEW_TOKENS if left is None else left - _CALL_TOKENS if is_answer else left // 3
    small = compacted(memory, keep=cited, max_tokens=min(room, MAX_VIEW_TOKENS))
    if reason or small.archived != memory.archived:
        said = Compaction(reason or "before the answer", state.iteration + 1, small.archived)
        run.record(events.Noted, name=COMPACTED, data=msgspec.to_builtins(said))
    return small


def tool_for(state: State, knowledge: Knowledge) -> str:
    """Return the tool of thought that fits the situation."""
    if is_stuck(state, knowledge):
        return TOOLS["stuck"]
    if knowledge.contradictions_found:
        return TOOLS["contradiction"]
    if state.confidence > _SURE_OVER:
        return TOOLS["sure"]
    if len(knowledge.sources) > _OVERLOAD_SOURCES:
        return TOOLS["overload"]
    return TOOLS["innovation"] if _INVENTS.search(state.question) else TOOLS["new"]


def _with_challenge(run: Run, ladder: Ladder, said: ReflectionResponse, memory: Memory) -> ReflectionResponse:
    """Ask the second time, and add what comes of it."""
    knowledge = knowledge_of(run.state)
    notes = [*notes_of(knowledge, memory), f"tool: {tool_for(run.state, knowledge)}"]
    key = f"challenge-{run.state.iteration + 1}"
    more = ask(run, ladder, "challenge", material_of(run.state, memory, notes), ReflectionResponse, key=key)
    return msgspec.structs.replace(
        said,
        new_queries=(*said.new_queries, *more.new_queries),
        hypotheses=(*said.hypotheses, *more.hypotheses),
        uncertainties=(*said.uncertainties, *more.uncertainties),
        missing=(*said.missing, *more.missing),
    )


def _add_findings(run: Run, reported: Iterable[ReportedFinding], number: int) -> int:
    """Record the findings that their sources support; returns how many others there were."""
    knowledge = knowledge_of(run.state)
    parts = [part for part in run.state.sub_questions if part.text != AGAINST]
    found, dropped = check_findings(reported, knowledge, parts, iteration=number)
    for finding in found:
        _add_finding(run, finding)
    return len(dropped)


def _add_finding(run: Run, finding: Finding) -> None:
    knowledge = knowledge_of(run.state)
    known = next((other for other in knowledge.findings if other.text == finding.text), None)
    if known is not None and set(finding.sources) <= set(known.sources):
        return
    whole = merged(known, finding) if known else finding
    is_contradicted = known is not None and known.tag == TAG_CONTRADICTED
    whole = rated(whole, evidence_of(whole, knowledge), is_contradicted=is_contradicted)
    run.record(events.Noted, name=FOUND, data=msgspec.to_builtins(whole))
    for source in finding.sources:
        read = knowledge.source(source)
        for part in _answered(run.state, whole, knowledge) or ("",):
            run.record(
                events.FindingRecorded,
                sub_question=part,
                text=whole.text,
                source=read.source.location if read else "",
            )


def _compare_findings(run: Run) -> None:
    """Look for contradictions among the findings, and mark those that have one."""
    knowledge = knowledge_of(run.state)
    recent = knowledge.findings[-_COMPARED:]
    found = contradictions([_sourced(finding, knowledge) for finding in recent])
    if len(found) == len(knowledge.contradictions_found):
        return
    run.record(events.Noted, name=CONTRADICTED, data=msgspec.to_builtins(found))
    texts = {said.text for pair in found for said in (pair.a, pair.b)}
    for finding in recent:
        if finding.text in texts:
            marked = rated(finding, evidence_of(finding, knowledge), is_contradicted=True)
            run.record(events.Noted, name=FOUND, data=msgspec.to_builtins(marked))


def _sourced(finding: Finding, knowledge: Knowledge) -> SourcedText:
    sources = (knowledge.source(number) for number in finding.sources)
    dates = [read.source.published for read in sources if read and read.source.published]
    return SourcedText(finding.text, finding.sources, max(dates, default=None))


def _answered(state: State, finding: Finding, knowledge: Knowledge) -> tuple[str, ...]:
    """The sub-questions that a finding answers; one from a search for counter-evidence answers that, too."""
    against = {query.query for query in knowledge.plan_queries if query.intent == COUNTER_EVIDENCE}
    sources = (knowledge.source(number) for number in finding.sources)
    is_against = any(read and read.query in against for read in sources)
    also = tuple(part.id for part in state.sub_questions if is_against and part.text == AGAINST)
    return finding.answers + also


def _test_hypotheses(run: Run, said: ReflectionResponse, number: int) -> None:
    hypotheses = [*knowledge_of(run.state).all_hypotheses]
    hypotheses += _new_hypotheses(said.hypotheses, hypotheses, number)
    kept = {finding.text for finding in knowledge_of(run.state).findings}
    for finding in said.findings:
        if finding.text in kept and finding.stance:
            hypotheses = [
                _tested(one, finding.text, finding.stance, number) if one.id == finding.hypothesis_id else one
                for one in hypotheses
            ]
    if hypotheses:
        data = msgspec.to_builtins(ranked(hypotheses, iteration=number))
        run.record(events.Noted, name=TESTED, data=data)


def _tested(hypothesis: Hypothesis, evidence: str, stance: Stance, number: int) -> Hypothesis:
    return with_evidence(hypothesis, evidence, stance, iteration=number)


def _new_hypotheses(
    reported: Iterable[ReportedHypothesis], known: Sequence[Hypothesis], number: int
) -> list[Hypothesis]:
    statements = {one.statement for one in known}
    new: dict[str, Hypothesis] = {}
    for one in reported:
        if one.id is None and one.statement not in statements and one.statement not in new:
            name = f"h{len(known) + len(new) + 1}"
            new[one.statement] = Hypothesis(
                id=name, statement=one.statement, last_updated_iteration=number, layer=one.layer[:40]
            )
    return list(new.values())


def _look_ahead(run: Run, said: ReflectionResponse, number: int, *, model: str) -> None:
    """Record what is missing and what comes next; a model's opinion counts only with findings."""
    is_exhaustive = run.state.mode == "exhaust"
    queries = new_queries(said.new_queries, iteration=number + 1)
    if is_exhaustive:
        queries = _converged(run.state, queries, number + 1)
    data = {
        "model": model,
        "gaps": list(said.gaps),
        "uncertainties": [f"{one.text} (needs {one.needs})" for one in said.uncertainties[:3]],
        "missing": list(said.missing[:3]),
    }
    run.record(events.Noted, name=REFLECTED, data=data)
    run.record(events.Noted, name=PLANNED, data={"queries": msgspec.to_builtins(queries)})
    run.record(
        events.Reflected,
        sufficient=said.sufficient and not is_exhaustive and bool(knowledge_of(run.state).findings),
        confidence=said.confidence,
        next_actions=tuple(query.query for query in queries),
    )


def _converged(state: State, queries: Sequence[PlanQuery], iteration: int) -> list[PlanQuery]:
    searched = [search.query for search in state.search_history]
    seeds = [query.query for query in queries] or [
        part.text for part in state.sub_questions if part.text != AGAINST
    ]
    return converge([*queries, *diverge(seeds, searched, iteration=iteration)], searched)
