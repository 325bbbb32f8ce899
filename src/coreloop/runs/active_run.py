"""A run that this process works on: steps that are never done twice, and spending that is reserved first."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from secrets import token_hex
from threading import RLock
from typing import Any, Final, Literal

from coreloop.base.database import this_process
from coreloop.base.errors import ModelError, RunError
from coreloop.base.record_lines import text_of
from coreloop.base.validation import fields_of
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount, max_amount, microusd
from coreloop.runs.clock import Clock, SteadyClock, SystemClock
from coreloop.runs.decide import Continue, Stop, decide, over_limit, require_room
from coreloop.runs.events import FOREIGN, Event, Opened, Recorded, as_stored
from coreloop.runs.load import load_run, parents_of, require_going, spent_today
from coreloop.runs.state import State
from coreloop.runs.stores.holds import busy
from coreloop.runs.stores.store import Numbered, Store

Call = Callable[[str], tuple[Any, Amount]]
"""Called with a step's key; returns the result, which must be JSON, and what it cost."""
LOGGER: Final = "coreloop.runs"
"""A program that wants lines on phases gives it a handler; their figures are the attribute ``facts``."""
Phase = Literal["plan", "search", "reflect", "synthesize"]
_ERROR_CHARS: Final = 500


class Postponed(Exception):  # noqa: N818 (not an error)
    """Raised by a call that was neither done nor failed (a rate limit): it is done again later.

    Parameters
    ----------
    cost : Amount
        What it cost nevertheless.
    """

    def __init__(self, cost: Amount = NOTHING) -> None:
        super().__init__("postponed")
        self.cost = cost


class Interrupted(BaseException):
    """The process ends and the run goes on in another one; like Ctrl-C, not a failure."""


