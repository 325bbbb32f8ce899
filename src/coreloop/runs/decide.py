"""The decision to stop: a pure function of a run's state and the time, which no model can overrule."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.runs.amounts import NOTHING, Amount, microusd
from coreloop.runs.events import Status
from coreloop.runs.kinds import kind_named
from coreloop.runs.state import State


@dataclass(frozen=True, slots=True)
class Continue:
    """The run goes on with another iteration."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The run does not go on.

    Attributes
    ----------
    status : str
        The status that the run has, or gets.
    reason : str or None
        Which limit, for ``stopped`` and ``budget_exceeded``.
    """

    status: Status
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a decision takes into account beside the run's own state.

    Attributes
    ----------
    least : Amount
        The least that another step costs.
    today : Amount
        Spent and reserved today (UTC) by all runs of the store.
    parents : tuple of State
        The runs that pay for this one; its spending is in theirs.
    """

    least: Amount = NOTHING
    today: Amount = NOTHING
    parents: tuple[State, ...] = ()


UNKNOWN: Final = Outlook()
"""Steps may cost nothing, and no other run has spent anything today."""


def decide(state: State, now: datetime, outlook: Outlook = UNKNOWN) -> Continue | Stop:
    """Decide whether a run goes on. Total: every state has an answer.

    Parameters
    ----------
    state : State
        After a committed iteration, or before the first.
    now : datetime
        With a zone; by the clock of the events.
    outlook : Outlook
        The price of a step, and the day's spending.

    Returns
    -------
    Continue or Stop
        The first row that applies, in the order of the page on runs.
    """
    if state.is_terminal or state.status == "paused":
        return Stop(state.status, state.stop_reason)
    if state.is_covered and kind_named(state.kind).is_complete(state):
        return Stop("completed")
    return next((stop for row in _ROWS if (stop := row(state, now, outlook))), Continue())


def exceeds(limit: int | None, used: int, least: int, kept: int) -> bool:
    """Whether a limit leaves no room: neither for the least next step nor for anything else.

    Parameters
    ----------
    limit : int or None
        None leaves room.
    used : int
        Spent and reserved.
    least : int
        The least that the next step costs.
    kept : int
        Set aside for the final answer.
    """
    return limit is not None and (used + least + kept > limit or used + kept >= limit)


def seconds_left(state: State, now: datetime) -> float | None:
    """Return the seconds until the deadline, those of the final answer included; None without a deadline."""
    if state.limits.deadline_s is None:
        return None
    working_s = max(0.0, (now - state.clock).total_seconds())
    return state.limits.deadline_s - state.elapsed_s - working_s


def _iterations(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    return Stop("stopped", "max_iterations") if state.iteration >= state.limits.max_iterations else None


def _usd(state: State, _now: datetime, outlook: Outlook) -> Stop | None:
    used, limits = state.spent.microusd + state.reserved.microusd, state.limits
    is_over = exceeds(limits.microusd, used, outlook.least.microusd, limits.kept.microusd)
    return Stop("budget_exceeded", "usd") if is_over else None


def _parents(_state: State, now: datetime, outlook: Outlook) -> Stop | None:
    stops = (row(parent, now, outlook) for parent in outlook.parents for row in (_usd, _tokens))
    return next((stop for stop in stops if stop), None)


def _usd_per_day(state: State, _now: datetime, outlook: Outlook) -> Stop | None:
    per_day = state.limits.usd_per_day
    limit = None if per_day is None else microusd(per_day)
    is_over = exceeds(limit, outlook.today.microusd, outlook.least.microusd, state.limits.kept.microusd)
    return Stop("budget_exceeded", "usd_per_day") if is_over else None


def _tokens(state: State, _now: datetime, outlook: Outlook) -> Stop | None:
    used, limits = state.spent.tokens + state.reserved.tokens, state.limits
    is_over = exceeds(limits.tokens, used, outlook.least.tokens, limits.kept.tokens)
    return Stop("stopped", "tokens") if is_over else None


def _deadline(state: State, now: datetime, _outlook: Outlook) -> Stop | None:
    left = seconds_left(state, now)
    is_over = left is not None and left <= state.limits.answer.seconds
    return Stop("stopped", "deadline") if is_over else None


def _queries(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    limit = state.limits.queries
    return Stop("stopped", "queries") if limit is not None and state.queries >= limit else None


def _sources(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    limit = state.limits.sources
    return Stop("stopped", "sources") if limit is not None and len(state.read_sources) >= limit else None


def _failures(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    return Stop("stopped", "failures") if state.failures_in_row >= state.limits.max_failures else None


def _until(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    return Stop("stopped", "until") if state.is_until_met else None


def _sufficient(state: State, _now: datetime, _outlook: Outlook) -> Stop | None:
    return Stop("stopped", "sufficient") if state.sufficient and state.mode == "bounded" else None


_ROWS: Final[tuple[Callable[[State, datetime, Outlook], Stop | None], ...]] = (
    _iterations,
    _usd,
    _parents,
    _usd_per_day,
    _tokens,
    _deadline,
    _queries,
    _sources,
    _failures,
    _until,
    _sufficient,
)
