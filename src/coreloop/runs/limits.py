"""The limits of a run. Only what is outside the model sets them; later they can only become tighter."""

from math import isfinite
from typing import Any, Final, Literal, get_args

import msgspec

from coreloop.base.errors import UsageError
from coreloop.runs.amounts import Amount, microusd

Mode = Literal["bounded", "exhaust"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
_LARGEST: Final = 10**12


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

    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


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

    max_iterations: int = 100
    usd: float | None = 10.0
    usd_per_day: float | None = None
    tokens: int | None = None
    deadline_s: float | None = None
    queries: int | None = None
    sources: int | None = None
    max_failures: int = 5
    answer: AnswerReserve = AnswerReserve()

    @property
    def microusd(self) -> int | None:
        """`usd` in millionths."""
        return None if self.usd is None else microusd(self.usd)

    @property
    def kept(self) -> Amount:
        """What only the final answer may spend."""
        return Amount(microusd(self.answer.usd), self.answer.tokens)


def limits_of(
    known: Limits | None = None,
    *,
    max_iterations: int | None = None,
    budget_usd: float | None = None,
    max_tokens: int | None = None,
    deadline: float | None = None,
    max_failures: int | None = None,
) -> Limits:
    """Build limits of what a person gives by these names; None for those of ``known``, or the defaults."""
    given = {
        "max_iterations": max_iterations,
        "usd": budget_usd,
        "tokens": max_tokens,
        "deadline_s": deadline,
        "max_failures": max_failures,
    }
    changes = {name: value for name, value in given.items() if value is not None}
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
        A limit is of another type, negative, infinite, too large or smaller than the reserve for the answer.
    """
    try:
        msgspec.convert(msgspec.to_builtins(limits), Limits)
    except msgspec.ValidationError as error:
        raise UsageError(f"limits: {error}") from error
    for name, value in _numbers(limits):
        if not isfinite(value) or value < 0:
            raise UsageError(f"limit {name} must be a number of at least 0, not {value}")
        if value > _LARGEST:
            raise UsageError(f"limit {name} must be at most {_LARGEST:,}; use None for no limit")
    if limits.max_iterations < 1 or limits.max_failures < 1:
        raise UsageError("limits max_iterations and max_failures must be at least 1")
    kept = limits.answer
    for name, total, part in (
        ("usd", limits.usd, kept.usd),
        ("usd_per_day", limits.usd_per_day, kept.usd),
        ("tokens", limits.tokens, kept.tokens),
        ("deadline_s", limits.deadline_s, kept.seconds),
    ):
        if total is not None and part > total:
            raise UsageError(f"the reserve for the answer, {part}, is larger than the limit {name}, {total}")


def tighter(first: Limits, other: Limits) -> Limits:
    """Return the smaller of each limit; None is the largest. The smaller reserve fits both."""
    smaller: Limits = _smaller(first, other)
    return smaller


def _smaller(first: Any, other: Any) -> Any:
    if isinstance(first, msgspec.Struct):
        names = first.__struct_fields__
        return type(first)(**{name: _smaller(getattr(first, name), getattr(other, name)) for name in names})
    return min((limit for limit in (first, other) if limit is not None), default=None)


def _numbers(limits: Limits) -> list[tuple[str, float]]:
    kept = {f"answer.{name}": value for name, value in msgspec.structs.asdict(limits.answer).items()}
    fields = msgspec.structs.asdict(limits) | kept
    return [(name, value) for name, value in fields.items() if isinstance(value, int | float)]
