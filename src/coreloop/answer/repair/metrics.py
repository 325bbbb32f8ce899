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
    """What happened on a day.

    Attributes
    ----------
    day : str
        ISO date (UTC); of the last 24 hours the one that they end on.
    answered, unanswered : int
        Questions with a supported answer, and those without.
    evidence : dict of str to int
        Sources that the last attempts were given, by where they come from.
    feedback : dict of str to int
        ``up`` and ``down``.
    notice_s : float or None
        Seconds from a rejection to the other answer: the median; None for none.
    """

    day: str
    answered: int
    unanswered: int
    evidence: dict[str, int]
    feedback: dict[str, int]
    notice_s: float | None


@dataclass(frozen=True, slots=True)
class RepairMetrics:
    """What happened in the last 24 hours, and the jobs of the queue."""

    last_day: DayMetrics
    jobs: QueueMetrics

    @property
    def retry_rate(self) -> float:
        """Share of jobs that needed more than one attempt."""
        total = sum(self.jobs.by_status.values())
        return self.jobs.retried / total if total else 0.0


def read_metrics(deps: Deps, *, now: datetime) -> RepairMetrics:
    """Count the answers, feedback and jobs of the last 24 hours."""
    rows, ratings = _since(deps, now - timedelta(days=1))
    return RepairMetrics(_metrics(utc_day(now), rows, ratings, rows), deps.queue.metrics())


def read_days(deps: Deps, *, now: datetime, days: int = 30) -> list[DayMetrics]:
    """Count by day what happened in so many days, the newest first; days without anything are left out."""
    rows, ratings = _since(deps, now - timedelta(days=days))
    seen = {utc_day(row.ended_at) for row in rows} | {utc_day(rating.created_at) for rating in ratings}
    return [
        _metrics(
            day,
            [row for row in rows if utc_day(row.ended_at) == day],
            [rating for rating in ratings if utc_day(rating.created_at) == day],
            rows,
        )
        for day in sorted(seen, reverse=True)
    ]


def _since(deps: Deps, moment: datetime) -> tuple[list[AnswerRow], list[Feedback]]:
    return deps.tables.answers(since=moment), deps.tables.feedback_since(moment)


def _metrics(
    day: str, ended: Sequence[AnswerRow], ratings: Sequence[Feedback], answers: Iterable[AnswerRow]
) -> DayMetrics:
    evidence = Counter[str]()
    for row in ended:
        evidence.update(row.found)
    at = {row.run_id: row.ended_at for row in answers}
    notices = (at[one.mended_by] - one.created_at for one in ratings if one.mended_by in at)
    waits = sorted(wait.total_seconds() for wait in notices)
    answered = sum(row.is_supported for row in ended)
    return DayMetrics(
        day=day,
        answered=answered,
        unanswered=len(ended) - answered,
        evidence=dict(evidence),
        feedback=dict(Counter(rating.kind for rating in ratings)),
        notice_s=waits[len(waits) // 2] if waits else None,
    )
