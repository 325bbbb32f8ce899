"""What questions are answered with: models, a search, the store of runs, the queue of jobs, the tables."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coreloop.answer.models.ladder import Ladder, choose_model
from coreloop.answer.repair.store import RepairStore, open_repair_store
from coreloop.answer.search.failover import choose_providers
from coreloop.answer.search.index.run import require_index
from coreloop.answer.search.provider import Provider
from coreloop.answer.text.terms import use_morphemes
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.runs.jobs.queue import JobQueue, open_queue
from coreloop.runs.stores.store import Store, open_store

if TYPE_CHECKING:
    from coreloop.answer.search.page import PageReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What questions are answered with.

    Attributes
    ----------
    store : Store
        Of the workspace's runs.
    provider : Provider
        The search.
    queue : JobQueue
        Takes the jobs of repairs.
    tables : RepairStore
        Feedback, evidence, gaps and suggestions.
    pages : PageReader or None
        Reads the pages behind the snippets of search services; None if there are none.
    """

    workspace: Workspace
    store: Store
    ladder: Ladder
    provider: Provider
    queue: JobQueue
    tables: RepairStore
    pages: "PageReader | None" = None

    @property
    def searches_index(self) -> bool:
        """Whether the project's files are searched."""
        return "index" in self.provider.name.split(",")


@contextmanager
def open_deps(workspace: Workspace, store: Store, environ: Mapping[str, str]) -> Iterator[Deps]:
    """Put together what a project's settings and environment name.

    Raises
    ------
    MissingExtraError
        The settings choose morphemes, which are not installed.
    UsageError
        A model or a search service cannot be used as it is set.
    WorkspaceError
        The index or a database cannot be used.
    """
    use_morphemes(wanted=workspace.settings.search.morphemes)
    has_only_index = set(workspace.settings.search.providers) <= {"index"}
    if has_only_index and workspace.index_file.exists():  # the first question makes one
        require_index(workspace.index_file)
    pages = None
    if not has_only_index:
        from coreloop.answer.search.page import PageReader

        pages = PageReader()
    ladder, provider = choose_model(workspace.settings, environ), choose_providers(workspace, environ)
    with (
        open_queue(workspace, environ=environ) as queue,
        open_repair_store(workspace, environ=environ) as tables,
    ):
        yield Deps(
            workspace=workspace,
            store=store,
            ladder=ladder,
            provider=provider,
            queue=queue,
            tables=tables,
            pages=pages,
        )


@contextmanager
def deps_here() -> Iterator[Deps]:
    """Open what the project in the current folder names, for programs that use coreloop."""
    workspace = open_workspace(Path.cwd())
    with open_store(workspace) as store, open_deps(workspace, store, os.environ) as deps:
        yield deps
