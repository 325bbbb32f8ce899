"""Every job of a project, for workers."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from functools import partial
from threading import Event
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import ANSWER_AGAIN
from coreloop.answer.repair.gates import read_gates
from coreloop.answer.repair.job_handlers import job_handlers
from coreloop.answer.repair.queued_runs import JOB_NAMES
from coreloop.answer.research.ended_run import keep_ended_late
from coreloop.answer.research.run import continue_research
from coreloop.base.errors import RunEndedError, RunNotFoundError
from coreloop.runs.active_run import Run
from coreloop.runs.jobs.job import Job
from coreloop.runs.jobs.work import Handler

GATES: Final = "gates.read"
"""The job that measures the gates once a day."""


def all_handlers(
    deps: Deps, *, shutdown: Event | None = None, show: Callable[[Run], None] = lambda _: None
) -> Mapping[str, Handler]:
    """Return what does each job: runs, repairs, answering rejected questions again, and the gates.

    Parameters
    ----------
    deps : Deps
        Shared by all threads.
    shutdown : threading.Event or None
        When it is set, runs are left at their next step.
    show : callable
        Called after each committed iteration and at the end of a run that was queued.
    """
    return {
        **job_handlers(deps),
        **dict.fromkeys((*JOB_NAMES.values(), ANSWER_AGAIN), partial(_work_on, deps, shutdown, show)),
        GATES: partial(_read_gates, deps),
    }


def plan_gates(deps: Deps, *, now: datetime) -> Job:
    """Put the day's job that measures the gates (UTC), once; it puts the next day's."""
    day = now.astimezone(UTC).date()
    return deps.queue.put(
        GATES, {}, key=f"{GATES} {day}", priority=-2, run_at=datetime.combine(day, time.min, UTC)
    )


def _work_on(deps: Deps, shutdown: Event | None, show: Callable[[Run], None], job: Job) -> None:
    """Work on a run to its end; one that was forgotten since it was queued has none."""
    run_id = str(job.payload["run"])
    with suppress(RunNotFoundError):
        try:
            continue_research(run_id, deps, show=show, shutdown=shutdown)
        except RunEndedError:  # in a process that may have died then
            keep_ended_late(run_id, deps)


def _read_gates(deps: Deps, _job: Job) -> dict[str, float]:
    now = datetime.now(UTC)
    readings = read_gates(deps, now=now)
    plan_gates(deps, now=now + timedelta(days=1))
    return {reading.now.gate: reading.now.share for reading in readings}
