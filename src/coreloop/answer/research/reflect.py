"""Reflection: models say what the sources say and what is missing, and the next queries are chosen."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from coreloop.answer.models.contracts import ReflectionResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.apply_reflection import add_findings, weigh_hypotheses
from coreloop.answer.research.asking import AGAINST, ask_or_do_without, material_of, notes_of
from coreloop.answer.research.memory import (
    MAX_VIEW_TOKENS,
    Memory,
    compacted,
    compaction_reason,
    remember,
)
from coreloop.answer.research.next_queries import converge, diverge, is_stuck, new_queries, own_words
from coreloop.answer.research.research_state import (
    COMPACTED,
    PLANNED,
    REFLECTED,
    THOUGHT,
    Compaction,
    Knowledge,
    PlanQuery,
    Unsaid,
    knowledge_of,
)
from coreloop.answer.research.verify import REJECTED
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
_COMPARED: Final = 60
"""The newest findings, which are compared with each other."""
_CALL_TOKENS: Final = 10_000
"""Of a call beside what is in view: the prompt, the schema, the reply."""
SURE_OVER: Final = 0.8  # as the specification has it: above it a belief counts as sure
_OVERLOAD_SOURCES: Final = 30  # chosen: as many as the specification keeps findings


def reflect(run: Run, ladder: Ladder, rejected: Rejected, notes: Sequence[str] = ()) -> None:
    """Ask what the new sources say, keep what they do say, and plan the next iteration.

    Parameters
    ----------
    run : Run
        After the searches of an iteration.
    ladder : Ladder
        Asked once; twice in a ``deep`` or exhaustive run.
    rejected : Rejected
        What is no finding.
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
    key = f"reflect-{number}"
    reply = ask_or_do_without(
        run, ladder, "reflect", material, ReflectionResponse, key=key, what="reflection"
    )
    add_findings(run, reply.findings, rejected)
    if is_thorough(run.state):
        reply = _with_challenge(run, ladder, reply, memory)
    weigh_hypotheses(run, reply)
    _look_ahead(run, reply, number + 1, model=ladder.name)


def is_thorough(state: State) -> bool:
    """Whether a run asks all layers of reflection."""
    return state.mode == "exhaust" or knowledge_of(state).tier == "deep"


def view(run: Run, *, is_answer: bool = False) -> Memory:
    """Return what is in view of the next prompt, compacted if it must be; the run's events say so."""
    state, knowledge = run.state, knowledge_of(run.state)
    memory = remember(knowledge, iteration=state.iteration + 1)
    left = _tokens_left(state, is_answer=is_answer)
    reason = compaction_reason(memory, tokens_left=left, token_budget=state.limits.tokens)
    if not reason and not is_answer:
        return memory
    cited = [number for finding in knowledge.findings for number in finding.sources]
    small = compacted(memory, keep=cited, max_tokens=_room(left, is_answer=is_answer))
    if small.archived != memory.archived:
        compaction = Compaction(reason or "before the answer", state.iteration + 1, small.archived)
        run.record(events.Noted, name=COMPACTED, data=msgspec.to_builtins(compaction))
    return small


def _tokens_left(state: State, *, is_answer: bool) -> int | None:
    if state.limits.tokens is None:
        return None
    kept = 0 if is_answer else state.limits.kept.tokens
    return max(0, state.limits.tokens - (state.spent + state.reserved).tokens - kept)


def _room(left: int | None, *, is_answer: bool) -> int:
    """Return the tokens for what is in view: all but the rest of the call, or a third if more calls come."""
    if left is None:
        return MAX_VIEW_TOKENS
    return min(MAX_VIEW_TOKENS, left - _CALL_TOKENS if is_answer else left // 3)


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


def _with_challenge(
    run: Run, ladder: Ladder, reply: ReflectionResponse, memory: Memory
) -> ReflectionResponse:
    """Ask the second time, and add what comes of it."""
    knowledge = knowledge_of(run.state)
    notes = [*notes_of(knowledge, memory), f"tool: {tool_for(run.state, knowledge)}"]
    key = f"challenge-{run.state.iteration + 1}"
    material = material_of(run.state, memory, notes)
    more = ask_or_do_without(
        run, ladder, "challenge", material, ReflectionResponse, key=key, what="second reflection"
    )
    _think(run, more)
    return msgspec.structs.replace(
        reply,
        new_queries=(*reply.new_queries, *more.new_queries),
        hypotheses=(*reply.hypotheses, *more.hypotheses),
        uncertainties=(*reply.uncertainties, *more.uncertainties),
        missing=(*reply.missing, *more.missing),
    )


def _think(run: Run, reply: ReflectionResponse) -> None:
    """Keep the perspectives, the dialectic and the paths of a second reflection."""
    names = ("direct", "roles", "outsider", "thesis", "antithesis", "synthesis", "paths")
    fields = msgspec.to_builtins(reply)
    thought = {name: fields[name] for name in names if fields.get(name)}
    if thought:
        data = {"iteration": run.state.iteration + 1, **thought}
        run.record(events.Noted, name=THOUGHT, data=data)


def _look_ahead(run: Run, reply: ReflectionResponse, upcoming: int, *, model: str) -> None:
    """Record what is missing and what comes next; a model's opinion counts only with findings."""
    is_exhaustive = run.state.mode == "exhaust"
    queries = new_queries(reply.new_queries, iteration=upcoming)
    is_offline = model == OFFLINE
    if is_exhaustive:
        queries = _converged(run.state, queries, upcoming, is_offline=is_offline)
    if is_exhaustive and is_offline and not queries:  # another iteration would ask nothing
        limits = msgspec.structs.replace(run.state.limits, max_iterations=upcoming - 1)
        run.record(events.Narrowed, limits=limits)
    data = {
        "model": model,
        "gaps": list(reply.gaps),
        "uncertainties": [
            f"{uncertainty.text} (needs {uncertainty.needs})" for uncertainty in reply.uncertainties[:3]
        ],
        "missing": list(reply.missing[:3]),
        "unsaid": [] if is_offline else msgspec.to_builtins(_unsaid(run.state, reply)),
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
        max(
            (finding.confidence for finding in findings if part.id in (finding.answers or [part.id])),
            default=0.0,
        )
        for part in state.sub_questions
        if part.text != AGAINST
    ]
    return round(sum(best) / len(best), 2) if best else 0.0


def _unsaid(state: State, reply: ReflectionResponse) -> list[Unsaid]:
    """Return what the prompts of a thorough reflection ask for and the reply does not have."""
    if not (is_thorough(state) and knowledge_of(state).sources):
        return []
    asked = {"findings": reply.findings, "uncertainties": reply.uncertainties}
    return [Unsaid(what, state.iteration + 1) for what, reported in asked.items() if not reported]


def _converged(
    state: State, queries: Sequence[PlanQuery], iteration: int, *, is_offline: bool
) -> list[PlanQuery]:
    """Widen and narrow; offline, with the question's own words, since nobody there reads what others find."""
    searched = [search.query for search in state.search_history]
    parts = [part.text for part in state.sub_questions if part.text != AGAINST]
    if is_offline:
        texts = dict.fromkeys(text for part in parts for text in own_words(part))
        wider = [PlanQuery(text, "own words", "divergence", iteration) for text in texts]
    else:
        wider = diverge([query.query for query in queries] or parts, searched, iteration=iteration)
    return converge([*queries, *wider], searched)
