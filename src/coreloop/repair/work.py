"""Every job of a project, for workers."""

from collections.abc import Mapping
from functools import partial

from coreloop.jobs.work import Handler
from coreloop.repair.actions import ANSWER_AGAIN
from coreloop.repair.desk import RepairDesk
from coreloop.repair.feedback import answer_again
from coreloop.repair.handlers import job_handlers


def all_handlers(desk: RepairDesk) -> Mapping[str, Handler]:
    """Return what does each job: those of repairs, and answering rejected questions again."""
    return {**job_handlers(desk), ANSWER_AGAIN: partial(answer_again, desk)}
