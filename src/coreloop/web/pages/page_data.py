"""What pages read: the files and databases of a project, and what was read of them already."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import coreloop.answer.agent.kind
import coreloop.answer.research.kind  # noqa: F401 - registers a kind of runs, as the line above
from coreloop.answer.repair.store import RepairStore, open_repair_store
from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.queue import JobQueue, open_queue
from coreloop.runs.stores.store import Store, open_store
from coreloop.web.pages.snapshot import PageSnapshots


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSource:
    """What pages read.

    Attributes
    ----------
    environ : mapping
        Tokens for the state of pull requests.
    runs : Store
    queue : JobQueue
    tables : RepairStore
    snapshots : PageSnapshots
        What is expensive to read.
    is_shared : bool
        Whether anybody may see it, so that only declared names are shown.
    """

    workspace: Workspace
    environ: Mapping[str, str]
    runs: Store
    queue: JobQueue
    tables: RepairStore
    snapshots: PageSnapshots = field(default_factory=PageSnapshots)
    is_shared: bool = False

    @property
    def git_places(self) -> list[Path]:
        """What changes with the branches of the clone."""
        git = self.workspace.root / ".git"
        names = ("HEAD", "packed-refs", "logs/HEAD", "refs/heads", "refs/remotes/origin")
        return [git / name for name in names]

    @property
    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)


@contextmanager
def open_source(workspace: Workspace, environ: Mapping[str, str]) -> Iterator[PageSource]:
    """Open what a project has; an index and models are not needed.

    Raises
    ------
    RunStoreError
        A database cannot be used.
    """
    with (
        open_store(workspace, environ=environ) as runs,
        open_queue(workspace, environ=environ) as queue,
        open_repair_store(workspace, environ=environ) as tables,
    ):
        yield PageSource(workspace=workspace, environ=environ, runs=runs, queue=queue, tables=tables)