class Run:
    """A run that this process holds, see `work_on`. Its steps may run in several threads at once."""

    def __init__(
        self, store: Store, run_id: str, clock: Clock, shutdown: threading.Event | None = None
    ) -> None:
        self._store = store
        self._shutdown = shutdown or threading.Event()
        self._clock = SteadyClock(clock)
        self._keys: dict[str, RLock] = {}
        self._turn = RLock()  # held by a thread while it decides and writes
        self._pending: list[Event] = []
        self._is_mixed = False
        self._folding, self._newest = load_run(store, run_id)
        self.run_id = run_id

    @property
    def state(self) -> State:
        """The state after all events, also those that wait for the iteration's commit; to be read only."""
        return self._folding.state

    def now(self) -> datetime:
        """Return the time by the run's clock, which no change of the machine's clock moves."""
        return self._clock.now()

    def step(
        self, name: str, key: str, call: Call, *, at_most: Amount | None, is_answer: bool = False
    ) -> Any:
        """Do a step once: a committed step's result comes from the journal, without a call.

        Parameters
        ----------
        name : str
            For people.
        key : str
            Identifies the step in its run, also after a restart; passed to the call, for example as its
            idempotency key. A step that was under way when its process died is called again with it.
        call : callable
            Returns the result and its cost. An exception with an `Amount` as ``cost`` says what it cost.
        at_most : Amount or None
            The most that the call can cost, which is reserved. None if nobody knows (a foreign command):
            nothing is reserved then, and what it costs may pass a limit once.
        is_answer : bool
            Whether the step may use the reserve for the answer.

        Returns
        -------
        Any
            The result as its JSON gives it back: lists instead of tuples, texts as keys.

        Raises
        ------
        BudgetError
            The most that the call can cost does not fit the limits; it was not called.
        RunEndedError
            The run is over; it was not called.
        RunError
            The result is not JSON.
        Interrupted
            The process ends; the call was not made.
        Postponed
            Raised by the call: what it cost is settled, and no failure is counted.
        """
        with self._turn:
            lock = self._keys.setdefault(key, RLock())
        with lock:
            committed = self._store.step(self.run_id, key)
            if committed is not None:
                return committed.result
            if self._shutdown.is_set():
                raise Interrupted
            reservation, most = self._reserve(at_most, is_answer=is_answer), at_most or NOTHING
            step = {"reservation": reservation, "name": name, "key": key}
            try:
                result, cost = call(key)
            except Postponed as postponed:
                self._append(self._booked(happened.Settled, postponed.cost, reservation=reservation))
                raise
            except Exception as error:
                known = getattr(error, "cost", None)
                self._fail(step, error, known if isinstance(known, Amount) else most)
                raise
            except BaseException:  # Ctrl-C is not the step's failure
                settled = {"reservation": reservation, "is_assumed": True}
                self._append(self._booked(happened.Settled, most, **settled))
                raise
            try:
                done = self._booked(happened.StepCommitted, cost, is_answer=is_answer, result=result, **step)
            except (TypeError, ValueError, RecursionError) as error:
                refused = RunError(f"step {name}: its result is not JSON ({error}); return plain values")
                self._fail(step, refused, cost)
                raise refused from error
            self._append(done)
            return done.result

    def record(self, event_type: Callable[..., Event], **fields: Any) -> None:
        """Add an event to the state now, and to the store with the iteration's commit.

        A process that dies before leaves nothing of its iteration but steps. So the iteration that is done
        again sees the same state, gets the same results, and its events are stored once.

        Parameters
        ----------
        event_type : type
            One of `coreloop.runs.events`.
        **fields
            Of the event, without its time.

        Raises
        ------
        RunEndedError
            The run is over.
        """
        with self._turn:
            require_going(self.state)
            event = as_stored(event_type(at=self.now(), **fields))
            self._pending.append(event)
            self._folding.add(event)

    def catch_up(self) -> None:
        """Add what other processes said to the run until now: an agent's reports, a pause, a stop.

        Raises
        ------
        RunBusyError
            Another process works on the run: this one lost its hold.
        """
        with self._turn:
            self._take(list(self._store.read(self.run_id, after=self._newest)))

    def commit_iteration(self) -> None:
        """Write an iteration and its events to the store, all of them or none."""
        with self._turn:
            self._flush(happened.IterationCommitted(at=self.now(), iteration=self.state.iteration + 1))

    def decide(self, least: Amount = NOTHING) -> Continue | Stop:
        """Decide whether the run goes on, with what other processes said and spent until now.

        Parameters
        ----------
        least : Amount
            The least that another step costs.
        """
        with self._turn:
            self.catch_up()
            today = spent_today(self._store, self.state, self.now())
            parents = tuple(parents_of(self._store, self.state))
            return decide(self.state, self.now(), least=least, today=today, parents=parents)

    def end(self, stop: Stop, *, error: str = "", failure: Exception | None = None) -> None:
        """End the run, unless it is paused or over; the events of its last iteration are kept.

        Parameters
        ----------
        stop : Stop
            Why.
        error : str
            What else is to be known.
        failure : Exception or None
            What ended a failed run; that of a model says of which kind it is, and whether it may pass.
        """
        with self._turn:
            goes_on = stop.status in {"running", "paused"}
            ended = happened.Ended(
                at=self.now(),
                status=stop.status,
                reason=stop.reason,
                error=(error if failure is None else described(failure))[:_ERROR_CHARS],
                kind=failure.kind if isinstance(failure, ModelError) else "",
                is_retryable=isinstance(failure, ModelError) and failure.is_retryable,
            )
            self._flush(*([] if goes_on or self.state.is_terminal else [as_stored(ended)]))

    def _reserve(self, at_most: Amount | None, *, is_answer: bool) -> str:
        """Set aside what a call can cost; returns the reservation, or "" for nothing."""
        with self._turn:
            if at_most is None or at_most == NOTHING:
                self.catch_up()  # otherwise the append shows what other processes said
            require_going(self.state)
            for state in (self.state, *parents_of(self._store, self.state)):
                require_room(state, at_most, is_answer=is_answer)
            limits, per_day = self.state.limits, None
            if limits.usd_per_day is not None:
                per_day = microusd(limits.usd_per_day) - (0 if is_answer else limits.kept.microusd)
            today = spent_today(self._store, self.state, self.now()).microusd
            if at_most is None and per_day is not None and today >= per_day:
                raise over_limit("usd_per_day", per_day, today)
            if at_most == NOTHING:
                return ""
            reservation = token_hex(8)  # of unknown cost: that it is under way is written all the same
            reserved = self._booked(happened.Reserved, at_most or NOTHING, reservation=reservation)
            self._append(reserved, per_day=per_day, begins=True)
            return reservation

    def _booked(self, kind: Callable[..., Any], cost: Amount, **fields: Any) -> Any:
        """Build an event of spending."""
        return as_stored(kind(at=self.now(), microusd=cost.microusd, tokens=cost.tokens, **fields))

    def _fail(self, step: dict[str, Any], error: Exception, cost: Amount) -> None:
        with self._turn:
            attempt = self._folding.failures[step["key"]] + 1
            said = {"attempt": attempt, "error": described(error)}
            self._append(self._booked(happened.StepFailed, cost, **step, **said))

    def _open(self, reported: Callable[[State], Amount]) -> None:
        """Say that this process works on the run, and settle what a process that died left under way."""
        with self._turn:
            heard = max_amount(reported(self.state), self.state.progress.claimed)
            opened = happened.Opened(at=self.now(), owner=this_process())
            orphans = [
                self._booked(happened.Settled, max_amount(most, heard), reservation=name, is_assumed=True)
                for name, most in self.state.reservations.items()
            ]
            self._append(as_stored(opened), *orphans)

    def _flush(self, *events: Event) -> None:
        """Write the events that wait, and others behind them: all or none."""
        if self._pending or events:
            self._write([*self._pending, *events])
            self._pending.clear()
            if self._is_mixed:
                self._folding, self._newest = load_run(self._store, self.run_id)
                self._is_mixed = False
            else:
                self._fold(events)

    def _append(self, *events: Event, per_day: int | None = None, begins: bool = False) -> None:
        """Write events, and add them to the state; those that wait go on waiting."""
        with self._turn:
            self._write(events, per_day=per_day, begins=begins)
            self._fold(events)

    def _write(self, events: Sequence[Event], *, per_day: int | None = None, begins: bool = False) -> None:
        while between := self._store.append(self.run_id, events, after=self._newest, per_day=per_day):
            self._take(between)
            if begins:  # a call, unless another process stopped the run
                require_going(self.state)
        self._newest += len(events)

    def _take(self, between: Sequence[Numbered]) -> None:
        for seq, event in between:
            if not isinstance(event, FOREIGN):
                raise busy(self.run_id, event.owner if isinstance(event, Opened) else "")
            # a report stands before the pending events in the store, but behind them in this state
            self._is_mixed |= isinstance(event, Recorded) and bool(self._pending)
            self._newest = seq
            self._fold([event])

    def _fold(self, events: Sequence[Event]) -> None:
        for event in events:
            self._folding.add(event)


