"""A measurement: its verdict and numbers, as a person, a pull request and a file have them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import ndiff
from pathlib import Path

from coreloop.base import jsonl
from coreloop.base.messages import Phrase, number_of
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
            reason=Phrase("measured when the branch was made"),
        )

    @property
    def is_reworded(self) -> bool:
        """Whether another wording than the proposal's was chosen."""
        return bool(self.wordings) and next(iter(self.wordings)) not in self.lines

    @property
    def summary(self) -> Phrase:
        """The verdict with its interval, for a pull request and its trailers."""
        if self.about is None:
            verdict = Phrase(self.verdict)
            return Phrase("{verdict} ({why})", verdict=verdict, why=self.why) if self.reason else verdict
        return Phrase(
            "{verdict} ({points}, {contexts}{more})",
            verdict=Phrase(self.verdict),
            points=_points(self.about),
            contexts=number_of(self.about.n, "context"),
            more=Phrase("; {why}", why=self.why) if self.reason else "",
        )

    @property
    def why(self) -> Phrase:
        """The reason, as `Phrase` if it comes from a file too."""
        return self.reason if isinstance(self.reason, Phrase) else Phrase(self.reason)

    @property
    def dated(self) -> Phrase:
        """The verdict with its interval, the day and the model, for lists of proposals."""
        model = Phrase(" by {model}", model=self.model) if self.model else ""
        words = Phrase(", as “{line}”", line=self.lines[0].removeprefix("- ")) if self.is_reworded else ""
        return Phrase(
            "measured on {ts:%Y-%m-%d}{model}{words}: {summary}",
            ts=self.ts,
            model=model,
            words=words,
            summary=self.summary,
        )

    def sentences(self) -> Iterator[Phrase]:
        """What the numbers are, for people."""
        about, controls = self.about, self.controls
        if about is None:
            return
        yield Phrase(
            "right next calls: {base:.0%} without the line, {edited:.0%} with it, {points}; "
            "{contexts} from {cases}",
            base=about.base,
            edited=about.edited,
            points=_points(about),
            contexts=number_of(about.n, "context"),
            cases=number_of(about.n_cases, "case"),
        )
        if controls is None:
            yield Phrase("other tools: no recorded calls to ask")
        else:
            yield Phrase(
                "other tools: {points}, which excludes a loss of {margin:.0%}; {contexts}"
                if controls.excludes_harm
                else "other tools: {points}, which does not exclude a loss of {margin:.0%}; {contexts}",
                points=_points(controls),
                margin=MARGIN,
                contexts=number_of(controls.n, "context"),
            )
        if self.gold is not None:
            yield Phrase(
                "told the right call outright: {gold:.0%} right in the first contexts", gold=self.gold
            )
        if self.wordings:
            shares = (f"{share:.0%} {line.removeprefix('- ')}" for line, share in self.wordings.items())
            yield Phrase("wordings, on other contexts than the verdict's: {shares}", shares="; ".join(shares))
            if self.is_reworded and self.verdict is MeasureVerdict.HELPS:
                yield Phrase("promote writes this wording instead of the proposal's")
            elif self.is_reworded:
                yield Phrase("promote writes the proposal's wording, of which the verdict says nothing")
        yield Phrase(
            "this is what {model} does with the description, not what the whole agent does", model=self.model
        )


def _points(difference: Difference) -> Phrase:
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return Phrase(
        "{mean:+.0f} points, 95 % interval {low:+.0f} to {high:+.0f}", mean=mean, low=low, high=high
    )


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


def fall(before: Measurement | None, now: Measurement) -> Phrase | None:
    """Say that lines do less for a model than they did; None if that is not certain.

    Both intervals must lie apart, which two of 95 % do by chance in one of 200 comparisons.
    """
    if before is None or before.about is None or now.about is None or now.about.high >= before.about.low:
        return None
    return Phrase(
        "{before} on {ts:%Y-%m-%d}, {now} now",
        before=_points(before.about),
        ts=before.ts,
        now=_points(now.about),
    )


def changes_since(before: Measurement, now: Measurement) -> list[Phrase]:
    """What changed between two measurements: the model, the description's lines, the other tools."""
    old, new = before.description.splitlines(), now.description.splitlines()
    names = sorted({*before.others, *now.others})
    others = [name for name in names if before.others.get(name) != now.others.get(name)]
    changed = list[Phrase]()
    if before.model != now.model:
        changed.append(Phrase("the model: {before}, now {now}", before=before.model, now=now.model))
    changed += [
        Phrase("the description: {line}", line=line)
        for line in ndiff(old, new)
        if line.startswith(("- ", "+ "))
    ]
    if others:
        changed.append(Phrase("other tools: {names}", names=", ".join(others)))
    return changed
