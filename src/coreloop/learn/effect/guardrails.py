"""What else a change may have done: to requests, and to the tools whose calls share its questions."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from coreloop.base.messages import Phrase
from coreloop.base.text import printable
from coreloop.learn.effect.tool_days import Log, ToolLog

SHARED_CASES: Final = 0.05
"""Share of a tool's cases that also call the changed tool, above which it shares its questions."""
_LOST: Final = "requests lost"
_Z: Final = 1.96  # of a two-sided 95 % interval
_LEAST_DAYS: Final = 7
"""Days of a period below which the spread between days says nothing."""
_MAX_NEIGHBOURS: Final = 5


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A figure before and after, and the 95 % interval of its change, by the spread between days.

    Attributes
    ----------
    name : str
        What it is, such as ``requests lost``; for a neighbour, the tool's name.
    is_share : bool
        Whether it is a share, 0 to 1.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    is_share: bool

    @property
    def is_worse(self) -> bool:
        """Whether it surely rose; all of these are better when they are smaller."""
        return self.low > 0

    @property
    def is_tool(self) -> bool:
        """Whether it is the failing share of a neighbour."""
        return self.is_share and self.name != _LOST

    @property
    def sentence(self) -> str:
        """Its name with the figures."""
        name = f"failed calls of {printable(self.name)}" if self.is_tool else self.name
        figures = {"name": name, "before": self.before, "after": self.after}
        if self.is_share:
            return Phrase("{name} {before:.1%} before, {after:.1%} after", **figures)
        return Phrase("{name} {before:.2f} before, {after:.2f} after", **figures)


def find_guardrails(
    log: Log, tool: str, near: Collection[str], before: Collection[int], after: Collection[int]
) -> tuple[Guardrail, ...]:
    """Compare what surrounds a tool's calls before and after; ``near`` are its `neighbours`."""
    return tuple(
        filter(None, [*_of_requests(log[tool], before, after), *_of_neighbours(log, near, before, after)])
    )


def neighbours(log: Log, tool: str, days: Collection[int]) -> frozenset[str]:
    """The tools so many of whose cases call this tool that a change could carry over."""
    own = log[tool].cases(days)
    others = ((name, log[name].cases(days)) for name in log if name != tool)
    return frozenset(name for name, cases in others if len(cases & own) > SHARED_CASES * len(cases))


def _of_requests(log: ToolLog, before: Collection[int], after: Collection[int]) -> Iterator[Guardrail | None]:
    sums = {day: log.requests[day] for day in (*before, *after) if day in log.requests}
    lost = {day: (float(part.n_lost), float(part.n_counted)) for day, part in sums.items()}
    calls = {day: (float(part.n_calls), float(part.n)) for day, part in sums.items()}
    seconds = {day: (part.seconds, float(part.n_timed)) for day, part in sums.items()}
    yield _compare(_LOST, lost, before, after, is_share=True)
    yield _compare("calls a request", calls, before, after, is_share=False)
    tokens = {day: (float(part.tokens), float(part.n_metered)) for day, part in sums.items()}
    yield _compare("tokens a request", tokens, before, after, is_share=False)
    yield _compare("seconds a request", seconds, before, after, is_share=False)


def _of_neighbours(
    log: Log, near: Collection[str], before: Collection[int], after: Collection[int]
) -> Iterator[Guardrail]:
    """Failures of the tools whose calls share its questions, those that rose most first."""
    compared = []
    for other in near:
        calls = log[other].calls
        counts = {
            day: (
                float(sum(row[1] for row in calls[day].values())),
                float(sum(row[0] for row in calls[day].values())),
            )
            for day in (*before, *after)
            if day in calls
        }
        compared.append(_compare(other, counts, before, after, is_share=True))
    rails = [rail for rail in compared if rail is not None]
    yield from sorted(rails, key=lambda rail: (-rail.low, rail.name))[:_MAX_NEIGHBOURS]


def _compare(
    name: str,
    days: dict[int, tuple[float, float]],
    before: Collection[int],
    after: Collection[int],
    *,
    is_share: bool,
) -> Guardrail | None:
    """Compare a ratio of sums; None with too few days."""
    periods = [[days[day] for day in period if days.get(day, (0, 0))[1]] for period in (before, after)]
    if min(map(len, periods)) < _LEAST_DAYS:
        return None
    (old, old_variance), (new, new_variance) = map(_ratio, periods)
    half = _Z * sqrt(old_variance + new_variance)
    return Guardrail(name, old, new, new - old - half, new - old + half, is_share)


def _ratio(days: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A ratio of sums, and its variance with days as clusters (Taylor)."""
    total, weight = (sum(part) for part in zip(*days, strict=True))
    ratio = total / weight
    spread = sum((value - ratio * n) ** 2 for value, n in days)
    return ratio, spread / weight**2 * len(days) / (len(days) - 1)
