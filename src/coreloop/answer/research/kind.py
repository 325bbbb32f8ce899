"""The kinds of runs that answer questions, and the files of a research; importing this registers them."""

from collections.abc import Iterator, Mapping
from typing import Any

from coreloop.answer.research.memory import SEMANTIC_FINDINGS, WORKING_ITERATIONS, remember
from coreloop.answer.research.research_state import ASK, KIND, Knowledge, fold, knowledge_of
from coreloop.base.text import escape_markdown
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
    """Return ``working_memory.json``, what is in view, and ``findings.md``."""
    knowledge = knowledge_of(state)
    return {
        "working_memory.json": as_json(_working_memory(state, knowledge)),
        "findings.md": "\n".join((*_findings(state, knowledge), "")).encode("utf-8", "replace"),
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


def _findings(state: State, knowledge: Knowledge) -> Iterator[str]:
    newest = knowledge.findings[-SEMANTIC_FINDINGS:]
    yield f"# {escape_markdown(state.question)}"
    for part, text in [*((part.id, part.text) for part in state.sub_questions), ("", "Others")]:
        yield f"\n## {part} {escape_markdown(text)}\n"
        for finding in newest:
            if part in (finding.answers or ("",)):
                sources = knowledge.sources_of(finding.sources)
                named = ", ".join(f"[{read.number}] {read.source.location}" for read in sources)
                yield f"- {finding.tag} {escape_markdown(finding.text)} ({escape_markdown(named)})"


register_kind(Kind(name=KIND, initial=Knowledge, fold=fold, committed=committed, views=views))
register_kind(Kind(name=ASK, searches=False, initial=Knowledge, fold=fold))
