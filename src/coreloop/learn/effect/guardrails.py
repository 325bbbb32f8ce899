"""What else a change may have done: to requests, to all failures of the tool, and to tools beside it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from coreloop.base.text import printable
from coreloop.learn.effect.tool_days import Log

SHARED_CASES: Final = 0.05
"""Share of a tool's cases that also call the changed tool, above which it shares its questions."""
LOST: Final = "requests lost"
_Z: Final = 1.96  # of a two-sided 95 % interval
_LEAST_DAYS: Final = 7
"""Days of a period below which the spread between days says nothing."""
_LEAST_TOOL_DAYS: Final = 3  # as many as `hurts` needs, which other tools may contradict
_MAX_NEIGHBOURS: Final = 5


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A share before and after, and the 95 % interval of its change, by the spread between days.

    Attributes
    ----------
    name : str
        The tool whose calls fail, or ``requests lost``.
    """

    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether it surely rose."""
        return self.low > 0

    @property
    def is_tool(self) -> bool:
        """Whether it is the failing share of a tool."""
        return self.name != LOST

    @property
    def sentence(self) -> str:
        """Its name with the figures."""
        name = f"failed calls of {printable(self.name)}" if self.is_tool else self.name
        return f"{name} {self.before:.1%} before, {self.after:.1%} after"


def find_guardrails(
    log: Log, tool: str, near: Collection[str], before: Collection[int], after: Collection[int]
) -> tuple[Guardrail, ...]:
    """Compare before and after: requests, and the failures of the tool and of its `neighbours` ``near``.

    Of these, those that rose most come first.
    """
    periods = (before, after)
    lost = _compare(LOST, log[tool].requests, periods, _LEAST_DAYS)
    of_tool, *others = (
        _compare(name, log[name].by_day(), periods, _LEAST_TOOL_DAYS) for name in (tool, *near)
    )
    beside = sorted((rail for rail in others if rail is not None), key=lambda rail: (-rail.low, rail.name))
    return tuple(rail for rail in (lost, of_tool, *beside[:_MAX_NEIGHBOURS]) if rail is not None)


def neighbours(log: Log, tool: str, days: Collection[int]) -> frozenset[str]:
    """The tools so many of whose cases call this tool that a change could carry over."""
    own = log[tool].cases(days)
    others = ((name, log[name].cases(days)) for name in log if name != tool)
    return frozenset(name for name, cases in others if len(cases & own) > SHARED_CASES * len(cases))


def _compare(
    name: str, days: Mapping[int, tuple[int, int]], periods: Sequence[Collection[int]], least_days: int
) -> Guardrail | None:
    """Compare a share of sums; None with too few days."""
    counted = [[days[day] for day in period if day in days and days[day][0]] for period in periods]
    if min(map(len, counted)) < least_days:
        return None
    (old, old_variance), (new, new_variance) = map(_share, counted)
    half = _Z * sqrt(old_variance + new_variance)
    return Guardrail(name, old, new, new - old - half, new - old + half)


def _share(days: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """A share of sums, and its variance with days as clusters (Taylor)."""
    total, failed = (sum(part) for part in zip(*days, strict=True))
    share = failed / total
    spread = sum((part - share * n) ** 2 for n, part in days)
    return share, spread / total**2 * len(days) / (len(days) - 1)
