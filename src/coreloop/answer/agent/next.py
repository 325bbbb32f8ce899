"""What an agent must know before its next iteration: limits, what is known, which thought is due."""

from typing import Any, Final

from coreloop.answer.agent.knowledge import ChosenQuery, agent_knowledge, left_to_do, trust_in
from coreloop.answer.research.hypotheses import Hypothesis
from coreloop.answer.research.knowledge import ReadSource, knowledge_of
from coreloop.answer.research.memory import SEMANTIC_FINDINGS
from coreloop.answer.research.reflect import SURE_OVER, TOOLS, tool_for
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.clock import Clock
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_SITUATION: Final = "Layer 1, situation: what is known, what is not, how sure each hypothesis is"
_LAYERS: Final = (
    (
        "Layer 2, three perspectives: directly; as three to five experts who would disagree (roles); "
        "as an outsider",
        ("direct", "roles", "outsider"),
    ),
    (
        "Layer 3, dialectic: thesis, antithesis, synthesis",
        ("thesis", "antithesis", "synthesis"),
    ),
    (
        "Layer 4, self-check: logic, quality of evidence, bias, alternatives, blind spots; zoom out, zoom in",
        ("self_check", "missing"),
    ),
    ("Layer 5, the tool that fits the situation", ("tool",)),
    (
        "Layer 6, three paths: the usual one (a), another (b), the opposite (c), and their cross-check",
        ("paths",),
    ),
)
"""Beside the situation, one layer an iteration: six in each would fill the context with repetition."""
_MAX_SOURCES: Final = 50


def next_for_agent(store: Store, state: State, *, clock: Clock | None = None) -> dict[str, Any]:
    """Build what an agent must know before its next iteration, as JSON."""
    facts = next_step(store, state, clock=clock)
    own = {"think": layer_due(state), "knowledge": _known(state), "chosen": _chosen(state)}
    return facts | own | {"to_complete": _to_complete(state)}


def layer_due(state: State) -> dict[str, Any]:
    """Return the layer of reflection of the next iteration, its fields, and the tool that fits."""
    layer, names = _LAYERS[state.iteration % len(_LAYERS)]
    knowledge = knowledge_of(state)
    is_sure = any(one.confidence > SURE_OVER for one in knowledge.focus)
    tool = TOOLS["sure"] if is_sure else tool_for(state, knowledge)
    return {"do": f"{_SITUATION}. {layer}.", "fields": ["situation", *names], "tool": tool}


def _to_complete(state: State) -> list[str]:
    """What keeps the run from being completed; nothing else ends it but a limit or a person."""
    is_open = [f"answer {part.id}" for part in state.sub_questions if not part.is_settled]
    return [*is_open, *left_to_do(state)]


def _known(state: State) -> dict[str, Any]:
    knowledge, own = knowledge_of(state), agent_knowledge(state)
    return {
        "findings": knowledge.findings[-SEMANTIC_FINDINGS:],
        "hypotheses": [_hypothesis(one) for one in knowledge.focus],
        "inactive_hypotheses": len(knowledge.all_hypotheses) - len(knowledge.focus),
        "contradictions": knowledge.contradictions_found,
        "sources": [_source(read) for read in knowledge.sources[-_MAX_SOURCES:]],
        "uncertainties": knowledge.uncertainties,
        "not_believed": [one for one in own.unbelieved if one.iteration == state.iteration],
    }


def _hypothesis(one: Hypothesis) -> dict[str, Any]:
    return {
        "id": one.id,
        "statement": one.statement,
        "confidence": one.confidence,
        "priority": one.priority_score,
        "for": len(one.supporting_evidence),
        "against": len(one.contradicting_evidence),
    }


def _source(read: ReadSource) -> dict[str, Any]:
    return {
        "number": read.number,
        "location": read.source.location,
        "title": read.source.title,
        "trust": trust_in(read),
    }


def _chosen(state: State) -> list[ChosenQuery]:
    """The queries that `plan` chose for the next iteration and that were not executed yet."""
    done = {search.query for search in state.search_history}
    return [
        one
        for one in agent_knowledge(state).candidates
        if one.iteration == state.iteration + 1 and one.query not in done
    ]
