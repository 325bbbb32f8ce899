"""Every job of a project, for workers."""

from collections.abc import Callable, Mapping
from functools import partial
from threading import Event

from coreloop.jobs.work import Handler
from coreloop.repair.actions import ANSWER_AGAIN
from coreloop.repair.desk import RepairDesk
from coreloop.repair.feedback import answer_again
from coreloop.repair.handlers import job_handlers
from coreloop.repair.queued import run_handlers
from coreloop.runs.run import Run


def all_handlers(
    desk: RepairDesk, *, leave: Event | None = None, show: Callable[[Run], None] = lambda _: None
) -> Mapping[str, Handler]:
    """Return what does each job: those of repairs, answering rejected questions again, and runs.

    Parameters
    ----------
    desk : RepairDesk
        Shared by all threads.
    leave : threading.Event or None
        When it is set, runs are left at their next step.
    show : callable
        Called after each committed iteration and at the end of a run that was queued.
    """
    return {
        **job_handlers(desk),
        ANSWER_AGAIN: partial(answer_again, desk, leave=leave),
        **run_handlers(desk, leave=leave, show=show),
    }
