"""Whether the most that a call can cost fits the limits of its run."""

from coreloop.base.errors import BudgetError
from coreloop.base.messages import number_of
from coreloop.runs.amounts import NOTHING, Amount, left, microusd
from coreloop.runs.decide import exceeds
from coreloop.runs.limits import Limits
from coreloop.runs.state import State


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
            raise BudgetError(_message(reason, limit or 0, spent, more, rest), reason=reason)


def all_left(state: State) -> Amount:
    """Return the cost of the run's only call under way that leaves nothing of its limits."""
    return left(Amount(state.limits.microusd or 0, state.limits.tokens or 0), state.spent)


def has_room(limit: int | None, used: int, at_most: int | None, kept: int) -> bool:
    """Whether a call fits a limit; what costs nothing always does."""
    if at_most is None:
        return not exceeds(limit, used, 0, kept)
    return limit is None or at_most == 0 or used + at_most + kept <= limit


def day_limit(limits: Limits, *, is_answer: bool = False) -> int | None:
    """Return how many millionths of a US dollar all runs may have used in a day after a call of this run."""
    if limits.usd_per_day is None:
        return None
    return microusd(limits.usd_per_day) - (0 if is_answer else limits.kept.microusd)


def require_day(per_day: int, today: Amount) -> None:
    """Refuse a call of unknown cost if the daily limit is reached.

    Raises
    ------
    BudgetError
        ``reason`` is ``usd_per_day``.
    """
    if not has_room(per_day, today.microusd, None, 0):
        used, limit = today.usd, Amount(per_day).usd
        raise BudgetError(
            f"all runs have used {used:.4f} of {limit:.4f} USD today (UTC)", reason="usd_per_day"
        )


def _message(reason: str, limit: int, used: int, wanted: int, kept: int) -> str:
    amounts = (limit - kept, used, wanted)
    texts = [f"{Amount(n).usd:.4f} USD" if reason == "usd" else number_of(n, "token") for n in amounts]
    but = " without the reserve for the answer" if kept else ""
    return f"a call for up to {texts[2]} would exceed the limit of {texts[0]}{but}: {texts[1]} are used"
