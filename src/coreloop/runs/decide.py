"""The decision to stop: a pure function of a run's state and the time, which no model can overrule."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from coreloop.base.errors import BudgetError
from coreloop.base.messages import number_of
from coreloop.runs.amounts import NOTHING, Amount, left, microusd
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


def decide(
    state: State,
    now: datetime,
    *,
    least: Amount = NOTHING,
    today: Amount = NOTHING,
    parents: Iterable[State] = (),
) -> Continue | Stop:
    """Decide whether a run goes on. Total: every state has an answer.

    Parameters
    ----------
    state : State
        After a committed iteration, or before the first.
    now : datetime
        With a zone; by the clock of the events.
    least : Amount
        The least that another step costs.
    today : Amount
        Spent and reserved today (UTC) by all runs of the store.
    parents : iterable of State
        The runs that pay for this one; its spending is in theirs.

    Returns
    -------
    Continue or Stop
        The first row that applies, in the order of the page on runs.
    """
    if state.is_terminal or state.status == "paused":
        return Stop(state.status, state.stop_reason)
    if state.is_covered and kind_named(state.kind).is_complete(state):
        return Stop("completed")
    rows = _rows(state, now, least, today, parents)
    return next((Stop(status, reason) for is_over, status, reason in rows if is_over), Continue())


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


def _rows(
    state: State, now: datetime, least: Amount, today: Amount, parents: Iterable[State]
) -> Iterator[tuple[bool, Status, str]]:
    limits, seconds = state.limits, seconds_left(state, now)
    per_day = None if limits.usd_per_day is None else microusd(limits.usd_per_day)
    yield state.is_exhausted, "stopped", "nothing_new"
    yield state.iteration >= limits.max_iterations, "stopped", "max_iterations"
    yield _is_over(state, least, "microusd"), "budget_exceeded", "usd"
    for parent in parents:
        yield _is_over(parent, least, "microusd"), "budget_exceeded", "usd"
        yield _is_over(parent, least, "tokens"), "stopped", "tokens"
    is_spent = exceeds(per_day, today.microusd, least.microusd, limits.kept.microusd)
    yield is_spent, "budget_exceeded", "usd_per_day"
    yield _is_over(state, least, "tokens"), "stopped", "tokens"
    yield seconds is not None and seconds <= limits.answer.seconds, "stopped", "deadline"
    yield limits.queries is not None and state.queries >= limits.queries, "stopped", "queries"
    yield limits.sources is not None and len(state.read_sources) >= limits.sources, "stopped", "sources"
    yield state.failures_in_row >= limits.max_failures, "stopped", "failures"
    yield state.is_until_met, "stopped", "until"
    yield state.sufficient and state.mode == "bounded", "stopped", "sufficient"


def _is_over(state: State, least: Amount, unit: Literal["microusd", "tokens"]) -> bool:
    """Whether what is spent and reserved leaves no room for the least next step."""
    used = state.spent + state.reserved
    parts = (getattr(amount, unit) for amount in (used, least, state.limits.kept))
    return exceeds(getattr(state.limits, unit), *parts)


def require_room(state: State, at_most: Amount | None, *, is_answer: bool = False) -> None:
    """Refuse a call that could pass a limit of its run.

    Parameters
    ----------
    state : State
        Before the call.
    at_most : Amount or None
        The most that it can cost. None if nobody knows: one such call may pass a limit, the next is refused.
    is_answer : bool
        Whether the call may use the reserve for the answer.

    Raises
    ------
    BudgetError
        ``reason`` is ``usd`` or ``tokens``.
    """
    kept = NOTHING if is_answer else state.limits.kept
    used, limits = state.spent + state.reserved, state.limits
    wanted = at_most or NOTHING
    for reason, limit, spent, more, rest in (
        ("usd", limits.microusd, used.microusd, wanted.microusd, kept.microusd),
        ("tokens", limits.tokens, used.tokens, wanted.tokens, kept.tokens),
    ):
        if not has_room(limit, spent, None if at_most is None else more, rest):
            raise over_limit(reason, limit or 0, spent + rest, more)


def all_left(state: State) -> Amount:
    """Return the cost of the run's only call under way that leaves nothing of its limits."""
    return left(Amount(state.limits.microusd or 0, state.limits.tokens or 0), state.spent)


def has_room(limit: int | None, used: int, at_most: int | None, kept: int) -> bool:
    """Whether a call fits a limit; what costs nothing always does."""
    if at_most is None:
        return not exceeds(limit, used, 0, kept)
    return limit is None or at_most == 0 or used + at_most + kept <= limit


def over_limit(reason: str, limit: int, used: int, wanted: int = 0) -> BudgetError:
    """Build the error of a call that could pass a limit; of money in millionths of a US dollar."""
    texts = [
        number_of(amount, "token") if reason == "tokens" else f"{Amount(amount).usd:.4f} USD"
        for amount in (wanted, limit, used)
    ]
    return BudgetError(
        f"a call for up to {texts[0]} would exceed the limit {reason} of {texts[1]}: {texts[2]} are used "
        "or set aside",
        reason=reason,
    )
