"""How much work a research may take: the tiers, what a person asked for, and the limits of the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from coreloop.answer.models.contracts import Tier
from coreloop.base.errors import UsageError
from coreloop.runs.limits import AnswerReserve, Limits

_T = TypeVar("_T")
AT_ONCE: Final = 5
"""Queries of an iteration, which are executed at once."""
TOKEN_BUDGET: Final = 200_000
"""Of a run, unless another is set."""
_ANSWER_SHARE: Final = 0.2
"""Of time, tokens and money, for the answer."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The most that a research does, in all.

    Attributes
    ----------
    max_iters, max_queries, max_sources : int
        Iterations, executed queries, and sources read.
    max_execution_time_s : float
        Seconds of work, the answer's included.
    """

    max_iters: int
    max_queries: int
    max_sources: int
    max_execution_time_s: float


TIERS: Final[Mapping[Tier, Effort]] = {
    "simple": Effort(2, 3, 5, 60),
    "standard": Effort(5, 10, 15, 90),
    "deep": Effort(12, 40, 40, 120),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a person asked for; None for what the tier says.

    Attributes
    ----------
    max_iters, max_queries, max_sources, max_execution_time_s
        As in `Effort`.
    token_budget : int or None
        Tokens of the run; None for `TOKEN_BUDGET`.
    """

    max_iters: int | None = None
    max_queries: int | None = None
    max_sources: int | None = None
    max_execution_time_s: float | None = None
    token_budget: int | None = None

    def over(self, other: "Wishes") -> "Wishes":
        """Return these wishes, and the other ones where these are None."""
        return Wishes(
            max_iters=_first(self.max_iters, other.max_iters),
            max_queries=_first(self.max_queries, other.max_queries),
            max_sources=_first(self.max_sources, other.max_sources),
            max_execution_time_s=_first(self.max_execution_time_s, other.max_execution_time_s),
            token_budget=_first(self.token_budget, other.token_budget),
        )


_NAMES: Final = ("max_iters", "max_queries", "max_sources", "max_execution_time_s", "token_budget")


def environment_wishes(environ: Mapping[str, str]) -> Wishes:
    """Read ``RESEARCH_MAX_ITERS`` and so on, the names of `Wishes` in capitals.

    Raises
    ------
    UsageError
        A value is not a whole number of at least 1; names the variable.
    """
    return Wishes(**{name: _number(environ, f"RESEARCH_{name.upper()}") for name in _NAMES})


def run_limits(tier: Tier, wishes: Wishes, *, exhaust: bool = False) -> Limits:
    """Build the limits of a run.

    Parameters
    ----------
    tier : str
        Whose totals apply where nothing was asked for.
    wishes : Wishes
        What was asked for.
    exhaust : bool
        Only what was asked for, tokens, money and the default number of iterations limit the run.
    """
    totals = wishes if exhaust else wishes.over(_tier_wishes(tier))
    default, tokens = Limits(), totals.token_budget or TOKEN_BUDGET
    return Limits(
        max_iterations=totals.max_iters or default.max_iterations,
        queries=totals.max_queries,
        sources=totals.max_sources,
        deadline_s=totals.max_execution_time_s,
        tokens=tokens,
        answer=AnswerReserve(
            usd=(default.usd or 0) * _ANSWER_SHARE,
            tokens=round(tokens * _ANSWER_SHARE),
            seconds=(totals.max_execution_time_s or 0) * _ANSWER_SHARE,
        ),
    )


def _tier_wishes(tier: Tier) -> Wishes:
    effort = TIERS[tier]
    return Wishes(
        max_iters=effort.max_iters,
        max_queries=effort.max_queries,
        max_sources=effort.max_sources,
        max_execution_time_s=effort.max_execution_time_s,
    )


def _first(value: _T | None, otherwise: _T | None) -> _T | None:
    return otherwise if value is None else value


def _number(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text[:40]!r}")
    return int(text)
