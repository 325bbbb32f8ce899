"""What an agent must know before its next iteration: limits, what is known, which thought is due."""

from typing import Any, Final

from coreloop.answer.agent.agent_state import disputed, left_to_do, notes_line, trust_in
from coreloop.answer.research.findings import Hypothesis
from coreloop.answer.research.memory import SEMANTIC_FINDINGS
from coreloop.answer.research.reflect import SURE_OVER, TOOLS, tool_for
from coreloop.answer.research.research_state import PlanQuery, knowledge_of
from coreloop.base.messages import in_language_of
from coreloop.base.validation import fields_of
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.clock import Clock
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_SITUATION: Final = "Layer 1, situation: what is known, what is not, how sure each hypothesis is"
_LAYERS: Final = (
    (
        ("direct", "roles", "outsider"),
        "Layer 2, three perspectives: directly; as three to five experts who would disagree (roles); "
        "as an outsider",
    ),
    (("thesis", "antithesis", "synthesis"), "Layer 3, dialectic: thesis, antithesis, synthesis"),
    (
        ("self_check", "missing"),
        "Layer 4, self-check: logic, quality of evidence, bias, alternatives, blind spots; zoom out, zoom in",
    ),
    (("tool",), "Layer 5, the tool that fits the situation"),
    (
        ("paths",),
        "Layer 6, three paths: the usual one (a), another (b), the opposite (c), and their cross-check",
    ),
)
"""Beside the situation, one layer an iteration: its fields, and what to do; six in each would repeat."""
_SHAPES: Final = {
    "roles": {"…": "…"},
    "paths": {"a": "…", "b": "…", "c": "…", "cross_check": "…"},
}
"""Of the fields of a reflection that are no text."""
_MAX_SOURCES: Final = 50


def next_for_agent(store: Store, state: State, *, clock: Clock | None = None) -> dict[str, Any]:
    """Build what an agent must know before its next iteration, as JSON."""
    facts, think = next_step(store, state, clock=clock), layer_due(state)
    reflection = {name: _SHAPES.get(name, "…") for name in think["fields"]}
    for part in facts["sub_questions"]:
        if part["id"] in disputed(state):
            part["state"] = "open: its findings contradict others"
    return {
        **facts,
        "think": think,
        "knowledge": _known(state),
        "chosen": _chosen(state),
        "report": facts["report"] | {"reflection": reflection},
        "to_complete": to_complete(state),
    }


def layer_due(state: State) -> dict[str, Any]:
    """Return the layer of reflection of the next iteration, its fields, and the tool that fits."""
    tell, knowledge = in_language_of(state.question), knowledge_of(state)
    fields, what = _LAYERS[state.iteration % len(_LAYERS)]
    is_sure = any(one.confidence > SURE_OVER for one in knowledge.focus)
    tool = TOOLS["sure"] if is_sure else tool_for(state, knowledge)
    return {
        "do": f"{tell(_SITUATION)}. {tell(what)}.",
        "fields": ["situation", *fields],
        "tool": tell(tool),
    }


def to_complete(state: State) -> list[str]:
    """Return what keeps the run from being completed; nothing else ends it but a limit or a person."""
    tell = in_language_of(state.question)
    is_open = [tell("answer {part}", part=part.id) for part in state.counted if not part.is_settled]
    return [*is_open, *left_to_do(state), *filter(None, [notes_line(state)])]


def _known(state: State) -> dict[str, Any]:
    known = knowledge_of(state)
    return {
        "findings": known.findings[-SEMANTIC_FINDINGS:],
        "hypotheses": [_hypothesis(one) for one in known.focus],
        "inactive_hypotheses": len(known.all_hypotheses) - len(known.focus),
        "contradictions": known.contradictions_found,
        "sources": [
            {"number": read.number, **fields_of(read.source, "location", "title"), "trust": trust_in(read)}
            for read in known.sources[-_MAX_SOURCES:]
        ],
        "uncertainties": known.uncertainties,
        "not_believed": [
            {"text": one.sentence, "sources": one.sources, "reason": one.reason}
            for one in known.dropped
            if one.iteration == state.iteration
        ],
    }


def _hypothesis(one: Hypothesis) -> dict[str, Any]:
    return {
        **fields_of(one, "id", "statement", "confidence"),
        "priority": one.priority_score,
        "for": len(one.supporting_evidence),
        "against": len(one.contradicting_evidence),
    }


def _chosen(state: State) -> list[PlanQuery]:
    """The queries that `plan` chose for the next iteration and that were not executed yet."""
    done, number = {search.query for search in state.search_history}, state.iteration + 1
    queries = [query for query in knowledge_of(state).plan_queries if query.iteration == number]
    return [query for query in queries if query.query not in done]
