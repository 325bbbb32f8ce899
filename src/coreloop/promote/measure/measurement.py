"""A measurement: its verdict and numbers, as a person, a pull request and a file have them.

Paired answers of a model, without and with a line, become a difference, its interval and a verdict.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import ceil, inf, sqrt
from pathlib import Path
from typing import Final

from coreloop.base.messages import number_of
from coreloop.observe import jsonl

MARGIN: Final = 0.10
"""Points within which two descriptions count as equal, and the harm that controls exclude: about the
difference that 80 contexts can tell from none."""
NOTHING_TO_GAIN: Final = 0.95
"""Share of right calls without the line from which an improvement cannot be told from chance."""
WEAK: Final = 0.50
"""A model that is told the right call and makes it less often than this does not follow descriptions."""
_GOLD_GAIN: Final = 0.15
"""Smallest gain by which the stated answer must beat the plain description: three of the first 20 contexts,
since one or two come by chance."""
_Z: Final = 1.96  # two-sided 95 %
_PSEUDO: Final = 2
"""Pairs that Agresti and Min (2005) add, half a pair to each of the four outcomes."""


class MeasureVerdict(StrEnum):
    """What a line does to a model's next call."""

    HELPS = "helps"
    HURTS = "hurts"
    EQUIVALENT = "equivalent"
    NOT_KNOWN = "not known"
    NOTHING_TO_GAIN = "nothing to gain"
    TOO_WEAK = "model too weak"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Pair:
    """A context asked without and with the line: shares of right answers, 0 or 1 if asked once each."""

    case: str
    base: float
    edited: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of ``edited - base`` over contexts, and its 95 % interval; all shares.

    Attributes
    ----------
    n, n_cases : int
        Contexts, and the cases that they are from.
    """

    base: float
    edited: float
    low: float
    high: float
    n: int
    n_cases: int

    @property
    def mean(self) -> float:
        """The share of right calls that the line adds."""
        return self.edited - self.base

    @property
    def excludes_harm(self) -> bool:
        """Whether a loss of `MARGIN` is excluded; never where there is less than that to lose."""
        return self.low > -MARGIN and self.base >= MARGIN

    @property
    def n_missing(self) -> int:
        """About how many more contexts a verdict needs, if the difference stays what it is."""
        width = (self.high - self.low) / 2
        wanted = max(abs(self.mean), MARGIN - abs(self.mean))
        return max(1, ceil(self.n * ((width / wanted) ** 2 - 1)))


def compare_pairs(pairs: Sequence[Pair]) -> Difference:
    """Estimate a difference, with contexts as units and cases as clusters.

    The interval is that of Agresti and Min (Statistics in Medicine 24, 2005) for paired proportions, which
    holds with few contexts and where all pairs agree. Its variance is widened by the design effect of the
    cases, never narrowed, and by Student's distribution with a degree of freedom less than there are cases.

    Parameters
    ----------
    pairs : sequence of Pair
        At least one.
    """
    n = len(pairs)
    changes = [pair.edited - pair.base for pair in pairs]
    total, squares = sum(changes), sum(change * change for change in changes)
    padded = n + _PSEUDO
    variance = (squares + 1 - total * total / padded) / padded**2 * _design_effect(pairs)
    n_cases = len({pair.case for pair in pairs})
    centre, half = total / padded, _student(n_cases - 1) * sqrt(variance)
    return Difference(
        base=sum(pair.base for pair in pairs) / n,
        edited=sum(pair.edited for pair in pairs) / n,
        low=max(-1.0, centre - half),
        high=min(1.0, centre + half),
        n=n,
        n_cases=n_cases,
    )


def judge_model(base: Sequence[float], gold: Sequence[float]) -> MeasureVerdict | None:
    """Say why measuring cannot tell anything; None if it can.

    Parameters
    ----------
    base, gold : sequence of float
        Shares of right calls by context: with the description as it is, and with the answer stated outright
        (empty if no recorded call worked).
    """
    before = sum(base) / len(base)
    if before >= NOTHING_TO_GAIN:
        return MeasureVerdict.NOTHING_TO_GAIN
    if not gold:
        return None
    stated = sum(gold) / len(gold)
    is_low = max(before, stated) < WEAK
    return MeasureVerdict.TOO_WEAK if is_low and stated < before + _GOLD_GAIN else None


def judge_difference(difference: Difference) -> MeasureVerdict:
    """The verdict on a difference."""
    if difference.low > 0:
        return MeasureVerdict.HELPS
    if difference.high < 0:
        return MeasureVerdict.HURTS
    is_within = difference.low > -MARGIN and difference.high < MARGIN
    return MeasureVerdict.EQUIVALENT if is_within else MeasureVerdict.NOT_KNOWN


def _design_effect(pairs: Sequence[Pair]) -> float:
    """How much more the mean varies than with independent contexts; at least 1."""
    n, changes = len(pairs), [pair.edited - pair.base for pair in pairs]
    mean = sum(changes) / n
    by_case = defaultdict[str, float](float)
    for pair, change in zip(pairs, changes, strict=True):
        by_case[pair.case] += change - mean
    alone = sum((change - mean) ** 2 for change in changes)
    together = sum(value * value for value in by_case.values())
    return max(1.0, together / alone) if alone else 1.0


def _student(degrees: int) -> float:
    """The 97.5 % quantile of Student's distribution (Cornish and Fisher), within 1 % from 4 on."""
    if degrees < 1:
        return inf
    z, squared = _Z, _Z * _Z
    first = z * (squared + 1) / (4 * degrees)
    second = z * (5 * squared**2 + 16 * squared + 3) / (96 * degrees**2)
    return z + first + second


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a model does with the lines; the numbers are shares of right calls.

    Attributes
    ----------
    keys, lines : tuple of str
        The proposals, and their text.
    about, controls : Difference or None
        On contexts that the lines are about, and on those that they are not.
    gold : float or None
        With the right call stated outright, in the first contexts.
    reason : str
        Why there is no verdict of ``helps``, ``hurts`` or ``equivalent``; empty if there is.
    """

    ts: datetime
    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    model: str
    verdict: MeasureVerdict
    about: Difference | None = None
    controls: Difference | None = None
    gold: float | None = None
    reason: str = ""

    @property
    def summary(self) -> str:
        """The verdict with its interval, for a pull request and its trailers."""
        if self.about is None:
            return f"{self.verdict} ({self.reason})" if self.reason else self.verdict
        reason = f"; {self.reason}" if self.reason else ""
        return f"{self.verdict} ({_points(self.about)}, {number_of(self.about.n, 'context')}{reason})"

    @property
    def dated(self) -> str:
        """The verdict with its interval, the day and the model, for lists of proposals."""
        model = f" by {self.model}" if self.model else ""
        return f"measured on {self.ts:%Y-%m-%d}{model}: {self.summary}"

    def sentences(self) -> Iterator[str]:
        """What the numbers are, for people."""
        about, controls = self.about, self.controls
        if about is None:
            return
        yield (
            f"right next calls: {about.base:.0%} without the line, {about.edited:.0%} with it, "
            f"{_points(about)}; {number_of(about.n, 'context')} from {number_of(about.n_cases, 'case')}"
        )
        if controls is None:
            yield "other tools: no recorded calls to ask"
        else:
            excludes = "excludes" if controls.excludes_harm else "does not exclude"
            yield (
                f"other tools: {_points(controls)}, which {excludes} a loss of {MARGIN:.0%}; "
                f"{number_of(controls.n, 'context')}"
            )
        if self.gold is not None:
            yield f"told the right call outright: {self.gold:.0%} right in the first contexts"
        yield f"this is what {self.model} does with the description, not what the whole agent does"


def _points(difference: Difference) -> str:
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.0f} points, 95 % interval {low:+.0f} to {high:+.0f}"


def newest_measurement(path: Path, keys: Iterable[str], lines: Iterable[str]) -> Measurement | None:
    """The newest measurement of exactly these proposals in these words; None if there is none.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    wanted = sorted(keys), sorted(lines)
    fitting = (item for item in _stored(path) if (sorted(item.keys), sorted(item.lines)) == wanted)
    return max(fitting, key=lambda item: item.ts, default=None)


def newest_by_key(path: Path) -> dict[str, Measurement]:
    """The newest measurement of each proposal that was measured alone.

    Lines that were measured together say nothing about one of them.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    alone = (item for item in _stored(path) if len(item.keys) == 1)
    return {item.keys[0]: item for item in sorted(alone, key=lambda item: item.ts)}


def _stored(path: Path) -> Sequence[Measurement]:
    return jsonl.read(path, Measurement, other="not a measurement").values if path.exists() else ()
