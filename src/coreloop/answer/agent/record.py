"""The use case: an agent's report of an iteration, checked and committed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from coreloop.answer.agent.agent_state import Unbelieved, agent_knowledge
from coreloop.answer.agent.believed_findings import believe
from coreloop.answer.agent.read import stored_sources
from coreloop.runs.agent.agent_report import AgentReport
from coreloop.runs.agent.agent_runs import record_report
from coreloop.runs.agent.next_step import situation
from coreloop.runs.clock import Clock
from coreloop.runs.drift import check_drift
from coreloop.runs.events import Reported
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
    store: Store, run_id: str, report: AgentReport, *, clock: Clock | None = None
) -> RecordedIteration:
    """Check the findings of a report and commit it, all of it or none.

    Raises
    ------
    UsageError
        A field does not fit the run, it has no search, or follows a strategy that the run must leave.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """

    def checked(state: State, report: AgentReport, ids: Mapping[str, str], at: datetime) -> list[Reported]:
        return list(believe(state, report, ids, at, sources=stored_sources(store, state)))

    state = record_report(store, run_id, report, believe=checked, clock=clock)
    number = state.iteration if state.drives_itself else state.iteration + 1
    unbelieved = tuple(one for one in agent_knowledge(state).unbelieved if one.iteration == number)
    return RecordedIteration(
        state=state, iteration=number, unbelieved=unbelieved, failures=_failures(store, state, report)
    )


def _failures(store: Store, state: State, report: AgentReport) -> tuple[PastFailure, ...]:
    """What failed in situations like this one, if the run is stuck by drift's count or by its own word."""
    turn = check_drift(state)
    if not ((turn and turn.asks_reflexion) or report.reflection.is_stuck):
        return ()
    return read_reflexion(store.reflexion(state.kind)).similar(situation(state)).failures
