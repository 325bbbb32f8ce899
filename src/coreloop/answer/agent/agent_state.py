"""What is known in a run that a coding agent drives: what a research knows, its plan, and what it thought."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import msgspec

from coreloop.answer.research.findings import Finding, Provenance
from coreloop.answer.research.research_state import Knowledge, ReadSource
from coreloop.answer.research.research_state import fold as fold_research
from coreloop.base.errors import UsageError
from coreloop.base.messages import in_language_of
from coreloop.runs.events import Noted, Recorded
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

BEGAN, CANDIDATES, TEXT, UNBELIEVED = ("began", "candidates", "text", "unbelieved")
"""Names of the events beside those of a research."""
LEAST_PARTS: Final = 3
"""Sub-questions of a plan whose coverage completes a run; with one, an agent could ask what it knows."""
Intent = Literal["web", "academic", "technical", "counter-evidence"]
Trust = Literal["fetched", "local", "given"]
_TRUST: Final[dict[str, Trust]] = {"page": "fetched", "file": "local"}
"""Providers of sources that coreloop read itself; any other text came from the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenQuery:
    """A query that was chosen for execution.

    Attributes
    ----------
    query, intent : str
        What to search for, and what for.
    strategy : tuple of str
        Labels beside the intent.
    part : str
        The id of the sub-question that it is for, or "".
    against : str
        The id of the hypothesis that it could refute, or "".
    iteration : int
        In which it is to be executed.
    """

    query: str
    intent: Intent
    strategy: tuple[str, ...] = ()
    part: str = ""
    against: str = ""
    iteration: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbelieved:
    """What was reported and is not believed, with the sources that it named, and why."""

    text: str
    sources: tuple[str, ...]
    reason: str
    iteration: int


@dataclass(slots=True)
class AgentKnowledge(Knowledge):
    """What such a run knows.

    Attributes
    ----------
    head : str
        The commit that was checked out when the run began, "" without one.
    planned : list of str
        Texts of the sub-questions that came from ``runs plan``.
    candidates : list of ChosenQuery
        All that were chosen.
    unbelieved : list of Unbelieved
        Of all iterations.
    """

    head: str = ""
    planned: list[str] = field(default_factory=list)
    candidates: list[ChosenQuery] = field(default_factory=list)
    unbelieved: list[Unbelieved] = field(default_factory=list)


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
    elif name == CANDIDATES:
        known.planned += [text for text in data["sub_questions"] if text not in known.planned]
        known.candidates += msgspec.convert(data["candidates"], list[ChosenQuery])
    elif name == UNBELIEVED:
        known.unbelieved.append(msgspec.convert(data, Unbelieved))
    else:
        fold_research(known, name, data)


def is_complete(state: State) -> bool:
    """Whether what was planned was done, once all sub-questions are settled.

    A plan has at least `LEAST_PARTS` sub-questions that count, none of them is disputed, and a query of each
    of its intents was executed. Nothing completes an exhaustive run. A person may waive all of it.
    """
    return all(part.is_waived for part in state.counted) or not left_to_do(state)


def left_to_do(state: State) -> list[str]:
    """Return what of the plan is still to be done before answers complete the run, a line each."""
    known, tell = agent_knowledge(state), in_language_of(state.question)
    executed = {search.query for search in state.search_history}
    done = [candidate for candidate in known.candidates if candidate.query in executed]
    lines = []
    if sum(part.text in known.planned for part in state.counted) < LEAST_PARTS:
        lines.append(tell("plan at least {number} sub-questions", number=LEAST_PARTS))
    for intent in sorted(missing_intents(known.candidates, done)):
        lines.append(tell("execute a chosen query with the intent {intent}", intent=intent))
    for part in sorted(disputed(state)):
        lines.append(tell("settle the contradiction about {part}", part=part))
    if state.mode == "exhaust":
        lines.append(tell("go on: only a person or a limit ends this run"))
    return lines


def disputed(state: State) -> set[str]:
    """Return the sub-questions whose findings contradict others, unless a source says which one is over."""
    known = agent_knowledge(state)
    pairs = [pair for pair in known.contradictions_found if not pair.is_superseded]
    texts = {side.text for pair in pairs for side in (pair.a, pair.b)}
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


def missing_intents(planned: Sequence[ChosenQuery], done: Sequence[ChosenQuery]) -> set[Intent]:
    """Return the intents that were planned, of which no query was executed."""
    return {candidate.intent for candidate in planned} - {candidate.intent for candidate in done}


def trust_in(read: ReadSource) -> Trust:
    """Return where the text of a source comes from: fetched, local, or given by the agent."""
    return _TRUST.get(read.source.provider, "given")


def checked_evidence(finding: Finding, knowledge: Knowledge) -> list[Provenance]:
    """Return what the sources that coreloop read itself bring to a finding."""
    sources = (knowledge.source(number) for number in finding.sources)
    return [
        Provenance(number=read.number, origin=read.origin, type=read.source.type)
        for read in sources
        if read and trust_in(read) != "given"
    ]


def stored_texts(store: Store, run_id: str) -> dict[int, str]:
    """Return the whole texts of a run's sources by their numbers."""
    events = (event for _, event in store.read(run_id) if isinstance(event, Recorded))
    notes = (part for event in events for part in event.events)
    texts = (note.data for note in notes if isinstance(note, Noted) and note.name == TEXT)
    return {int(data["number"]): str(data["text"]) for data in texts}
