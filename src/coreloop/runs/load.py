"""The state of a run from its store."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from coreloop.base.errors import RunEndedError, RunError, RunNotFoundError
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import Event, IterationCommitted
from coreloop.runs.fold import Folding
from coreloop.runs.state import RESUMABLE, State
from coreloop.runs.stores.store import Store


def load_run(store: Store, run_id: str) -> tuple[Folding, int]:
    """Fold a run's events; returns the folding, and the newest event's number.

    Raises
    ------
    RunNotFoundError
        The store has no such run.
    RunError
        An event is damaged or of a newer version.
    """
    folding, newest = Folding(), 0
    for newest, event in store.read(run_id):  # noqa: B007
        try:
            folding.add(event)
        except RunError as error:
            raise RunError(f"{run_id}: {error}") from error
    return folding, newest


def change_run(store: Store, run_id: str, make: Callable[[State], Sequence[Event]]) -> State:
    """Append the events that a function makes of a run's state; returns the state afterwards.

    The function is asked again if another process appended meanwhile. No events leave the run as it is.

    Raises
    ------
    RunNotFoundError
        The store has no such run.
    """
    while True:
        folding, newest = load_run(store, run_id)
        events = make(folding.state)
        if events and store.append(run_id, events, after=newest):
            continue
        for event in events:
            folding.add(event)
        return folding.state


def parents_of(store: Store, state: State) -> Iterator[State]:
    """Yield the states of the runs that pay for a run: the one whose command started it, and its parents."""
    while state.parent:
        try:
            folding, _ = load_run(store, state.parent)
        except RunNotFoundError:  # forgotten
            return
        state = folding.state
        yield state


def spent_today(store: Store, state: State, now: datetime) -> Amount:
    """Return what all runs of the day (UTC) spent and reserved, if the run has a daily limit."""
    return NOTHING if state.limits.usd_per_day is None else store.spent_on(now.astimezone(UTC).date())


def require_resumable(state: State) -> None:
    """Refuse an ended run, but not one that failed.

    Raises
    ------
    RunEndedError
        As `require_going`.
    """
    if state.status not in RESUMABLE:
        require_going(state)


def require_going(state: State) -> None:
    """Refuse an ended run.

    Raises
    ------
    RunEndedError
        The message names the status and the reason.
    """
    if state.is_terminal:
        reason = f" ({state.stop_reason})" if state.stop_reason else ""
        raise RunEndedError(f"run {state.run_id} is over: {state.status}{reason}; start a new run")


def iterations(store: Store, run_id: str, *, after: int = 0) -> Iterator[tuple[int, int, list[Event]]]:
    """Yield the iterations behind an event: the number of their last event, their own, their events."""
    events: list[Event] = []
    for seq, event in store.read(run_id, after=after):
        events.append(event)
        if isinstance(event, IterationCommitted):
            yield seq, event.iteration, events
            events = []
