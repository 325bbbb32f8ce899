"""Reader of ``dropped.jsonl``, which counts the records that collectors could not write.

`coreloop.observe.journal` writes it without this model, to keep the decoder out of the collector's imports.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.base import jsonl


@dataclass(frozen=True, slots=True)
class DroppedRecords:
    """One line: how many records were dropped, and why."""

    ts: datetime
    reason: str
    n: int


def read_dropped(path: Path, *, since: datetime) -> dict[str, int]:
    """Count the records that could not be written since a time.

    Parameters
    ----------
    path : Path
        May be absent; unreadable lines are skipped.
    since : datetime
        With a zone.

    Returns
    -------
    dict of str to int
        By reason, the most frequent first.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    if not path.exists():
        return {}
    counts: Counter[str] = Counter()
    for line in jsonl.read(path, DroppedRecords, other="not a count").values:
        if jsonl.with_zone(line.ts) >= since:
            counts[line.reason] += line.n
    return dict(counts.most_common())
