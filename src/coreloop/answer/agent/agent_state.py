"""A run that a coding agent drives: how it is opened, what it knows, and what its plan still lacks."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from coreloop.answer.research.answer import committed, views
from coreloop.answer.research.research_state import PLANNED, READ, Knowledge, ReadSource
from coreloop.answer.research.research_state import fold as fold_research
from coreloop.base.errors import GitError, UsageError
from coreloop.base.git.repository import Repository
from coreloop.base.messages import in_language_of
from coreloop.runs.driver.driven_run import DRIVEN, DrivenState
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import AGENT, State

BEGAN: Final = "began"  # name of the event beside those of a research
# Of a source's text that stays in the state; the whole text is in the run's events.
_EXCERPT_CHARS: Final = 300
# Sub-questions of a plan whose coverage completes a run; with one, an agent could ask what it knows.
LEAST_PARTS: Final = 3
# Providers of sources that coreloop read itself; any other text came from the agent.
_TRUST: Final = {"page": "fetched", "file": "local"}


@dataclass(slots=True)
class AgentKnowledge(Knowledge):
    """What such a run knows.

    Attributes
    ----------
    head : str
        The commit that was checked out when the run began, "" without one.
    planned : list of str
        Texts of the sub-questions that came from ``runs plan``.
    """

    head: str = ""
    planned: list[str] = field(default_factory=list)


def agent_knowledge(state: State) -> AgentKnowledge:
    """Return what the run of an agent knows; as `knowledge_of`.

    Raises
    ------
    UsageError
        No agent drives the run.
    """
    if not isinstance(state.of_kind, AgentKnowledge):
        raise UsageError(f"run {state.run_id} is no agent's: {state.kind}; open one with runs open")
    return replace(state.of_kind)


def fold(known: AgentKnowledge, name: str, data: Any) -> None:
    """Add an event to what is known; the texts of sources stay in the events alone."""
    if name == BEGAN:
        known.head = data["head"]
        return
    if name == READ:
        source = data["source"]
        data = {**data, "source": {**source, "text": source["text"][:_EXCERPT_CHARS]}}
    fold_research(known, name, data)
    if name == PLANNED:
        known.planned += [text for text in data["sub_questions"] if text not in known.planned]


def is_complete(state: State) -> bool:
    """Whether what was planned was done, once all sub-questions are settled. A person may waive all of it."""
    return all(part.is_waived for part in state.counted) or not any(left_to_do(state))


def left_to_do(state: State) -> Iterator[str]:
    """Yield what of the plan is still to be done before answers complete the run, a line each.

    A plan has at least `LEAST_PARTS` sub-questions that count, none of them is disputed, and a query of each
    of its intents was executed. Nothing completes an exhaustive run.
    """
    known, tell = agent_knowledge(state), in_language_of(state.question)
    executed = {search.query for search in state.search_history}
    planned = {query.intent for query in known.plan_queries}
    done = {query.intent for query in known.plan_queries if query.query in executed}
    if sum(part.text in known.planned for part in state.counted) < LEAST_PARTS:
        yield tell("plan at least {number} sub-questions", number=LEAST_PARTS)
    for intent in sorted(planned - done):
        yield tell("execute a chosen query with the intent {intent}", intent=intent)
    for part in sorted(disputed(state)):
        yield tell("settle the contradiction about {part}", part=part)
    if state.mode == "exhaust":
        yield tell("go on: only a person or a limit ends this run")


def disputed(state: State) -> set[str]:
    """Return the sub-questions whose findings contradict others."""
    known = agent_knowledge(state)
    texts = {text for pair in known.contradictions_found for text in pair.texts}
    parts = {part for finding in known.findings if finding.text in texts for part in finding.answers}
    return parts & {part.id for part in state.counted if not part.is_waived}


def notes_line(state: State) -> str:
    """Say which sub-questions are notes, and how they come to count; "" without one."""
    notes = " ".join(part.id for part in state.sub_questions if part.is_note)
    return notes and in_language_of(state.question)(
        "notes, which do not count: {notes}. Ask one thing each in the question's own words, or let the user "
        "confirm them in a terminal: dartlab-coreloop runs confirm {notes} --run {run_id}",
        notes=notes,
        run_id=state.run_id,
    )


def to_complete(state: State) -> list[str]:
    """Return what keeps the run from being completed; nothing else ends it but a limit or a person."""
    tell = in_language_of(state.question)
    is_open = [tell("answer {part}", part=part.id) for part in state.counted if not part.is_settled]
    return [*is_open, *left_to_do(state), *filter(None, [notes_line(state)])]


def trust_in(read: ReadSource) -> str:
    """Return where the text of a source comes from: fetched, local, or given by the agent."""
    return _TRUST.get(read.source.provider, "given")


def opening_events(root: Path) -> list[tuple[str, Any]]:
    """Return what a new run keeps of its project: the commit whose files are older than the run."""
    with suppress(GitError):
        return [(BEGAN, {"head": Repository(root).resolve("HEAD") or ""})]
    return [(BEGAN, {"head": ""})]


@dataclass
class _Driven(AgentKnowledge, DrivenState):
    """What is known in a run whose agent the driver starts."""


def _fold(part: _Driven, name: str, data: Any) -> None:
    DRIVEN.fold(part, name, data)
    fold(part, name, data)


_KIND: Final = partial(Kind, committed=committed, views=views)
register_kind(_KIND(name=AGENT, initial=AgentKnowledge, fold=fold, is_complete=is_complete))
register_kind(
    _KIND(
        name=DRIVEN.name,
        searches=DRIVEN.searches,
        initial=_Driven,
        fold=_fold,
        is_complete=lambda state: DRIVEN.is_complete(state) and is_complete(state),
    )
)
