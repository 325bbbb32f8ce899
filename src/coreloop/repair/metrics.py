"""Figures of answers and repairs, for the service's metrics and for people."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from coreloop.jobs.job import QueueFigures
from coreloop.repair.desk import RepairDesk


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairFigures:
    """What happened in a window.

    Attributes
    ----------
    answered_after : dict of int to int
        Supported answers by rounds of repair, 0 to 2.
    unanswered : int
        Questions without a supported answer.
    evidence : dict of str to int
        Sources that the last attempts were given, by where they come from.
    gates : dict of str to float
        Newest share of each gate, 0–1.
    feedback : dict of str to int
        ``up`` and ``down``.
    notice_s : float or None
        Seconds from a rejection to the other answer: the median; None for none.
    jobs : QueueFigures
        Of the queue.
    """

    answered_after: dict[int, int]
    unanswered: int
    evidence: dict[str, int]
    gates: dict[str, float]
    feedback: dict[str, int]
    notice_s: float | None
    jobs: QueueFigures

    @property
    def retry_rate(self) -> float:
        """Share of jobs that needed more than one attempt."""
        total = sum(self.jobs.by_status.values())
        return self.jobs.retried / total if total else 0.0


def read_figures(desk: RepairDesk, *, now: datetime, window: timedelta = timedelta(days=1)) -> RepairFigures:
    """Count the answers, gates, feedback and jobs of the window that ends now."""
    rows = desk.tables.answers(since=now - window)
    said = desk.tables.feedback_since(now - window)
    ended = {row.run_id: row.ended_at for row in rows}
    waits = sorted(
        (ended[one.mended_by] - one.created_at).total_seconds() for one in said if one.mended_by in ended
    )
    evidence = Counter[str]()
    for row in rows:
        evidence.update(row.found)
    newest = {gate: desk.tables.snapshots(gate)[:1] for gate in ("coverage", "io")}
    return RepairFigures(
        answered_after=dict(sorted(Counter(row.repairs for row in rows if row.is_supported).items())),
        unanswered=sum(not row.is_supported for row in rows),
        evidence=dict(evidence),
        gates={gate: one.share for gate, kept in newest.items() for one in kept},
        feedback=dict(Counter(one.kind for one in said)),
        notice_s=waits[len(waits) // 2] if waits else None,
        jobs=desk.queue.figures(),
    )
