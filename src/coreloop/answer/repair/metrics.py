"""Metrics of answers and repairs, for the service's metrics and for people."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coreloop.answer.deps import Deps
from coreloop.answer.repair.tables import AnswerRow, Feedback
from coreloop.runs.jobs.job import QueueMetrics
from coreloop.runs.stores.accounts import utc_day


@dataclass(frozen=True, slots=True, kw_only=True)
class DayMetrics:
    """What happened on a day (UTC).

    Attributes
    ----------
    day : str
        ISO date.
    answered, unanswered : int
        Questions with a supported answer, and those without.
    evidence : dict of str to int
        As `RepairMetrics` has it.
    feedback : dict of str to int
        ``up`` and ``down``.
    notice_s : float or None
        As `RepairMetrics` has it, of the day's rejections.
    """

    day: str
    answered: int
    unanswered: int
    evidence: dict[str, int]
    feedback: dict[str, int]
    notice_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMetrics:
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
    jobs : QueueMetrics
        Of the queue.
    """

    answered_after: dict[int, int]
    unanswered: int
    evidence: dict[str, int]
    gates: dict[str, float]
    feedback: dict[str, int]
    notice_s: float | None
    jobs: QueueMetrics

    @property
    def retry_rate(self) -> float:
        """Share of jobs that needed more than one attempt."""
        total = sum(self.jobs.by_status.values())
        return self.jobs.retried / total if total else 0.0


def read_metrics(deps: Deps, *, now: datetime, window: timedelta = timedelta(days=1)) -> RepairMetrics:
    """Count the answers, gates, feedback and jobs of the window that ends now."""
    rows = deps.tables.answers(since=now - window)
    ratings = deps.tables.feedback_since(now - window)
    newest = {gate: deps.tables.snapshots(gate)[:1] for gate in ("coverage", "io")}
    return RepairMetrics(
        answered_after=dict(sorted(Counter(row.repairs for row in rows if row.is_supported).items())),
        unanswered=sum(not row.is_supported for row in rows),
        evidence=_evidence(rows),
        gates={gate: snapshot.share for gate, kept in newest.items() for snapshot in kept},
        feedback=dict(Counter(rating.kind for rating in ratings)),
        notice_s=_notice_s(ratings, rows),
        jobs=deps.queue.metrics(),
    )


def read_days(deps: Deps, *, now: datetime, days: int = 30) -> list[DayMetrics]:
    """Count by day what happened in so many days, the newest first; days without anything are left out."""
    since = now - timedelta(days=days)
    rows, ratings = deps.tables.answers(since=since), deps.tables.feedback_since(since)
    seen = {utc_day(row.ended_at) for row in rows} | {utc_day(rating.created_at) for rating in ratings}
    return [_metrics_of(day, rows, ratings) for day in sorted(seen, reverse=True)]


def _metrics_of(day: str, rows: Sequence[AnswerRow], ratings: Sequence[Feedback]) -> DayMetrics:
    ended = [row for row in rows if utc_day(row.ended_at) == day]
    given = [rating for rating in ratings if utc_day(rating.created_at) == day]
    supported = sum(row.is_supported for row in ended)
    return DayMetrics(
        day=day,
        answered=supported,
        unanswered=len(ended) - supported,
        evidence=_evidence(ended),
        feedback=dict(Counter(rating.kind for rating in given)),
        notice_s=_notice_s(given, rows),
    )


def _evidence(rows: Iterable[AnswerRow]) -> dict[str, int]:
    evidence = Counter[str]()
    for row in rows:
        evidence.update(row.found)
    return dict(evidence)


def _notice_s(ratings: Iterable[Feedback], rows: Iterable[AnswerRow]) -> float | None:
    ended = {row.run_id: row.ended_at for row in rows}
    waits = sorted(
        (ended[rating.mended_by] - rating.created_at).total_seconds()
        for rating in ratings
        if rating.mended_by in ended
    )
    return waits[len(waits) // 2] if waits else None
