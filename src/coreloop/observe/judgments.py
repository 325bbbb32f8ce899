"""Human verdicts on records and candidates, stored in ``judgments/YYYY-MM-DD.jsonl``.

Records and candidates are never rewritten; the newest verdict on each of them counts.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from coreloop.base.messages import number_of
from coreloop.observe import jsonl

# Who judged, of the verdicts that `coreloop.feedback` writes.
USER: Final = "user"


class VerdictLetter(StrEnum):
    """P (pass) and T (tolerable) are positive, C (caution) and V (violation) negative."""

    PASS = "P"
    TOLERABLE = "T"
    CAUTION = "C"
    VIOLATION = "V"

    @property
    def passes(self) -> bool:
        return self in {VerdictLetter.PASS, VerdictLetter.TOLERABLE}

    @property
    def named(self) -> str:
        """The letter with its word: ``C (caution)``."""
        return f"{self!s} ({self.name.lower()})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanVerdict:
    """A verdict with its subject, author, time and cause.

    Attributes
    ----------
    id : str
        Of a request, a candidate or a counterexample.
    key : str or None
        Stable key of the candidate or counterexample; None for a request.
    """

    schema_version: int = 1
    id: str
    key: str | None
    verdict: VerdictLetter
    cause: str | None
    judged_at: datetime
    judged_by: str

    @property
    def subject(self) -> str:
        """The request's id, or the stable key of the candidate or counterexample."""
        return self.id if self.key is None else self.key


@dataclass(frozen=True, slots=True)
class HumanVerdicts:
    """All verdicts.

    Attributes
    ----------
    given : tuple of HumanVerdict
        By time, then by their order in the files.
    skipped : dict of str to int
        Number of unreadable lines by reason.
    """

    given: tuple[HumanVerdict, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def newest(self) -> dict[str, HumanVerdict]:
        """Return the verdict that counts for each subject: a maintainer's, or else a user's; the newest."""
        by_weight = sorted(self.given, key=lambda judgment: judgment.judged_by != USER)
        return {judgment.subject: judgment for judgment in by_weight}

    def decided(self) -> frozenset[str]:
        """Return the subjects that a maintainer has judged."""
        return frozenset(judgment.subject for judgment in self.given if judgment.judged_by != USER)

    def of_requests(self) -> dict[str, str]:
        """Return request id -> P, T, C or V, for `coreloop.learn.facts.read_lines.MineSettings`."""
        newest = self.newest().values()
        return {judgment.id: str(judgment.verdict) for judgment in newest if judgment.key is None}

    def rejected(self) -> frozenset[str]:
        """Return the keys that are not proposed again until they get a P or a T."""
        newest = self.newest().values()
        return frozenset(its.key for its in newest if its.key is not None and not its.verdict.passes)

    def skipped_lines(self) -> list[str]:
        """Return how many lines were skipped, by reason."""
        reasons = sorted(self.skipped.items())
        return [f"{number_of(n, 'line')} of judgments skipped: {reason}" for reason, n in reasons]


def append_verdict(folder: Path, judgment: HumanVerdict) -> Path:
    """Append a verdict to the file of its UTC day.

    Parameters
    ----------
    folder : Path
        Created if absent.
    judgment : HumanVerdict
        Its time is UTC; its texts are valid UTF-8.

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


def take_back_verdict(folder: Path, judgment: HumanVerdict) -> bool:
    """Remove a verdict that was given by mistake; False if it is not there.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    return jsonl.take_back(folder / f"{judgment.judged_at.date()}.jsonl", judgment)


def read_verdicts(folder: Path) -> HumanVerdicts:
    """Read all verdicts of a folder, which may be absent.

    Raises
    ------
    WorkspaceError
        A file cannot be read.
    """
    given: list[HumanVerdict] = []
    skipped: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        lines = jsonl.read(path, HumanVerdict, other="not a judgment")
        given += [replace(item, judged_at=jsonl.with_zone(item.judged_at)) for item in lines.values]
        skipped.update(lines.skipped)
    return HumanVerdicts(tuple(sorted(given, key=lambda judgment: judgment.judged_at)), dict(skipped))