@contextmanager
def work_on(
    store: Store, run_id: str, *, clock: Clock | None = None, shutdown: threading.Event | None = None
) -> Iterator[Run]:
    """Hold a run and work on it; it goes on where the last process left it.

    Parameters
    ----------
    run_id : str
        Of `coreloop.runs.manage.create_run`.
    clock : Clock or None
        None for the machine's.
    shutdown : threading.Event or None
        When it is set, the next step raises `Interrupted`.

    Raises
    ------
    RunNotFoundError, RunBusyError, RunEndedError
        The store has no such run, another process works on it, or it is over.
    """
    with store.hold(run_id):
        yield open_held(store, run_id, clock=clock, shutdown=shutdown)


def open_held(
    store: Store,
    run_id: str,
    *,
    clock: Clock | None = None,
    shutdown: threading.Event | None = None,
    reported: Callable[[State], Amount] = lambda _: NOTHING,
) -> Run:
    """Open a run that this process holds already, as `work_on`.

    Parameters
    ----------
    store, run_id, clock, shutdown
        As for `work_on`.
    reported : callable
        Called with the state; returns what a call is known to have spent whose process died.
    """
    run = Run(store, run_id, clock or SystemClock(), shutdown)
    require_going(run.state)
    run._open(reported)
    return run


def described(error: Exception) -> str:
    """Return an error's type and message for an event, cut to a bounded length."""
    return f"{type(error).__name__}: {text_of(error)}"[:_ERROR_CHARS]


@contextmanager
def phase(run: Run, name: Phase) -> Iterator[None]:
    """Log where a phase of a run begins and where it ends, without texts."""
    facts = {"phase": name, **fields_of(run.state, "run_id", "trace_id", "kind")}
    facts["iteration"] = run.state.iteration + 1
    _log({**facts, "state": "begins"})
    try:
        yield
    finally:
        results, tokens = len(run.state.read_sources), run.state.spent.tokens
        _log({**facts, "state": "ends", "results": results, "tokens": tokens})


def _log(facts: dict[str, object]) -> None:
    logging.getLogger(LOGGER).info("phase", extra={"facts": facts})
