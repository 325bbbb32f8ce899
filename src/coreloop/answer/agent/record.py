"""The use case: an agent's report of an iteration, checked and committed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from coreloop.answer.agent.agent_state import UNBELIEVED, Unbelieved, agent_knowledge
from coreloop.answer.agent.believed_findings import believe, source_number
from coreloop.answer.agent.read import stored_sources
from coreloop.answer.repair.tables import NOTHING, Rejected
from coreloop.answer.research.best_passages import is_rejected
from coreloop.answer.research.research_state import DROPPED, Dropped, ReadSource
from coreloop.answer.research.verify import REJECTED
from coreloop.runs.agent.agent_report import AgentReport, Learnt
from coreloop.runs.agent.agent_runs import record_report
from coreloop.runs.agent.next_step import situation
from coreloop.runs.clock import Clock
from coreloop.runs.drift import check_drift
from coreloop.runs.events import Noted, Reported
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.reflexion import PastFailure
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedIteration:
    """What comes of a report.

    Attributes
    ----------
    state : State
        After it.
    iteration : int
        Its number.
    unbelieved : tuple of Unbelieved
        What is not believed, and why.
    failures : tuple of PastFailure
        If the run is stuck: what failed in similar situations, and what solved it.
    """

    state: State
    iteration: int
    unbelieved: tuple[Unbelieved, ...]
    failures: tuple[PastFailure, ...]


def record_iteration(
    store: Store,
    run_id: str,
    report: AgentReport,
    *,
    rejections: Callable[..., Rejected] = lambda *_: NOTHING,
    clock: Clock | None = None,
) -> RecordedIteration:
    """Check the findings of a report and commit it, all of it or none.

    Parameters
    ----------
    store, run_id, report
        As for `coreloop.runs.agent.agent_runs.record_report`.
    rejections : callable
        Returns what persons rejected as answers to questions: those of the run are believed of no report.
    clock : Clock or None
        None for the machine's.

    Raises
    ------
    UsageError
        A field does not fit the run, it has no search, or follows a strategy that the run must leave.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """

    def checked(state: State, report: AgentReport, ids: Mapping[str, str], at: datetime) -> list[Reported]:
        agent_knowledge(state)  # of another run nothing is recorded
        sources = stored_sources(store, state)
        events = list(believe(state, report, ids, at, sources=sources))
        rejected = rejections(state.question, *(text for text, part in ids.items() if text != part))
        if not rejected:
            return events
        places = [_kept_places(learnt, sources, rejected) for learnt in report.findings]
        pairs = list(zip(report.findings, places, strict=True))
        kept = (msgspec.structs.replace(one, sources=left) for one, left in pairs if left or not one.places)
        report = msgspec.structs.replace(report, findings=tuple(kept))
        refused = [one for one, left in pairs if one.places and not left]
        return [
            *believe(state, report, ids, at, sources=sources),
            *(event for one in refused for event in _refused(one, state.iteration + 1, at)),
        ]

    state = record_report(store, run_id, report, believe=checked, clock=clock)
    number = state.iteration if state.drives_itself else state.iteration + 1
    unbelieved = tuple(one for one in agent_knowledge(state).unbelieved if one.iteration == number)
    return RecordedIteration(
        state=state, iteration=number, unbelieved=unbelieved, failures=_failures(store, state, report)
    )


def _kept_places(learnt: Learnt, sources: Sequence[ReadSource], rejected: Rejected) -> tuple[str, ...]:
    """Return the sources of a finding that no person rejected as an answer."""
    texts = [text for text in (learnt.quote, learnt.text) if text]
    wrong = {
        read.number for read in sources if any(is_rejected(text, read.source, rejected) for text in texts)
    }
    return tuple(place for place in learnt.places if source_number(place) not in wrong)


def _refused(learnt: Learnt, iteration: int, at: datetime) -> Iterator[Reported]:
    doubt = Unbelieved(text=learnt.text, sources=learnt.places, reason=REJECTED, iteration=iteration)
    yield Noted(at=at, name=UNBELIEVED, data=msgspec.to_builtins(doubt))
    yield Noted(at=at, name=DROPPED, data=msgspec.to_builtins(Dropped(learnt.text, REJECTED)))


def _failures(store: Store, state: State, report: AgentReport) -> tuple[PastFailure, ...]:
    """What failed in situations like this one, if the run is stuck by drift's count or by its own word."""
    turn = check_drift(state)
    if not ((turn and turn.asks_reflexion) or report.reflection.is_stuck):
        return ()
    return read_reflexion(store.reflexion(state.kind)).similar(situation(state)).failures
