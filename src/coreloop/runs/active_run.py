"""A run that this process works on: steps that are never done twice, and spending that is reserved first."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from threading import RLock
from typing import Any, Final

from coreloop.base.database import this_process
from coreloop.base.errors import ModelError, RunError, UsageError
from coreloop.base.text import printable
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount, checked_amount, max_amount
from coreloop.runs.call_budget import day_limit, require_day, require_room
from coreloop.runs.clock import Clock, SteadyClock, SystemClock
from coreloop.runs.decide import Continue, Outlook, Stop, decide
from coreloop.runs.events import Event, as_stored
from coreloop.runs.journal import RunJournal
from coreloop.runs.load import parents_of, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

Call = Callable[[str], tuple[Any, Amount]]
"""Called with a step's key; returns the result, which must be JSON, and what it cost."""
Reported = Callable[[State], Amount]
_ERROR_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A call under way."""

    name: str
    key: str
    reservation: str
    at_most: Amount
    is_answer: bool


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
        self._under_way: dict[str, str] = {}
        self._journal = RunJournal(store, run_id)
        self.run_id = run_id

    @property
    def state(self) -> State:
        """The state after all events so far; to be read only."""
        return self._journal.state

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
        UsageError
            ``at_most``, or the cost that the call returned, is not a valid `Amount`.
        Interrupted
            The process ends; the call was not made.
        Postponed
            Raised by the call: what it cost is settled, and no failure is counted.
        """
        checked_amount(NOTHING if at_most is None else at_most)
        with self._alone(key):
            committed = self._store.step(self.run_id, key)
            if committed is not None:
                return committed.result
            if self._shutdown.is_set():
                raise Interrupted
            reservation = self._reserve(at_most, is_answer=is_answer)
            attempt = _Attempt(name, key, reservation, at_most or NOTHING, is_answer)
            self._under_way[key] = reservation
            try:
                result, cost = call(key)
                checked_amount(cost)
            except Postponed as postponed:
                self._journal.append(self._booked(happened.Settled, reservation, postponed.cost))
                raise
            except Exception as error:
                self._fail(attempt, error, _cost(error, attempt.at_most))
                raise
            except BaseException:  # Ctrl-C is not the step's failure
                assumed = self._booked(happened.Settled, reservation, attempt.at_most, is_assumed=True)
                self._journal.append(assumed)
                raise
            return self._commit(attempt, result, cost)

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
        with self._journal.turn:
            require_going(self.state)
            self._journal.buffer(event_type(at=self.now(), **fields))

    def catch_up(self) -> None:
        """Add what other processes said to the run until now: an agent's reports, a pause, a stop."""
        self._journal.refresh()

    def commit_iteration(self) -> None:
        """Write an iteration and its events to the store, all of them or none."""
        with self._journal.turn:
            self._journal.flush(
                happened.IterationCommitted(at=self.now(), iteration=self.state.iteration + 1)
            )

    def decide(self, least: Amount = NOTHING) -> Continue | Stop:
        """Decide whether the run goes on, with what other processes said and spent until now.

        Parameters
        ----------
        least : Amount
            The least that another step costs.
        """
        with self._journal.turn:
            self.catch_up()
            is_limited = self.state.limits.usd_per_day is not None
            today = self._spent_today() if is_limited else NOTHING
            parents = tuple(parents_of(self._store, self.state))
            return decide(self.state, self.now(), Outlook(least=least, today=today, parents=parents))

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
        with self._journal.turn:
            goes_on = stop.status in {"running", "paused"}
            ended = happened.Ended(
                at=self.now(),
                status=stop.status,
                reason=stop.reason,
                error=(error if failure is None else described(failure))[:_ERROR_CHARS],
                kind=failure.kind if isinstance(failure, ModelError) else "",
                is_retryable=isinstance(failure, ModelError) and failure.is_retryable,
            )
            self._journal.flush(*([] if goes_on or self.state.is_terminal else [as_stored(ended)]))

    def _reserve(self, at_most: Amount | None, *, is_answer: bool) -> str:
        """Set aside what a call can cost; returns the reservation, or "" for nothing."""
        with self._journal.turn:
            if at_most is None or at_most == NOTHING:
                self._journal.refresh()  # otherwise the append shows what other processes said
            require_going(self.state)
            for state in (self.state, *parents_of(self._store, self.state)):
                require_room(state, at_most, is_answer=is_answer)
            per_day = day_limit(self.state.limits, is_answer=is_answer)
            if at_most is None and per_day is not None:
                require_day(per_day, self._spent_today())
            if at_most == NOTHING:
                return ""
            least = at_most or NOTHING  # of unknown cost: that it is under way is written all the same
            reserved = self._booked(happened.Reserved, token_hex(8), least)
            self._journal.begin(reserved, per_day=per_day)
            return str(reserved.reservation)

    def _booked(self, kind: Callable[..., Any], reservation: str, cost: Amount, **fields: Any) -> Any:
        """Build an event of spending."""
        money = {"microusd": cost.microusd, "tokens": cost.tokens}
        return as_stored(kind(at=self.now(), reservation=reservation, **money, **fields))

    def _commit(self, attempt: _Attempt, result: Any, cost: Amount) -> Any:
        fields = {"name": attempt.name, "key": attempt.key, "is_answer": attempt.is_answer, "result": result}
        try:
            committed = self._booked(happened.StepCommitted, attempt.reservation, cost, **fields)
        except (TypeError, ValueError, RecursionError) as error:
            refused = RunError(f"step {attempt.name}: its result is not JSON ({error}); return plain values")
            self._fail(attempt, refused, cost)
            raise refused from error
        self._journal.append(committed)
        return committed.result

    def _fail(self, attempt: _Attempt, error: Exception, cost: Amount) -> None:
        with self._journal.turn:
            number = self._journal.failures(attempt.key) + 1
            fields = {"name": attempt.name, "key": attempt.key, "attempt": number, "error": described(error)}
            self._journal.append(self._booked(happened.StepFailed, attempt.reservation, cost, **fields))

    def _open(self, reported: Reported = lambda _: NOTHING) -> None:
        """Say that this process works on the run, and settle what a process that died left under way."""
        with self._journal.turn:
            heard = max_amount(reported(self.state), self.state.progress.claimed)
            opened = happened.Opened(at=self.now(), owner=this_process())
            orphans = [
                self._booked(happened.Settled, name, max_amount(most, heard), is_assumed=True)
                for name, most in self.state.reservations.items()
            ]
            self._journal.append(as_stored(opened), *orphans)

    def _spent_today(self) -> Amount:
        return self._store.spent_on(self.now().astimezone(UTC).date())

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Let one thread at a time do the step of a key."""
        with self._journal.turn:
            lock = self._keys.setdefault(key, RLock())
        with lock:
            if key in self._under_way:  # only this thread can be here: it would wait for itself
                raise RunError(f"step {printable(key[:40])}: its call runs the same step; use another key")
            self._under_way[key] = ""
            try:
                yield
            finally:
                del self._under_way[key]


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
    reported: Reported = lambda _: NOTHING,
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
    try:
        message = str(error)
    except Exception:  # user code, see __str__
        message = "(its message cannot be read)"
    return f"{type(error).__name__}: {message}"[:_ERROR_CHARS]


def _cost(error: Exception, at_most: Amount) -> Amount:
    """Return what a failed call cost; in full if it does not say."""
    try:
        return checked_amount(getattr(error, "cost", None))
    except UsageError:
        return at_most
