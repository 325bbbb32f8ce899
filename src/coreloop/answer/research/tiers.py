"""How much work a research may take: the tiers, what a person asked for, and the limits of the run."""

from collections.abc import Mapping
from typing import Any, Final

from coreloop.answer.models.contracts import Tier
from coreloop.answer.repair.actions import MAX_REPAIRS
from coreloop.base.errors import UsageError
from coreloop.runs.limits import AnswerReserve, Limits

AT_ONCE: Final = 5  # queries of an iteration, which are executed at once
TOKEN_BUDGET: Final = 200_000  # of a run, unless another is set
_ANSWER_SHARE: Final = 0.2  # of time, tokens and money, for the answer
# Of `ask`: its first attempt, and one after each repair.
ASK_LIMITS: Final = Limits(max_iterations=1 + MAX_REPAIRS, tokens=60_000, deadline_s=120.0)


# Totals that a person asked for by their names, those of a tier; None for what the tier says.
Wishes = Mapping[str, int | float | None]
TIERS: Final[Mapping[Tier, Mapping[str, int]]] = {
    "simple": {"max_iters": 2, "max_queries": 3, "max_sources": 5, "max_execution_time_s": 60},
    "standard": {"max_iters": 5, "max_queries": 10, "max_sources": 15, "max_execution_time_s": 90},
    "deep": {"max_iters": 12, "max_queries": 40, "max_sources": 40, "max_execution_time_s": 120},
}
# What a person can ask for: iterations, executed queries, sources read, seconds of work, tokens.
NAMES: Final = (*TIERS["simple"], "token_budget")


def environment_wishes(environ: Mapping[str, str]) -> Wishes:
    """Read ``RESEARCH_MAX_ITERS`` and so on, `NAMES` in capitals.

    Raises
    ------
    UsageError
        A value is not a whole number of at least 1; names the variable.
    """
    return {name: _number(environ, f"RESEARCH_{name.upper()}") for name in NAMES}


def run_limits(tier: Tier, wishes: Wishes, *, exhaust: bool = False) -> Limits:
    """Build the limits of a run.

    Parameters
    ----------
    tier : str
        Whose totals apply where nothing was asked for.
    wishes : mapping of str to float
        What was asked for, by `NAMES`.
    exhaust : bool
        Only what was asked for, tokens, money and the default number of iterations limit the run.
    """
    default = Limits()
    totals: dict[str, Any] = {
        "max_iters": default.max_iterations,
        "token_budget": TOKEN_BUDGET,
        **({} if exhaust else TIERS[tier]),
        **{name: value for name, value in wishes.items() if value is not None},
    }
    seconds = totals.get("max_execution_time_s")
    return Limits(
        max_iterations=totals["max_iters"],
        queries=totals.get("max_queries"),
        sources=totals.get("max_sources"),
        deadline_s=seconds,
        tokens=totals["token_budget"],
        answer=AnswerReserve(
            usd=(default.usd or 0) * _ANSWER_SHARE,
            tokens=round(totals["token_budget"] * _ANSWER_SHARE),
            seconds=(seconds or 0) * _ANSWER_SHARE,
        ),
    )


def _number(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text[:40]!r}")
    return int(text)
