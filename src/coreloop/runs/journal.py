"""The events of a run that this process holds: their state in memory, and their way into the store."""

from collections.abc import Sequence
from threading import RLock

from coreloop.runs.events import FOREIGN, Event, Opened, Recorded, as_stored
from coreloop.runs.load import load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.holds import busy
from coreloop.runs.stores.store import Numbered, Store


class RunJournal:
    """A run's events, to which one process writes; threads take turns.

    Attributes
    ----------
    turn : threading.RLock
        Held by a thread while it decides and writes.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self.turn = RLock()
        self._store = store
        self._run_id = run_id
        self._pending: list[Event] = []
        self._is_mixed = False
        self._folding, self._newest = load_run(store, run_id)

    @property
    def state(self) -> State:
        """The state after all events, those that wait for the iteration's commit included."""
        return self._folding.state

    def failures(self, key: str) -> int:
        """Return how often the step of a key failed."""
        return self._folding.failures[key]

    def buffer(self, event: Event) -> None:
        """Add an event to the state now, and to the store with the next `flush`."""
        with self.turn:
            stored = as_stored(event)
            self._pending.append(stored)
            self._folding.add(stored)

    def flush(self, *events: Event) -> None:
        """Write the events that wait, and others behind them: all or none."""
        with self.turn:
            if self._pending or events:
                self._write([*self._pending, *events])
                self._pending.clear()
                if self._is_mixed:
                    self._folding, self._newest = load_run(self._store, self._run_id)
                    self._is_mixed = False
                else:
                    self._fold(events)

    def append(self, *events: Event) -> None:
        """Write events to the store, and add them to the state; those that wait go on waiting."""
        with self.turn:
            self._write(events)
            self._fold(events)

    def begin(self, event: Event, *, per_day: int | None) -> None:
        """Append an event with which a call begins, unless another process stopped the run.

        Raises
        ------
        RunEndedError
            The run was stopped.
        BudgetError
            The call could pass ``per_day``, as in `coreloop.runs.stores.store.Store.append`.
        """
        with self.turn:
            while between := self._store.append(self._run_id, [event], after=self._newest, per_day=per_day):
                self._take(between)
                require_going(self.state)
            self._newest += 1
            self._fold([event])

    def refresh(self) -> None:
        """Add what other processes said since.

        Raises
        ------
        RunBusyError
            Another process works on the run: this one lost its hold.
        """
        with self.turn:
            self._take(list(self._store.read(self._run_id, after=self._newest)))

    def _write(self, events: Sequence[Event]) -> None:
        while between := self._store.append(self._run_id, events, after=self._newest):
            self._take(between)
        self._newest += len(events)

    def _take(self, between: Sequence[Numbered]) -> None:
        for seq, event in between:
            if not isinstance(event, FOREIGN):
                raise busy(self._run_id, event.owner if isinstance(event, Opened) else "")
            # a report stands before the pending events in the store, but behind them in this state
            self._is_mixed |= isinstance(event, Recorded) and bool(self._pending)
            self._newest = seq
            self._fold([event])

    def _fold(self, events: Sequence[Event]) -> None:
        for event in events:
            self._folding.add(event)
