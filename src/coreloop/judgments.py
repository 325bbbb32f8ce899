"""Human verdicts: ``judgments/YYYY-MM-DD.jsonl``, and what the newest ones say.

They lie over records and candidates, which are never rewritten.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from coreloop import jsonl

_SCHEMA_VERSION: Final = 1


class Verdict(StrEnum):
    """P pass and T tolerable speak for a thing, C caveat and V violation against it."""

    PASS = "P"
    TOLERABLE = "T"
    CAVEAT = "C"
    VIOLATION = "V"

    @property
    def passes(self) -> bool:
        return self in {Verdict.PASS, Verdict.TOLERABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One line: who said what about which thing, when and why.

    Attributes
    ----------
    id : str
        Of a request, a candidate or a counterexample.
    key : str or None
        Of the candidate or counterexample, the same on every night; None for a request.
    """

    schema_version: int = _SCHEMA_VERSION
    id: str
    key: str | None
    verdict: Verdict
    cause: str | None
    judged_at: datetime
    judged_by: str

    @property
    def thing(self) -> str:
        """What the verdict is about, whatever its id was on that night."""
        return self.id if self.key is None else self.key


@dataclass(frozen=True, slots=True)
class Judgments:
    """All verdicts that were ever given.

    Attributes
    ----------
    given : tuple of Judgment
        By time, then by their order in the files.
    skipped : dict of str to int
        Lines that cannot be read, by reason.
    """

    given: tuple[Judgment, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def newest(self) -> dict[str, Judgment]:
        """The verdict that counts, by thing: a request's id, a candidate's or counterexample's key."""
        return {one.thing: one for one in self.given}

    def of_requests(self) -> dict[str, str]:
        """Request id -> P, T, C or V, for `coreloop.mine.rollup.MineSettings`."""
        return {one.id: str(one.verdict) for one in self.newest().values() if one.key is None}

    def rejected(self) -> frozenset[str]:
        """Keys that are not proposed again, until somebody gives them a P or a T."""
        newest = self.newest().values()
        return frozenset(one.key for one in newest if one.key is not None and not one.verdict.passes)

    def disagreements(self) -> list[tuple[Judgment, Judgment]]:
        """The newest verdict and the newest one of anybody else, where one passes and the other does not."""
        newest = self.newest()
        others = {one.thing: one for one in self.given if one.judged_by != newest[one.thing].judged_by}
        pairs = [(newest[thing], other) for thing, other in others.items()]
        return [(one, other) for one, other in pairs if one.verdict.passes != other.verdict.passes]


def append_judgment(folder: Path, judgment: Judgment) -> Path:
    """Append a verdict to the file of its UTC day.

    Parameters
    ----------
    folder : Path
        Made where it is missing.
    judgment : Judgment
        Its time is UTC; its texts are such as UTF-8 can hold.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    path = folder / f"{judgment.judged_at.date()}.jsonl"
    jsonl.append(path, judgment)
    return path


def read_judgments(folder: Path) -> Judgments:
    """Read every verdict of a folder; none where there is no folder.

    Raises
    ------
    WorkspaceError
        A file cannot be read, or a line is of a newer version: what it says would silently be lost.
    """
    given: list[Judgment] = []
    skipped: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        lines = jsonl.read(path, Judgment, other="not a judgment", newest=_SCHEMA_VERSION)
        given += map(_with_zone, lines.values)
        skipped.update(lines.skipped)
    return Judgments(tuple(sorted(given, key=lambda judgment: judgment.judged_at)), dict(skipped))


def _with_zone(judgment: Judgment) -> Judgment:
    return replace(judgment, judged_at=jsonl.with_zone(judgment.judged_at))
