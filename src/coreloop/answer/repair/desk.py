"""What an answer works with: models and evidence, the queue of jobs, and the tables of repair."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from coreloop.answer.repair.store import RepairStore, open_repair_store
from coreloop.answer.research.desk import Desk, open_desk
from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.queue import JobQueue, open_queue
from coreloop.runs.stores.store import Store


@dataclass(frozen=True, slots=True)
class RepairDesk:
    """What an answer works with.

    Attributes
    ----------
    desk : Desk
        Workspace, store of runs, models and search.
    queue : JobQueue
        Takes the jobs of repairs.
    tables : RepairStore
        Feedback, evidence, gaps and suggestions.
    """

    desk: Desk
    queue: JobQueue
    tables: RepairStore

    @property
    def workspace(self) -> Workspace:
        """The project."""
        return self.desk.workspace


@contextmanager
def open_repair_desk(workspace: Workspace, store: Store, environ: Mapping[str, str]) -> Iterator[RepairDesk]:
    """Put together what a project's settings and environment name.

    Raises
    ------
    UsageError
        A model or a search service cannot be used as it is set.
    WorkspaceError
        There is nothing to search in, or a database cannot be used.
    """
    desk = open_desk(workspace, store, environ)
    with (
        open_queue(workspace, environ=environ) as queue,
        open_repair_store(workspace, environ=environ) as tables,
    ):
        yield RepairDesk(desk, queue, tables)
