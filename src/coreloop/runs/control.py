"""What other processes say to a run: pause, go on, stop."""

from collections.abc import Callable
from datetime import datetime

from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.events import Paused, Resumed, StopRequested
from coreloop.runs.load import load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_Control = Paused | Resumed | StopRequested


def pause_run(store: Store, run_id: str, *, clock: Clock | None = None) -> State:
    """Let a run stop after its iteration; a run that is paused already stays paused.

    Returns
    -------
    State
        The run's state afterwards.

    Raises
    ------
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    return _tell(store, run_id, Paused, unless="paused", clock=clock)


def resume_run(store: Store, run_id: str, *, clock: Clock | None = None) -> State:
    """Let a paused run go on; the next process that works on it does. As `pause_run` otherwise."""
    return _tell(store, run_id, Resumed, unless="running", clock=clock)


def stop_run(store: Store, run_id: str, *, clock: Clock | None = None) -> State:
    """End a run: a call under way is finished, no other is begun. As `pause_run` otherwise."""
    return _tell(store, run_id, StopRequested, unless="stopped_by_user", clock=clock)


def _tell(
    store: Store, run_id: str, event: Callable[..., _Control], *, unless: str, clock: Clock | None
) -> State:
    now: datetime = (clock or SystemClock()).now()
    folding, newest = load_run(store, run_id)
    told = event(at=now)
    is_told = False
    while not is_told:
        require_going(folding.state)
        if folding.state.status == unless:
            break
        between = store.append(run_id, [told], after=newest)
        is_told = not between
        events = between or [(newest + 1, told)]
        for newest, happened in events:  # noqa: B007
            folding.add(happened)
    return folding.state
