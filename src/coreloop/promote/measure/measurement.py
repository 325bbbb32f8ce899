"""A measurement: its verdict and numbers, as a person, a pull request and a file have them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.base import jsonl
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.promote.measure.verdict import MARGIN, Difference, MeasureVerdict


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


def keep(workspace: Workspace, measurement: Measurement) -> None:
    """Append a measurement to the project's file of them.

    Raises
    ------
    WorkspaceError
        The file cannot be written.
    """
    jsonl.append(workspace.measured_file, measurement)


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
