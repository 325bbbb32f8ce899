"""What other processes say to a run: pause, go on, complete, stop."""

from collections.abc import Callable

from coreloop.base.errors import UsageError
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.events import Caller, Completed, Paused, Resumed, StopRequested
from coreloop.runs.load import change_run, require_going, require_resumable
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_Control = Paused | Resumed | StopRequested | Completed


def pause_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """Let a run stop after its iteration; a run that is paused already stays paused.

    Parameters
    ----------
    run_id : str
        Of a run in it.
    by : str
        Who says so, see `coreloop.runs.person_or_agent.require_person`.
    clock : Clock or None
        None for the machine's.

    Returns
    -------
    State
        The run's state afterwards.

    Raises
    ------
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    UsageError
        This process is of an agent, for example a service that it started.
    """
    return _tell(store, run_id, Paused, unless="paused", by=by, clock=clock)


def resume_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """Let a run go on that was paused or that failed; the next process that works on it does.

    As `pause_run` otherwise.
    """
    return _tell(store, run_id, Resumed, unless="running", by=by, clock=clock)


def complete_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """End a run as a person who calls its question answered. As `pause_run` otherwise."""
    return _tell(store, run_id, Completed, unless="completed", by=by, clock=clock)


def stop_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """End a run: a call under way is finished, no other is begun. As `pause_run` otherwise."""
    return _tell(store, run_id, StopRequested, unless="stopped_by_user", by=by, clock=clock)


def _tell(
    store: Store, run_id: str, event: Callable[..., _Control], *, unless: str, by: Caller, clock: Clock | None
) -> State:
    told = event(at=(clock or SystemClock()).now(), by=by)

    def said(state: State) -> list[_Control]:
        _refuse_agent(store, state)
        (require_resumable if event is Resumed else require_going)(state)
        return [] if state.status == unless else [told]

    return change_run(store, run_id, said)


def _refuse_agent(store: Store, state: State) -> None:
    """Refuse what a driver's command started, except about the runs that it created itself."""
    if store.parent and state.parent != store.parent:
        raise UsageError("an agent cannot pause, resume, complete or stop a run; use a terminal of your own")
