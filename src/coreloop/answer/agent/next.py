"""What an agent must know before its next iteration: limits, what is known, which thought is due."""

from collections.abc import Mapping
from typing import Any, Final

from coreloop.answer.agent.knowledge import ChosenQuery, agent_knowledge, left_to_do, trust_in
from coreloop.answer.agent.words import AgentWords, agent_words
from coreloop.answer.research.hypotheses import Hypothesis
from coreloop.answer.research.knowledge import ReadSource, knowledge_of
from coreloop.answer.research.memory import SEMANTIC_FINDINGS
from coreloop.answer.research.reflect import SURE_OVER, TOOLS, tool_for
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.clock import Clock
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_LAYERS: Final = (
    ("direct", "roles", "outsider"),
    ("thesis", "antithesis", "synthesis"),
    ("self_check", "missing"),
    ("tool",),
    ("paths",),
)
"""Beside the situation, one layer an iteration: six in each would fill the context with repetition."""
_SHAPES: Final = {
    "roles": {"…": "…"},
    "paths": {"a": "…", "b": "…", "c": "…", "cross_check": "…"},
}
"""Of the fields of a reflection that are no text."""
_MAX_SOURCES: Final = 50


def next_for_agent(store: Store, state: State, *, clock: Clock | None = None) -> dict[str, Any]:
    """Build what an agent must know before its next iteration, as JSON."""
    facts = next_step(store, state, clock=clock)
    think = layer_due(state)
    own = {"think": think, "knowledge": _known(state), "chosen": _chosen(state)}
    reflection = {name: _SHAPES.get(name, "…") for name in think["fields"]}
    said = {
        "do": _do(state, facts),
        "drift": _drift(state, facts["drift"]),
        "report": facts["report"] | {"reflection": reflection},
    }
    return facts | own | said | {"to_complete": to_complete(state)}


def layer_due(state: State) -> dict[str, Any]:
    """Return the layer of reflection of the next iteration, its fields, and the tool that fits."""
    place, words = state.iteration % len(_LAYERS), agent_words(state.question)
    knowledge = knowledge_of(state)
    is_sure = any(one.confidence > SURE_OVER for one in knowledge.focus)
    tool = TOOLS["sure"] if is_sure else tool_for(state, knowledge)
    return {
        "do": f"{words.situation}. {words.layers[place]}.",
        "fields": ["situation", *_LAYERS[place]],
        "tool": words.tools.get(tool, tool),
    }


def to_complete(state: State) -> list[str]:
    """Return what keeps the run from being completed; nothing else ends it but a limit or a person."""
    answer = agent_words(state.question).answer
    is_open = [answer.format(part=part.id) for part in state.sub_questions if not part.is_settled]
    return [*is_open, *left_to_do(state)]


def _do(state: State, facts: Mapping[str, Any]) -> str:
    """What to do now, in the language of the question."""
    words = agent_words(state.question)
    if facts["goes_on"]:
        return words.do.format(work=_work(state, words), run_id=state.run_id)
    if state.status == "paused":
        return words.paused.format(run_id=state.run_id)
    if not state.is_terminal:  # its driver ends it
        return str(facts["do"])
    reason = f"{state.status}: {state.stop_reason}" if state.stop_reason else state.status
    return words.over.format(reason=reason, run_id=state.run_id)


def _work(state: State, words: AgentWords) -> str:
    part = next((part for part in state.sub_questions if part.is_open), None)
    if part is None:
        return words.work["refute" if state.sub_questions else "split"]
    return words.work["answer"].format(part=part.id, text=part.text)


def _drift(state: State, order: dict[str, Any] | None) -> dict[str, Any] | None:
    if order is None or not order["after"]:
        return order
    return order | {"order": agent_words(state.question).order.format(labels=", ".join(order["after"]))}


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
