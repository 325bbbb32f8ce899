"""The kinds of runs that answer questions, and the files of a research; importing this registers them."""

from collections.abc import Mapping
from typing import Any

from coreloop.answer.research.answer import markdown_report
from coreloop.answer.research.memory import WORKING_ITERATIONS, remember
from coreloop.answer.research.research_state import ASK, KIND, Knowledge, fold, knowledge_of
from coreloop.runs.folder import as_json
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import State


def committed(state: State) -> None:
    """Keep the active hypotheses and the next actions of the iteration that was just committed."""
    known = state.of_kind
    assert isinstance(known, Knowledge), state.kind
    aim = {
        "iteration": state.iteration,
        "active_hypotheses": known.active_hypotheses,
        "next_actions": state.next_actions,
    }
    known.aims = [*known.aims, aim][-WORKING_ITERATIONS:]


def views(state: State) -> Mapping[str, bytes]:
    """Return ``working_memory.json``, what is in view, and ``findings.md``, the report so far."""
    return {
        "working_memory.json": as_json(_working_memory(state, knowledge_of(state))),
        "findings.md": markdown_report(state).encode("utf-8", "replace"),
    }


def _working_memory(state: State, knowledge: Knowledge) -> dict[str, Any]:
    memory = remember(knowledge, iteration=state.iteration)
    return {
        "iteration": state.iteration,
        "iterations": [_iteration(state, knowledge, aim) for aim in knowledge.aims],
        "working": [
            {"number": read.number, "location": read.source.location, "iteration": read.iteration}
            for read in memory.working
        ],
        "semantic": memory.semantic,
        "archived": memory.archived,
        "compactions": knowledge.compactions,
    }


def _iteration(state: State, knowledge: Knowledge, aim: Mapping[str, Any]) -> dict[str, Any]:
    """An iteration's aims, findings and executed queries."""
    number = aim["iteration"]
    found = [finding for finding in knowledge.findings if finding.iteration == number]
    queries = [one.query for one in state.search_history if one.iteration == number]
    return {**aim, "findings": found, "queries_executed": queries}


register_kind(Kind(name=KIND, initial=Knowledge, fold=fold, committed=committed, views=views))
register_kind(Kind(name=ASK, searches=False, initial=Knowledge, fold=fold))
