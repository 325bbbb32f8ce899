"""``reach.jsonl``: results of the reach checks of ``promote --confirm``, read by ``status``."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.base import jsonl


@dataclass(frozen=True, slots=True)
class ReachOutcome:
    """A line: whether the text of a candidate reached the model, according to a run of ``promote``."""

    ts: datetime
    key: str
    ok: bool


def append_reach(path: Path, outcome: ReachOutcome) -> None:
    """Append the outcome of a reach check.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    jsonl.append(path, outcome)


def read_reaches(path: Path, *, since: datetime) -> dict[str, bool]:
    """Read the newest check of each candidate.

    Parameters
    ----------
    path : Path
        May be absent; unreadable lines are skipped.
    since : datetime
        Time zone aware.

    Returns
    -------
    dict of str to bool
        Candidate key -> whether the newest check since then passed.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    if not path.exists():
        return {}
    outcomes = jsonl.read(path, ReachOutcome, other="not an outcome").values
    return {outcome.key: outcome.ok for outcome in outcomes if jsonl.with_zone(outcome.ts) >= since}
