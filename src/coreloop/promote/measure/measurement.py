"""A measurement: its verdict and numbers, as a person, a pull request and a file have them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import ndiff
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
    description : str
        What the model was sent for the tool, with the lines.
    others : mapping of str to str
        The other tools that it was sent, and hashes of their descriptions.
    wordings : mapping of str to float
        Of several wordings, the proposal's first: the share of right calls where one of them was chosen.
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
    description: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    wordings: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def named(cls, verdict: str, tool: str) -> "Measurement":
        """A measurement of which only the verdict is known, as the trailer of a commit names it."""
        return cls(
            ts=datetime.fromtimestamp(0, UTC),
            tool=tool,
            keys=(),
            lines=(),
            model="",
            verdict=MeasureVerdict(verdict),
            reason="measured when the branch was made",
        )

    @property
    def is_reworded(self) -> bool:
        """Whether another wording than the proposal's was chosen."""
        return bool(self.wordings) and next(iter(self.wordings)) not in self.lines

    @property
    def summary(self) -> str:
        """The verdict with its interval, for a pull request and its trailers."""
        if self.about is None:
            verdict = self.verdict
            return f"{verdict} ({self.why})" if self.reason else verdict
        return (
            f"{self.verdict} ({_points(self.about)}, {number_of(self.about.n, 'context')}"
            f"{f'; {self.why}' if self.reason else ''})"
        )

    @property
    def why(self) -> str:
        """The reason, as `Phrase` if it comes from a file too."""
        return self.reason

    @property
    def dated(self) -> str:
        """The verdict with its interval, the day and the model, for lists of proposals."""
        model = f" by {self.model}" if self.model else ""
        words = f", as “{self.lines[0].removeprefix('- ')}”" if self.is_reworded else ""
        return f"measured on {self.ts:%Y-%m-%d}{model}{words}: {self.summary}"

    def sentences(self) -> Iterator[str]:
        """What the numbers are, for people."""
        about, controls = self.about, self.controls
        if about is None:
            return
        yield (
            f"right next calls: {about.base:.0%} without the line, {about.edited:.0%} with it, "
            f"{_points(about)}; {number_of(about.n, 'context')} from "
            f"{number_of(about.n_cases, 'case')}"
        )
        if controls is None:
            yield "other tools: no recorded calls to ask"
        else:
            yield (
                "other tools: {points}, which excludes a loss of {margin:.0%}; {contexts}"
                if controls.excludes_harm
                else "other tools: {points}, which does not exclude a loss of {margin:.0%}; {contexts}"
            ).format(points=_points(controls), margin=MARGIN, contexts=number_of(controls.n, "context"))
        if self.gold is not None:
            yield f"told the right call outright: {self.gold:.0%} right in the first contexts"
        if self.wordings:
            shares = (f"{share:.0%} {line.removeprefix('- ')}" for line, share in self.wordings.items())
            yield f"wordings, on other contexts than the verdict's: {'; '.join(shares)}"
            if self.is_reworded and self.verdict is MeasureVerdict.HELPS:
                yield "promote writes this wording instead of the proposal's"
            elif self.is_reworded:
                yield "promote writes the proposal's wording, of which the verdict says nothing"
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

    A newer one of another wording counts only if it hurts: these words were no better where it was chosen.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    wanted, written = sorted(keys), sorted(lines)
    fitting = [
        item
        for item in _stored(path)
        if sorted(item.keys) == wanted
        and (sorted(item.lines) == written or item.verdict is MeasureVerdict.HURTS)
    ]
    return max(fitting, key=lambda item: item.ts, default=None)


def measurement_before(path: Path, now: Measurement) -> Measurement | None:
    """The newest measurement with a difference of lines of this tool that are among those of a new one.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    fitting = [
        item
        for item in _stored(path)
        if item.about is not None and item.keys and item.tool == now.tool and {*item.keys} <= {*now.keys}
    ]
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


def fall(before: Measurement | None, now: Measurement) -> str | None:
    """Say that lines do less for a model than they did; None if that is not certain.

    Both intervals must lie apart, which two of 95 % do by chance in one of 200 comparisons.
    """
    if before is None or before.about is None or now.about is None or now.about.high >= before.about.low:
        return None
    return f"{_points(before.about)} on {before.ts:%Y-%m-%d}, {_points(now.about)} now"


def changes_since(before: Measurement, now: Measurement) -> list[str]:
    """What changed between two measurements: the model, the description's lines, the other tools."""
    old, new = before.description.splitlines(), now.description.splitlines()
    names = sorted({*before.others, *now.others})
    others = [name for name in names if before.others.get(name) != now.others.get(name)]
    changed = list[str]()
    if before.model != now.model:
        changed.append(f"the model: {before.model}, now {now.model}")
    changed += [f"the description: {line}" for line in ndiff(old, new) if line.startswith(("- ", "+ "))]
    if others:
        changed.append(f"other tools: {', '.join(others)}")
    return changed
