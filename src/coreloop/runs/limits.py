"""The limits of a run. Only what is outside the model sets them; later they can only become tighter."""

from typing import Annotated, Any, Final, Literal

import msgspec

from coreloop.base.errors import UsageError
from coreloop.runs.amounts import Amount, microusd

Mode = Literal["bounded", "exhaust"]
_Amount = Annotated[float, msgspec.Meta(ge=0, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_Some = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
_OPTIONS: Final = {"budget_usd": "usd", "max_tokens": "tokens", "deadline": "deadline_s"}
"""How a person says some limits; the others have their own names."""


class AnswerReserve(msgspec.Struct, frozen=True):
    """The share of a run's limits that only the final answer may use.

    Attributes
    ----------
    usd : float
        US dollars.
    tokens : int
        Tokens.
    seconds : float
        Seconds before the deadline.
    """

    usd: _Amount = 0.0
    tokens: _Count = 0
    seconds: _Amount = 0.0


class Limits(msgspec.Struct, frozen=True):
    """What ends a run, whatever its model says. None means no limit.

    Attributes
    ----------
    max_iterations : int
        Committed iterations.
    usd : float or None
        US dollars of the run.
    usd_per_day : float or None
        US dollars of all runs of a store in a day (UTC).
    tokens : int or None
        Tokens of the run.
    deadline_s : float or None
        Seconds of work: the time while a process works on the run, without pauses.
    queries : int or None
        Executed searches.
    sources : int or None
        Sources read.
    max_failures : int
        Failed steps in a row.
    answer : AnswerReserve
        Kept for the final answer.
    """

    max_iterations: _Some = 100
    usd: _Amount | None = 10.0
    usd_per_day: _Amount | None = None
    tokens: _Count | None = None
    deadline_s: _Amount | None = None
    queries: _Count | None = None
    sources: _Count | None = None
    max_failures: _Some = 5
    answer: AnswerReserve = AnswerReserve()

    @property
    def microusd(self) -> int | None:
        """`usd` in millionths."""
        return None if self.usd is None else microusd(self.usd)

    @property
    def kept(self) -> Amount:
        """What only the final answer may spend."""
        return Amount(microusd(self.answer.usd), self.answer.tokens)


def limits_of(known: Limits | None = None, **given: float | None) -> Limits:
    """Build limits of what a person gives by names of `Limits` or of options; None for those of ``known``."""
    changes = {_OPTIONS.get(name, name): value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(known or Limits(), **changes)


def check_limits(limits: Limits) -> None:
    """Refuse limits that cannot hold.

    Parameters
    ----------
    limits : Limits
        Of a new run.

    Raises
    ------
    UsageError
        A limit is of another type, negative, infinite or too large.
    """
    try:
        msgspec.convert(msgspec.to_builtins(limits), Limits)
    except msgspec.ValidationError as error:
        raise UsageError(f"limits: {error}") from error


def tighter(first: Limits, other: Limits) -> Limits:
    """Return the smaller of each limit; None is the largest. The smaller reserve fits both."""
    smaller: Limits = _smaller(first, other)
    return smaller


def _smaller(first: Any, other: Any) -> Any:
    if isinstance(first, msgspec.Struct):
        names = first.__struct_fields__
        return type(first)(**{name: _smaller(getattr(first, name), getattr(other, name)) for name in names})
    return min((limit for limit in (first, other) if limit is not None), default=None)
