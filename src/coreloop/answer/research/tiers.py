"""How much work a research may take: the tiers, what a person asked for, and the limits of the run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Final

from coreloop.answer.models.contracts import Tier
from coreloop.answer.repair.actions import MAX_REPAIRS
from coreloop.base.errors import UsageError
from coreloop.runs.limits import AnswerReserve, Limits

AT_ONCE: Final = 5
"""Queries of an iteration, which are executed at once."""
TOKEN_BUDGET: Final = 200_000
"""Of a run, unless another is set."""
_ANSWER_SHARE: Final = 0.2
"""Of time, tokens and money, for the answer."""
ASK_LIMITS: Final = Limits(max_iterations=1 + MAX_REPAIRS, tokens=60_000, deadline_s=120.0)
"""Of `ask`: its first attempt, and one after each repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOverrides:
    """The most that a research does, in all; None for what the tier says.

    Attributes
    ----------
    max_iters, max_queries, max_sources : int or None
        Iterations, executed queries, and sources read.
    max_execution_time_s : float or None
        Seconds of work, the answer's included.
    token_budget : int or None
        Tokens of the run; None for `TOKEN_BUDGET`.
    """

    max_iters: int | None = None
    max_queries: int | None = None
    max_sources: int | None = None
    max_execution_time_s: float | None = None
    token_budget: int | None = None

    def over(self, other: "LimitOverrides") -> "LimitOverrides":
        """Return these limits, and the other ones where these are None."""
        return replace(other, **{name: value for name, value in asdict(self).items() if value is not None})


TIERS: Final[Mapping[Tier, LimitOverrides]] = {
    "simple": LimitOverrides(max_iters=2, max_queries=3, max_sources=5, max_execution_time_s=60),
    "standard": LimitOverrides(max_iters=5, max_queries=10, max_sources=15, max_execution_time_s=90),
    "deep": LimitOverrides(max_iters=12, max_queries=40, max_sources=40, max_execution_time_s=120),
}


def environment_limits(environ: Mapping[str, str]) -> LimitOverrides:
    """Read ``RESEARCH_MAX_ITERS`` and so on, the names of `LimitOverrides` in capitals.

    Raises
    ------
    UsageError
        A value is not a whole number of at least 1; names the variable.
    """
    names = (field.name for field in fields(LimitOverrides))
    return LimitOverrides(**{name: _number(environ, f"RESEARCH_{name.upper()}") for name in names})


def run_limits(tier: Tier, overrides: LimitOverrides, *, exhaust: bool = False) -> Limits:
    """Build the limits of a run.

    Parameters
    ----------
    tier : str
        Whose totals apply where nothing was asked for.
    overrides : LimitOverrides
        What was asked for.
    exhaust : bool
        Only what was asked for, tokens, money and the default number of iterations limit the run.
    """
    totals = overrides if exhaust else overrides.over(TIERS[tier])
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


def _number(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text[:40]!r}")
    return int(text)
